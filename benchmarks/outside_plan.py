"""Bytes outside the plan: what kernels take by themselves while a training step runs, and keep.

    python benchmarks/outside_plan.py PATH_OF_THE_HARNESS w1,w2 --save now.json
    python benchmarks/outside_plan.py PATH_OF_THE_HARNESS w1,w2 --before earlier.json

NumPy reports its arrays to `tracemalloc`, the allocator of torch each request to its profiler.
What a plan holds comes from neither: arena, variables and constants are mappings.  Each step of the
program is run by itself and measured apart, so the table names the ops.  On NumPy its own buffers
count, of at most 8192 elements for each operand that a loop cannot read as it stands; below a KiB
are Python's objects, which do not.  `planned` is the arena and what kernels keep between runs,
`kept` what building and binding left behind beside it.

`--save` writes the numbers, `--before` shows those of another checkout beside today's.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from byparts_graph_ir.parts.hub import parts

sys.path.insert(0, str(Path(__file__).parent))

import live_bytes
import workload_graphs

PYTHON_BYTES = 1024  # of objects that a step makes and drops

COLUMNS = ("planned", "kept", "in a step")  # bytes; the last: the most at once

Row = dict[str, Any]
Run = Callable[[], object]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("harness", help="folder of workloads.py")
    parser.add_argument("workloads", nargs="?", default="w1,w2,w3,w4,w5,w6")
    parser.add_argument("--backends", default="numpy,torch")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--before", type=Path)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.harness)
    before = json.loads(arguments.before.read_text()) if arguments.before else {}
    rows: dict[str, Row] = {}
    columns = " | ".join(f"{column} | before" for column in COLUMNS)
    print(f"| work | backend | {columns} | all requests | by these ops |")
    print(f"| --- | --- | {'---: | ' * 2 * len(COLUMNS)}---: | --- |")
    for name in arguments.workloads.split(","):
        for backend in arguments.backends.split(","):
            key = f"{name} {backend}"
            rows[key] = measured(name, backend)
            print(line(name, backend, rows[key], before.get(key, {})), flush=True)
            if arguments.save:
                arguments.save.write_text(json.dumps(rows, indent=1))


def measured(name: str, backend: str) -> Row:
    """Of one workload: the columns, all that its steps ask for, and by which ops."""
    import workloads  # type: ignore[import-not-found]  # of the harness

    made: list[Any] = []
    spec = workloads.make(name)
    parts.backend(backend)  # loaded now: modules are not counted
    kept = kept_by(backend, lambda: made.append(workload_graphs.build(name, spec, (backend,))))
    made[0].step()  # Adam counts from 1
    machine = made[0].run._machine
    steps = machine.cycle().all_steps
    around = parts.backend(backend).around or nullcontext
    most, total = 0, Counter[str]()
    with np.errstate(all="ignore"), around():
        for step in steps:
            step.run()  # once before: libraries make caches
        for step in steps:
            peak, requested = taken_by(backend, step.run)
            most = max(most, peak)
            total[step.node.op.name] += requested
    ops = {op: size for op, size in total.most_common() if size}
    planned = getattr(machine, "loaded", machine).plan.arena_bytes
    if hasattr(machine, "loaded"):  # an earlier checkout has no such memory
        planned += machine.loaded.placed.persistent_bytes
    sizes = dict(zip(COLUMNS, (planned, kept, most), strict=True))
    return {**sizes, "requested": sum(ops.values()), "ops": ops}


def kept_by(backend: str, run: Run) -> int:
    """Bytes of arrays that are still there afterwards."""
    if backend == "torch":
        return live_bytes.requested(lambda: (run(), gc.collect()))[0]
    only = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    tracemalloc.start()
    try:
        run()
        gc.collect()
        traces = tracemalloc.take_snapshot().filter_traces([only]).traces
        return sum(trace.size for trace in traces)
    finally:
        tracemalloc.stop()


def taken_by(backend: str, run: Run) -> tuple[int, int]:
    """Bytes that a step has at most, and all that it asks for: on NumPy the same number."""
    if backend == "torch":
        sizes = live_bytes.requests(run)
        return max(accumulate(sizes, initial=0)), sum(size for size in sizes if size > 0)
    tracemalloc.start()
    try:
        run()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        run()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return (peak, peak) if peak > PYTHON_BYTES else (0, 0)


def line(name: str, backend: str, now: Row, before: Row) -> str:
    """A row of the table."""
    cells = [name, backend]
    for column in COLUMNS:
        cells += [f"{now[column]:,}", f"{before[column]:,}" if before else ""]
    ops = ", ".join(f"{op} {size:,}" for op, size in list(now["ops"].items())[:5])
    return f"| {' | '.join(cells)} | {now['requested']:,} | {ops} |"


if __name__ == "__main__":
    main()
