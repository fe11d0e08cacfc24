"""What a program costs from its start to its end: work, processor time, memory.

Each measurement is a process of its own, with one thread for BLAS and modules compiled before.
Work is counted, and the same on every machine with the same Python and packages: budgets are made
of it.  Time is for the reader: see `benchmarks/start_up.py`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_RUN = 'exec(compile(sys.stdin.read(), "program", "exec"), {"__name__": "__main__"})\n'
_PEAK = f"""
import sys
{_RUN}
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""
_COUNT = f"""
import sys
count = 0

def trace(frame, event, _):
    global count
    if frame.f_code.co_filename.startswith("<frozen "):
        return None
    count += event == "line"
    return trace

sys.settrace(trace)
{_RUN}
sys.settrace(None)
print(count, len(sys.modules))
"""


@dataclass(frozen=True)
class Work:
    """Of one program; two subtract.

    Attributes:
        lines: of Python run, those of imported modules too.  What the import system itself runs
            depends on how many folders it looks through, and does not count.
        modules: loaded.
    """

    lines: int
    modules: int

    def __sub__(self, other: Work) -> Work:
        return Work(self.lines - other.lines, self.modules - other.modules)


@dataclass(frozen=True)
class Process:
    """One that has ended.

    Attributes:
        ms: of processor time, its own and the system's for it.
        mb: memory at its peak.
    """

    ms: float
    mb: float


def work(text: str, cache: Path, path: tuple[Path, ...] = ()) -> Work:
    """Counts what a program does.

    Args:
        text: the program.
        cache: where compiled modules go, as they would stand installed.
        path: folders to import from.
    """
    process(text, cache, path)  # the first one compiles
    lines, modules = _last_words(_COUNT, text, cache, path)[-2:]
    return Work(int(lines), int(modules))


def process(
    text: str, cache: Path, path: tuple[Path, ...] = (), files: tuple[str, ...] = ()
) -> Process:
    """Runs the program once, with what the command line gives it; else as `work`."""
    before = _children_s()
    peak_kib = int(_last_words(_PEAK, text, cache, path, files)[-1])
    return Process((_children_s() - before) * 1e3, peak_kib * 1024 / 1e6)


def _last_words(
    program: str, text: str, cache: Path, path: tuple[Path, ...], files: tuple[str, ...] = ()
) -> list[str]:
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "BYPARTS_"))}
    variables |= {"PYTHONPYCACHEPREFIX": str(cache), "PYTHONPATH": os.pathsep.join(map(str, path))}
    variables |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", program, *files],
        input=text,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


def _children_s() -> float:
    """Of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
