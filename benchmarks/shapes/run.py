"""Many sizes through one model: the cost of a new size and of one that was seen.

    python benchmarks/shapes/run.py --lengths 30 --work gpt,train,tagger,cnn,mlp

Each peer is a process of one thread that waits for sizes; they take turns, size by size, and each
size is called twice.  Times are CPU time of the process and of what it starts (compilers), in ms.
JAX is given sizes rounded up to powers of two, as its users do, and no images, whose mean would
change.  Results (their absolute sum, or the loss) must agree with the first peer's within 1e-3.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from itertools import takewhile
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from works import RANGES, Arrays, inputs, sizes

PEERS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "native": ("byparts_works", ("native", "numpy")),
    "numpy": ("byparts_works", ("numpy",)),
    "torch": ("torch_works", ()),
    "torch_compile": ("torch_works", (True,)),
    "jax": ("jax_works", ()),
    "onnxruntime": ("onnxruntime_works", ()),
}
ABSENT = {("cnn", "jax"), *((w, "onnxruntime") for w in RANGES if w != "gpt")}
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
FLAGS = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


def spent_ms() -> float:
    """CPU time of this process and of those it started, ended ones only."""
    started = getrusage(RUSAGE_CHILDREN)
    return 1e3 * (process_time() + started.ru_utime + started.ru_stime)


def worker(peer: str, work: str) -> None:
    """A size on each line of input, two times and a result on each of output; then facts."""
    compiled: list[Any] = []  # commands with an output, which tensor-ir runs

    def note(event: str, facts: Any) -> None:
        if event == "subprocess.Popen" and "-o" in facts[1]:
            compiled.append(facts[1])

    sys.addaudithook(note)
    module, arguments = PEERS[peer]
    made = import_module(module).make(work, *arguments)
    call, why = made if isinstance(made, tuple) else (made, lambda _: "")
    counts: list[int] = []
    given: Arrays = {}
    for line in takewhile(str.strip, sys.stdin):
        given, times = inputs(work, tuple(map(int, line.split()))), []
        for _ in range(2):
            start = spent_ms()
            result = call(given)
            times.append(spent_ms() - start)
            counts.append(len(compiled))
        print(json.dumps([*times, float(np.abs(result).sum())]), flush=True)
    peak_mb = getrusage(RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps([counts[0], len(compiled) - counts[0], peak_mb, why(given)]), flush=True)


def compare(work: str, peers: list[str], count: int, caches: str) -> None:
    """Run a work on all peers in turn, and print a row for each; `caches`: an empty folder."""
    workers = {}
    for peer in [p for p in peers if (work, p) not in ABSENT]:
        own = dict.fromkeys(("BYPARTS_CACHE", "TORCHINDUCTOR_CACHE_DIR"), f"{caches}/{peer}")
        workers[peer] = subprocess.Popen(
            [sys.executable, __file__, "--worker", f"{peer},{work}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **THREADS, **FLAGS, **own},
        )

    def ask(peer: str, line: str) -> list[Any]:
        process = workers[peer]
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return list(json.loads(process.stdout.readline()))

    rows: dict[str, list[list[float]]] = {peer: [] for peer in workers}
    chosen = sizes(work, count)
    for size in chosen:
        for peer in workers:
            rows[peer].append(ask(peer, " ".join(map(str, size))))
    print(f"\n{work}: {count} sizes of {RANGES[work]}; CPU ms")
    print(
        "| | first size | median new size | over its second call | all new | all seen | peak MB |"
    )
    print("|---|---|---|---|---|---|---|")
    facts = {peer: ask(peer, "") for peer in workers}
    for peer, row in rows.items():
        new, seen = [r[0] for r in row], [r[1] for r in row]
        over = median([a - b for a, b in zip(new[1:], seen[1:], strict=True)])
        shown = [new[0], median(new[1:]), over, sum(new), sum(seen), facts[peer][2]]
        print(f"| {peer} | " + " | ".join(f"{x:,.1f}" for x in shown) + " |")
    for peer, (first, later, _, why) in facts.items():
        if why:
            print(f"{peer}: {first} compilers in the first call, {later} later; {why}")
    for peer, row in rows.items():
        pairs = zip(chosen, row, next(iter(rows.values())), strict=True)
        wrong = [(n, a[2], b[2]) for n, a, b in pairs if abs(a[2] / b[2] - 1) > 1e-3]
        if wrong:
            raise SystemExit(f"{work}: {peer} gives other results: {wrong[:5]}")
    for process in workers.values():
        process.communicate()


def main() -> None:
    """Parse the command line; start a worker, or compare peers."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lengths", type=int, default=50)
    arguments.add_argument("--peers", default=",".join(PEERS))
    arguments.add_argument("--work", default=",".join(RANGES))
    arguments.add_argument("--worker", default="")
    chosen = arguments.parse_args()
    if chosen.worker:
        worker(*chosen.worker.split(","))
        return
    for work in chosen.work.split(","):
        with tempfile.TemporaryDirectory() as caches:
            compare(work, chosen.peers.split(","), chosen.lengths, caches)


if __name__ == "__main__":
    main()
