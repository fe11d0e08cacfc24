"""Seconds that each stage of planning takes on training graphs of some 20,000 nodes.

The last two columns of seconds are those of computing again what does not fit into half of the
ordered peak, and of planning that.

    python benchmarks/memory/large.py [lstm|transformer|resnet]

An LSTM of 270 steps, a GPT of 300 layers, and a residual network of 2500 layers.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent))

from byparts_graph_ir import Graph
from byparts_memplan import order, plan
from byparts_optimize import optimize
from byparts_recompute import recomputation
from memory.deep_resnet import deep_resnet
from memory.networks import External, training
from memory.table import timed

LARGE: dict[str, Callable[[], tuple[Graph, External]]] = {
    "lstm": lambda: training("lstm50", time=270),
    "transformer": lambda: training("gpt2_small", layers=300),
    "resnet": lambda: deep_resnet(2500),
}


def main(names: list[str]) -> None:
    """A row for each, and the most memory that the process had until then."""
    print(
        "| graph | nodes | build s | optimize s | order s | plan s | rematerialize s | plan s "
        "| arena MiB | over bound | within half | extra | rss |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names or LARGE:
        print(measured(name), flush=True)


def measured(name: str) -> str:
    """A row of the table."""
    seconds: dict[str, float] = {}
    start = perf_counter()
    written, external = LARGE[name]()
    seconds["build"] = perf_counter() - start
    graph = timed(seconds, "optimize", optimize, written)
    better = timed(seconds, "order", order, graph, external=external)
    made = timed(seconds, "plan", plan, better, external=external)
    half = made.lower_bound_bytes // 2
    again = timed(seconds, "rematerialize", recomputation, better, half, external=external)
    less = timed(seconds, "plan again", plan, again.graph(), external=external)
    over = made.arena_bytes / made.lower_bound_bytes - 1
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = " | ".join(f"{s:.1f}" for s in seconds.values())
    arena = f"{made.arena_bytes / 2**20:,.1f} | {over:.4%}"
    arena += f" | {less.arena_bytes / 2**20:,.1f} | {again.extra_cost:.1%} | {rss:.0f} MiB"
    return f"| {name} | {len(graph.nodes)} | {times} | {arena} |"


if __name__ == "__main__":
    main(sys.argv[1:])
