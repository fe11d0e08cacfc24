"""Rematerialisation of traced networks, beside PyTorch's partitioner and torch.utils.checkpoint.

    python benchmarks/memory/remat_table.py FOLDER [NET ...] [--effort 1]

Theirs is measured with PyTorch 2.13 on the same traces: peak MiB and work of forward and backward
pass together.  Ours is asked twice: for the smallest peak at their extra work, and for the least
extra work at their peak.  `partitioner`: minimum cut with a memory budget, in floating point
operations; rows without visible extra work get half of the last digit of theirs.  `checkpoint`: by
block, where a step costs at least 16 operations for each byte that it touches.  MobileNetV2 is not
among the traces: ours is the same network in our standard ops, at the traces' measure of cost.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent))

import traced
from byparts_graph_ir import Graph, Node
from byparts_memplan import peak_bytes
from byparts_memplan.steps import Cost, flops
from byparts_recompute import BudgetError, Recomputation, recomputation
from memory.costs import as_traced
from memory.networks import training

# network -> GFLOP of the plain step, then (budget of the partitioner, peak MiB, GFLOP)
PARTITIONER = {
    "resnet18": (87.2, ((0.8, 166.5, 87.2), (0.4, 166.5, 89.1))),
    "unet": (605.9, ((0.8, 920.0, 606.2), (0.4, 792.0, 611.4), (0.3, 680.1, 629.3))),
    "resnet50": (196.7, ((0.8, 440.1, 196.9), (0.5, 415.6, 197.7))),
    "bert_base": (
        680.8,
        (
            (0.8, 867.9, 680.8),
            (0.6, 648.7, 700.2),
            (0.5, 579.7, 728.0),
            (0.4, 513.7, 754.6),
            (0.2, 506.7, 809.9),
        ),
    ),
    "mobilenetv2": (
        14.6,
        ((0.8, 214.4, 14.7), (0.4, 191.0, 14.9), (0.3, 178.7, 15.2), (0.1, 172.6, 16.2)),
    ),
}  # rows with both a higher peak and more work than another are left out
# network -> (segments, peak MiB, extra cost)
CHECKPOINT = {
    "resnet18": (("3", 172.6, 0.1655), ("6", 154.2, 0.1937), ("each block", 142.6, 0.3339)),
    "resnet50": (("6", 384.8, 0.2372), ("16", 340.2, 0.3122), ("each block", 278.9, 0.3414)),
    "unet": (("each block", 782.0, 0.3285),),
    "bert_base": (("each block", 506.7, 0.2195),),
    "mobilenetv2": (("4", 256.0, 0.2986), ("6", 221.6, 0.3388), ("9", 200.9, 0.3441)),
}
MIB = 2**20


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of NET_train_b8.json.gz")
    parser.add_argument("networks", nargs="*", default=[*PARTITIONER])
    parser.add_argument("--effort", type=float, default=1.0)
    given = parser.parse_args()
    print(
        "| net | theirs | peak MiB | extra | ours at that extra, MiB | s | ours at that peak | s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in given.networks:
        graph, external = network(given.folder, name)
        whole, rows = PARTITIONER[name]
        cost = as_traced if name == "mobilenetv2" else flops
        for setting, peak, work in rows:
            extra = max(work - whole, 0.05) / whole
            label = f"partitioner {setting}"
            print(row(name, label, peak, extra, graph, external, cost, given.effort), flush=True)
        for segments, peak, extra in CHECKPOINT[name]:
            label = f"checkpoint {segments}"
            made = row(name, label, peak, extra, graph, external, by_bytes, given.effort)
            print(made, flush=True)


def network(folder: Path, name: str) -> tuple[Graph, frozenset[int]]:
    """The traced graph, and what lives outside the arena: weights and the batch."""
    if name == "mobilenetv2":
        graph, _ = training(name)
        return graph, frozenset(range(len(graph.inputs)))
    graph = traced.load(folder / f"{name}_train_b8.json.gz")
    return graph, traced.external(graph)


def by_bytes(node: Node) -> float:
    """At least 16 operations for each byte that is read or written."""
    touched = sum(v.type.size_bytes for v in (*node.inputs, *node.outputs))
    return max(flops(node), 16.0 * touched)


def row(
    name: str,
    label: str,
    peak: float,
    extra: float,
    graph: Graph,
    external: frozenset[int],
    cost: Cost,
    effort: float,
) -> str:
    """Both questions."""
    least, seconds = asked(graph, external, cost, effort, extra, None)
    cheapest, more_seconds = asked(graph, external, cost, effort, None, int(peak * MIB))
    ours = f"{least.peak_bytes / MIB:.1f} at {least.extra_cost:.2%} | {seconds:.1f}"
    reached = f" ({cheapest.peak_bytes / MIB:.1f})" * (cheapest.peak_bytes > int(peak * MIB))
    asked_peak = f"{cheapest.extra_cost:.3%}{reached} | {more_seconds:.1f}"
    return f"| {name} | {label} | {peak} | {extra:.2%} | {ours} | {asked_peak} |"


def asked(
    graph: Graph,
    external: frozenset[int],
    cost: Cost,
    effort: float,
    extra: float | None,
    budget: int | None,
) -> tuple[Recomputation, float]:
    """The answer and its seconds; the graph of it is checked to hold what is promised."""
    start = perf_counter()
    try:
        made = recomputation(
            graph, budget, max_extra_cost=extra, external=external, cost=cost, effort=effort
        )
    except BudgetError as error:
        made = error.recomputation
    seconds = perf_counter() - start
    assert peak_bytes(made.graph(), external) <= made.peak_bytes, "the graph keeps its promise"
    assert extra is None or made.extra_cost <= extra + 1e-9, "the extra work is within the limit"
    return made, seconds


if __name__ == "__main__":
    main()
