"""A schedule that was found, and which of several are worth keeping."""

from __future__ import annotations

from collections.abc import Iterable

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.steps import Steps


@dataclass(frozen=True)
class Found:
    """A schedule: a base order, what is computed again, and what comes of it.

    `weight` is the cost with a little for each byte, which breaks ties; `origin` says how it was
    found: "plain", "cut", "proposed" or "search".
    """

    peak_bytes: int
    cost: float
    weight: float
    base: int
    keys: tuple[int, ...]
    origin: str


def hopeless(start: Found, best: Found, budget: int) -> bool:
    """Whether what is best so far is a good deal better."""
    return start.weight > 1.5 * best.weight or start.peak_bytes > 2 * budget


def undominated(pool: Iterable[Found]) -> list[Found]:
    """Those than which no other has both a smaller peak and a smaller cost."""
    kept: list[Found] = []
    for found in sorted(pool, key=lambda f: (f.peak_bytes, f.weight)):
        if not kept or found.weight < kept[-1].weight:
            kept.append(found)
    return kept


def floor_of(steps: Steps) -> int:
    """What a step reads and writes is alive together, whatever the schedule."""
    found = max(sum(steps.size[f] for f in steps.feeds), sum(steps.size[k] for k in steps.kept))
    for reads, writes, over in zip(steps.reads, steps.writes, steps.over, strict=True):
        touched = sum(steps.size[v] for v in {*reads, *writes})
        found = max(found, touched - sum(steps.size[w] for w, _ in over))
    return found
