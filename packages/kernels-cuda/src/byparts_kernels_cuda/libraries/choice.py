"""Choice of the faster of two ways to compute the same on a GPU, measured once.

Both run a few times on scratch memory when a kernel is first bound; the answer is kept on disk for
this kind of GPU and this library.  `BYPARTS_MEASURE=0` measures nothing and asks nobody: then a
rule decides, always alike.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_float
from functools import lru_cache

from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.fork import make_lock
from byparts_kernels_cuda.driver.errors import DeviceMemoryError
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.launch import PACKAGES
from byparts_kernels_cuda.memory import DeviceMemory, Event
from byparts_op_loops.keys import short_key
from byparts_tensor_ir.cache import keep_text, kept_text

MOST_SCRATCH_BYTES = 1 << 30  # of more nothing is measured
_ROUNDS, _CALLS = 5, 4  # measurements of each way; calls of one
_FILL = 0x3C  # bytes that are small numbers of every float
_lock = make_lock()
Ways = Mapping[str, Callable[[Sequence[int]], Run]]  # name -> run on blocks at these addresses


def fastest(gpu: Gpu, key: str, ways: Ways, sizes_bytes: Sequence[int], rule: str) -> str:
    """The name of the way that was fastest, now or when it was measured before.

    Args:
        gpu: where.  Its context is current.
        key: says what is computed, and by what.
        ways: two at least.
        sizes_bytes: of the blocks of scratch memory that each needs.
        rule: the answer where nothing is measured.
    """
    if os.environ.get("BYPARTS_MEASURE", "1") == "0" or sum(sizes_bytes) > MOST_SCRATCH_BYTES:
        return rule
    with _lock:  # nobody else's measurement runs beside this one
        answers, name = _answers(_file(gpu)), _file(gpu)
        if answers.get(key) not in ways:
            try:
                answers[key] = _measured(gpu, ways, sizes_bytes)
            except DeviceMemoryError:
                return rule
            keep_text(name, json.dumps({**_read(name), **answers}))
        return answers[key]


def _measured(gpu: Gpu, ways: Ways, sizes_bytes: Sequence[int]) -> str:
    blocks = [DeviceMemory.allocated(gpu, size) for size in sizes_bytes]
    for block in blocks:
        gpu.driver.cuMemsetD8Async(block.address, _FILL, block.size_bytes, gpu.stream)
    runs = {name: way([b.address for b in blocks]) for name, way in ways.items()}
    for run in runs.values():
        run()  # code is loaded
    begin, end, took_ms = Event(gpu, 0), Event(gpu, 0), c_float()
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(_ROUNDS):
        for name, run in runs.items():
            begin.record()
            for _ in range(_CALLS):
                run()
            end.record()
            end.wait()
            gpu.driver.cuEventElapsedTime(byref(took_ms), begin.handle, end.handle)
            best[name] = min(best[name], took_ms.value)
    return min(best, key=lambda name: best[name])


def _file(gpu: Gpu) -> str:
    ours = short_key(PACKAGES, ())  # what was fastest is so for this code
    about = f"{gpu.title}\0{ours}"
    return f"fastest-cuda-{hashlib.sha256(about.encode()).hexdigest()[:16]}.json"


def _answers(name: str) -> dict[str, str]:
    return _of_file(os.environ.get("BYPARTS_CACHE", ""), name)


@lru_cache(maxsize=8)
def _of_file(_: str, name: str) -> dict[str, str]:
    """Answers that a file remembers; always the same dictionary for it, which grows."""
    return _read(name)


def _read(name: str) -> dict[str, str]:
    found = json.loads(kept_text(name) or "{}")
    return {k: v for k, v in found.items() if isinstance(v, str)}
