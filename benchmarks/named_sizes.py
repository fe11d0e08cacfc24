"""Workloads of the side-by-side benchmark with numbers, and with their batch named "n".

    python benchmarks/named_sizes.py --workloads FOLDER w1 w2 w3 w4i w5s w6 w6i w7a w7b w8m

FOLDER has the harness's `workloads.py`.  Three programs of each workload take turns in one process:
built for its sizes; of a named batch and bound to arrays, which compiles that size alone; of a
named batch and called a few times, which runs the kernels that are for all sizes.  CPU ms a step.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

NAMED = {  # inputs, and which of their dimensions is the batch
    **{"w1": {"x": 0, "y": 0}, "w2": {"x": 0, "y": 0}, "w3": {"x": 0, "y": 0}, "w4i": {"x": 0}},
    **{"w5s": {"x": 1, "t": 1}, "w6": {"x": 0, "t": 0}, "w6i": {"x": 0}},
    **{"w7a": dict.fromkeys("abcd", 0), "w7b": {"x": 0}, "w8m": {"x": 0}},
}
BACKENDS = ("native", "numpy")
AT_LEAST_MS = 2.0  # a slice of a workload is repeated for as long


def measure(workload: str, spec: Any, build: Callable[..., Any], slices: int) -> list[list[float]]:
    """CPU ms of a step of each of the three programs, in slices that take turns."""
    steps = [
        build(workload, spec, BACKENDS).run,
        build(workload, spec, BACKENDS, NAMED[workload]).run,
        build(workload, spec, BACKENDS, NAMED[workload], bound=False).run,
    ]
    times: list[list[float]] = [[] for _ in steps]
    for step in steps:
        step()
    for _ in range(slices):
        for step, of_step in zip(steps, times, strict=True):
            count = 1 if not of_step or step is steps[2] else int(AT_LEAST_MS / of_step[-1]) + 1
            start = process_time()
            for _ in range(count):
                step()
            of_step.append(1e3 * (process_time() - start) / count)
    return times


def main() -> None:
    """Print a row for each workload: medians, and their ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--slices", type=int, default=15)
    parser.add_argument("names", nargs="*", default=list(NAMED))
    chosen = parser.parse_args()
    sys.path[:0] = [chosen.workloads, str(Path(__file__).parent)]
    from workload_graphs import build

    workloads = import_module("workloads")

    for name in chosen.names:
        fixed, bound, called = measure(name, getattr(workloads, name)(), build, chosen.slices)
        ms = [median(some) for some in (fixed, bound, called)]
        row = " | ".join(f"{each:,.3f}" for each in ms)
        print(f"| {name} | {row} | {ms[1] / ms[0]:.2f} | {ms[2] / ms[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
