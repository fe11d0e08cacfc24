"""Choice of the fastest of several ways to compute the same on this machine's CPU.

Ways are timed where a kernel is first bound, on scratch arrays, in turns, for some milliseconds in
all; `byparts_op_loops.measured` keeps the measured.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from byparts_kernels_native.generated import our_code
from byparts_op_loops import measured
from byparts_tensor_ir.target import target

MEASURED_S = 0.008  # for all ways of one product
_ROUNDS, _LEAST_ROUNDS = 50, 4
_CLEARLY = 0.98  # what takes less than this part of the time of another is faster


def known(key: str) -> str | None:
    """The name of the fastest way, if it was measured before, here or by another process."""
    return measured.known(_file(), key)


def fastest(key: str, ways: Mapping[str, Callable[[], object]]) -> str:
    """The name of the way that was fastest, now or when it was measured before.

    Args:
        key: of what is computed.
        ways: name -> a call; two at least, those to be preferred first.
    """
    return measured.fastest(_file(), key, ways, lambda: _measured(ways))


def _measured(ways: Mapping[str, Callable[[], object]]) -> str:
    best = {name: float("inf") for name in ways}
    for run in ways.values():
        run()  # pages are touched, threads started
    end = perf_counter() + MEASURED_S
    for i in range(_ROUNDS):
        for name, run in ways.items():
            begin = perf_counter()
            run()
            best[name] = min(best[name], perf_counter() - begin)
        if i + 1 >= _LEAST_ROUNDS and perf_counter() > end:
            break
    least = min(best.values())  # the first of those that are as fast, so that noise decides little
    return next(name for name, time in best.items() if time * _CLEARLY <= least)


def _file() -> str:
    """The file of answers: one for each processor, target, setting of BLAS, and code of ours."""
    settings = [os.environ.get(v, "") for v in _VARIABLES]
    machine = _processor(), target().name, str(os.cpu_count())
    return measured.file_of("fastest", *machine, our_code(), *settings)


@lru_cache(maxsize=1)
def _processor() -> str:
    """The name of the processor as Linux gives it, or else as Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), platform.processor())


_VARIABLES = (  # that change how fast products are
    *("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    *("OPENBLAS_CORETYPE", "BYPARTS_CXXFLAGS"),
)
