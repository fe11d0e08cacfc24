"""Processor seconds of the TensorFlow 1 programs of the front-end's tests, from start to end.

    python benchmarks/first_steps.py [NAME ...] [--rounds 2]

Each program is a process of its own, compilers included, on the kernels of NumPy and on generated
code: that starts on NumPy's and changes (`wait=False`, as sessions do), or that is waited for
(`wait=True`); the latter with an empty cache and with a warm one.  Of each the least is printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

PROGRAMS = Path(__file__).parent.parent / "packages/frontend-tf/tests/tf1"
RUN = """
import runpy, sys
from byparts_frontend_tf.running import session
session.defaults.update(backends={backends}, wait={wait})
runpy.run_module("byparts_frontend_tf", run_name="__main__", alter_sys=True)
"""
NATIVE, NUMPY = ("native", "numpy"), ("numpy",)
WAYS = {  # backends, wait, whether the cache is emptied
    "numpy": (NUMPY, True, False),
    "native, cold": (NATIVE, False, True),
    "native, warm": (NATIVE, False, False),
    "waiting, cold": (NATIVE, True, True),
    "waiting, warm": (NATIVE, True, False),
}


def seconds(program: Path, way: str, cache: str) -> tuple[float, float]:
    """Processor and wall seconds of a process that runs a program, and of its compilers."""
    backends, wait, cold = WAYS[way]
    with TemporaryDirectory() as folder:
        variables = {"BYPARTS_CACHE": folder if cold else cache, "TMPDIR": folder}
        os.chmod(folder, 0o700)
        command = [sys.executable, "-W", "ignore", "-c", RUN.format(backends=backends, wait=wait)]
        before, start_s = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        done = subprocess.run(
            [*command, str(program)], cwd=folder, env={**os.environ, **variables},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        wall_s, after = perf_counter() - start_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program}, {way}: {done.stderr[-2000:]}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, wall_s


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(p.stem for p in _files()))
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{'processor s (wall s)':24}", *[f"{way:>16}" for way in WAYS])
    files = {p.stem: p for p in _files()}
    with TemporaryDirectory() as cache:
        os.chmod(cache, 0o700)
        for name in arguments.names:
            best = dict.fromkeys(WAYS, (float("inf"), float("inf")))
            for _ in range(arguments.rounds):
                for way in WAYS:
                    best[way] = min(best[way], seconds(files[name], way, cache))
            row = [f"{used:7.2f} ({wall:6.2f})" for used, wall in best.values()]
            print(f"{name:24}", *[f"{cell:>16}" for cell in row], flush=True)


def _files() -> list[Path]:
    return [*PROGRAMS.glob("programs/*.py"), *PROGRAMS.glob("idioms/*.py")]


if __name__ == "__main__":
    main()
