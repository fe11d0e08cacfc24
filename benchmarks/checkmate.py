"""What computing again costs beside Checkmate, on networks of its evaluation.

    python benchmarks/checkmate.py [NET ...] [--effort 1] [--svg OUT.svg]

Jain et al. 2020 (https://arxiv.org/abs/1910.02653) choose what runs again in which of n stages, in
the order of the graph, and keep what a step reads beside what it writes.  Retention intervals have
the same schedules and far fewer variables than that program (`checkmate_stages.py`, which a test
compares), so with nothing written in place they are Checkmate's optimum, or bounds of it, on whole
networks.  Ours may write in place and choose the order.  Extra work in floating point operations;
feeds and results are counted, weights live outside.
"""

from __future__ import annotations

import argparse
import sys
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Optional

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from byparts_graph_ir import Graph
from byparts_memplan.steps import Steps
from byparts_recompute import BudgetError, Recomputation, recomputation, tradeoff_svg
from byparts_recompute.scheduling.cp_sat import Limits, load_solver, solve
from byparts_recompute.scheduling.search import Search
from memory.networks import training

PARTS = {  # of the plain peak, down to about what can be reached
    "vgg16": (0.9, 0.8, 0.7, 0.6),
    "resnet18": (0.9, 0.8, 0.7, 0.6),
    "unet": (0.9, 0.8, 0.7, 0.6, 0.5, 0.45, 0.42),
    "resnet50": (0.8, 0.6, 0.4),
    "mobilenetv2": (0.8, 0.6, 0.4),
    "bert_base": (0.8, 0.6),
    "densenet121": (0.8, 0.6, 0.4),
}
MIB = 2**20


def main() -> None:
    """Print the table; draw one network."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="*", default=[*PARTS])
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument("--svg", type=Path, help="of the last network")
    given = parser.parse_args()
    print("| net, steps | budget | Checkmate: found, proved | auto | exact | proved | Chen | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.networks:
        drawn = Rows(name, given.effort)
        for part in PARTS[name]:
            print(drawn.row(part), flush=True)
        if given.svg:
            given.svg.write_text(drawn.svg())


class Rows:
    """One network: extra work by budget, of Checkmate, ours, and Chen's."""

    def __init__(self, name: str, effort: float) -> None:
        self.name, self.effort = name, effort
        self.graph, self.external = training(name)
        self.plain = without_writing_over(self.graph, self.external)
        self.points: dict[str, list[tuple[int, float]]] = {
            "ours": [(self.plain.peak_bytes(), 0.0)], "exact": [], "Checkmate": [], "Chen": []
        }  # fmt: skip

    def row(self, part: float) -> str:
        """At a part of the peak without in place and order, which is Checkmate's at no cost."""
        start, budget = perf_counter(), int(self.plain.peak_bytes() * part)
        found, bound = checkmate(self.plain, budget, self.effort)
        auto, exact, chen = (self.ours(budget, s) for s in ("auto", "exact", "sqrt"))
        for label, made in (("ours", auto), ("exact", exact), ("Chen", chen)):
            if made is not None:
                self.points[label].append((made.peak_bytes, made.extra_cost))
        if found is not None:
            self.points["Checkmate"].append((budget, found))
        cells = [
            f"{self.name}, {len(self.plain.nodes)}",
            f"{budget / MIB:.1f} MiB, {part:.0%}",
            f"{_percent(found)}, {_percent(bound)}",
            *(_percent(made.extra_cost if made else None) for made in (auto, exact)),
            exact.proved if exact else "",
            _percent(chen.extra_cost if chen else None),
            f"{perf_counter() - start:.0f}",
        ]
        return f"| {' | '.join(cells)} |"

    def ours(self, budget: int, strategy: str) -> Optional[Recomputation]:
        """`None` where nothing within the budget was found."""
        try:
            return recomputation(
                self.graph, budget, external=self.external, strategy=strategy, effort=self.effort
            )
        except BudgetError:
            return None

    def svg(self) -> str:
        """Bytes against extra work."""
        others = {label: found for label, found in self.points.items() if found}
        curve = {"ours": sorted(others.pop("ours"))}
        return tradeoff_svg(curve, baselines=others, log=True, title=f"{self.name}, batch 8")


def without_writing_over(graph: Graph, external: frozenset[int]) -> Steps:
    """Steps as Checkmate sees them: what is written has bytes of its own."""
    steps = Steps(graph, external=external)
    steps.over = [() for _ in steps.nodes]
    return steps


def checkmate(steps: Steps, budget: int, effort: float) -> tuple[Optional[float], float]:
    """The extra work that was found in the order of the graph, and what is proved to be needed.

    As parts of the whole; `None` where nothing was found.
    """
    search = Search(steps, range(len(steps.nodes)), effort=effort)
    search.pool.add_cuts()
    start = search.sequence(search.cheapest(budget))
    limits = Limits(budget, inf)
    answer = solve(load_solver(), steps, [start], limits, effort=effort, seed=0, any_order=0)
    whole = steps.total_cost()
    found = steps.total_cost(answer.sequence) / whole - 1
    return found if steps.peak_bytes(answer.sequence) <= budget else None, answer.bound / whole


def _percent(part: Optional[float]) -> str:
    return "none" if part is None or part == inf else f"{part:.3%}"


if __name__ == "__main__":
    main()
