"""Counts of what building made of programs: what a campaign has tried, and what it has not.

A generator that never makes a backend join nodes, or write one value over another, tries nothing of
the code that does so; `Structure` says how many programs had each, so that the weights of the
makers can be set by it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from byparts_graph_ir import Fused

KINDS = (
    *("regions", "large regions", "over others", "donations", "workspaces", "persistent"),
    *("bodies", "stretches", "variables", "several backends", "shared loops"),
)


@dataclass
class Structure:
    """The number of programs that had each kind of thing.

    Attributes:
        programs: all that were built.
        having: kind -> programs that had it.
        ops: name of an op -> programs as they were generated that had it.
    """

    programs: int = 0
    having: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)

    def add(self, built: Any) -> None:
        """Count what a built program has."""
        self.programs += 1
        self.having.update(_kinds_of(built))

    def line(self) -> str:
        """The share of programs that have each kind."""
        total = max(1, self.programs)
        shares = [f"{kind} {100 * self.having[kind] / total:.0f} %" for kind in KINDS]
        return f"of {self.programs:,} builds: {', '.join(shares)}"


def _kinds_of(built: Any) -> set[str]:
    graph, kernels = built.graph, built.kernels
    regions = [n for n in graph.nodes if isinstance(n.op, Fused)]
    places = [
        (loc.root, loc.offset)
        for v, loc in zip(graph.values, built.plan.locations, strict=True)
        if v.type.size
    ]
    said = str(built.explain())
    made = places[len(graph.inputs) :]
    backends = {kernels(n).backend.name for n in graph.nodes} - {"runtime"}
    has = {
        "regions": bool(regions),
        "large regions": any(len(n.op.graph.nodes) > 5 for n in regions),
        "over others": len(set(places)) < len(places),
        "donations": any(root is not None for root, _ in made),
        "workspaces": any(kernels(n).workspace_bytes for n in graph.nodes),
        "persistent": any(kernels(n).kernel.persistent_bytes for n in graph.nodes),
        "bodies": any(kernels(n).backend.name == "runtime" for n in graph.nodes),
        "stretches": "capture    " in said,
        "variables": "variables  0 bytes" not in said,
        "several backends": len(backends) > 1,
        "shared loops": any("in_parallel(" in kernels(n).kernel.source for n in graph.nodes),
    }
    return {kind for kind, there in has.items() if there}
