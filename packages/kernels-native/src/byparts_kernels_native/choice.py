"""Choice of the fastest of several ways to compute the same, measured once on this machine.

Ways are timed where a kernel is first bound, on scratch arrays, in turns, for some milliseconds in
all; the answer is kept on disk beside the compiled objects, so that another process finds it.
`BYPARTS_MEASURE=0` measures nothing and asks nobody: then a rule decides, always alike.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import perf_counter

from byparts_kernels_native.generated import our_code
from byparts_tensor_ir.cache import keep_text, kept_text
from byparts_tensor_ir.target import target

MEASURED_S = 0.008  # for all ways of one product
_ROUNDS, _LEAST_ROUNDS = 50, 4
_CLEARLY = 0.98  # what takes less than this part of the time of another is faster
_MOST_REMEMBERED = 4096
_lock = Lock()


def measures() -> bool:
    """Whether anything is measured in this process."""
    return os.environ.get("BYPARTS_MEASURE", "1") != "0"


def known(key: str) -> str | None:
    """The name of the fastest way, if it was measured before, here or by another process."""
    return _answers().get(key) if measures() else None


def fastest(key: str, ways: Mapping[str, Callable[[], object]]) -> str:
    """The name of the way that was fastest, now or when it was measured before.

    Args:
        key: of what is computed.
        ways: name -> a call; two at least, those to be preferred first.
    """
    with _lock:  # nobody else's measurement runs beside this one
        remembered = _answers().get(key)
        if remembered is not None and remembered in ways:
            return remembered
        answer = _measured(ways)
        _remember(key, answer)
        return answer


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


def _remember(key: str, answer: str) -> None:
    name, answers = _name(), _answers()
    answers[key] = answer
    while len(answers) > _MOST_REMEMBERED:
        del answers[next(iter(answers))]
    keep_text(name, json.dumps({**_read(name), **answers}))


def _answers() -> dict[str, str]:
    return _of_file(os.environ.get("BYPARTS_CACHE", ""), _name())


@lru_cache(maxsize=8)
def _of_file(_: str, name: str) -> dict[str, str]:
    """The answers in a file, read once; `_remember` adds to the dict that is returned."""
    return _read(name)


def _read(name: str) -> dict[str, str]:
    found = json.loads(kept_text(name) or "{}")
    return {k: v for k, v in found.items() if isinstance(v, str)}


def _name() -> str:
    """The file of answers: one for each processor, target, setting of BLAS, and code of ours."""
    settings = [os.environ.get(v, "") for v in _VARIABLES]
    about = "\0".join([_processor(), target().name, str(os.cpu_count()), our_code(), *settings])
    return f"fastest-{hashlib.sha256(about.encode()).hexdigest()[:16]}.json"


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
