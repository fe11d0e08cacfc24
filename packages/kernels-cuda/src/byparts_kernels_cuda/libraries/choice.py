"""Choice of the faster of two ways to compute the same on a GPU, measured once.

Both run a few times on scratch memory when a kernel is first bound; `byparts_op_loops.measured`
keeps the answer for this kind of GPU and this library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_float

from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_cuda.driver.errors import DeviceMemoryError
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.launch import PACKAGES
from byparts_kernels_cuda.memory import DeviceMemory, Event
from byparts_op_loops import measured
from byparts_op_loops.keys import short_key

MOST_SCRATCH_BYTES = 1 << 30  # of more nothing is measured
_ROUNDS, _CALLS = 5, 4  # measurements of each way; calls of one
_FILL = 0x3C  # bytes that are small numbers of every float
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
    if not measured.measures() or sum(sizes_bytes) > MOST_SCRATCH_BYTES:
        return rule
    try:
        return measured.fastest(_file(gpu), key, ways, lambda: _measured(gpu, ways, sizes_bytes))
    except DeviceMemoryError:
        return rule


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
    ours = short_key(PACKAGES, ()) or ""  # what was fastest is so for this code
    return measured.file_of("fastest-cuda", gpu.title, ours)
