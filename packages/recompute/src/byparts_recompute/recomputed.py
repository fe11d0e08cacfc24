"""The result of rematerialisation, with peaks and costs, and the error for a missed budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import Graph
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.amount import human
from byparts_memplan.buffer import OverBudget
from byparts_memplan.lifetimes import describe, describe_workspace
from byparts_memplan.order import peak_bytes
from byparts_memplan.steps import Steps
from byparts_recompute.replay import replay


class Recomputation(Frozen):
    """A sequence of steps, some of which are computed again, with its peak and cost.

    Attributes:
        steps: tables of the original graph.
        sequence: steps as they run; one that occurs twice is computed again.
        peak_bytes: the most that is alive; `plain_peak_bytes` in the original graph.
        extra_cost: of what is computed again, as a fraction of the cost of the graph.
        live_bytes: at each position of the sequence; `plain_live_bytes` in the original graph.
        floor_bytes: proved: no schedule has a smaller peak.
        least_extra_cost: proved: no schedule with this peak costs less; 0 where nothing is proved.
        strategy: the strategy that found it.
        proved: what a solver has proved, in words, and for which schedules it holds.
    """

    steps: Steps
    sequence: tuple[int, ...]
    peak_bytes: int
    plain_peak_bytes: int
    extra_cost: float
    live_bytes: tuple[int, ...]
    plain_live_bytes: tuple[int, ...]
    floor_bytes: int
    least_extra_cost: float
    strategy: str
    proved: str = ""

    @staticmethod
    def of(
        steps: Steps,
        sequence: Sequence[int],
        strategy: str,
        floor: int = 0,
        least: float = 0.0,
        proved: str = "",
    ) -> Recomputation:
        """Measure a sequence; `floor`, `least` and `proved` are what is proved.  O(sequence)."""
        whole = sum(steps.cost)
        extra = steps.total_cost(sequence) - whole
        return Recomputation(
            steps=steps,
            sequence=tuple(sequence),
            peak_bytes=steps.peak_bytes(sequence),
            plain_peak_bytes=steps.peak_bytes(),
            extra_cost=extra / whole if whole else 0.0,
            live_bytes=tuple(steps.live_bytes(sequence)),
            plain_live_bytes=tuple(steps.live_bytes()),
            floor_bytes=floor,
            least_extra_cost=least,
            strategy=strategy,
            proved=proved,
        )

    @property
    def optimal(self) -> bool:
        """Whether a proof says that no cheaper schedule has this peak."""
        return self.extra_cost <= self.least_extra_cost + 1e-12

    def graph(self, *, barriers: bool = True) -> Graph:
        """The graph that runs this sequence; the original graph itself where nothing changes."""
        steps = self.steps
        plain = self.sequence == tuple(range(len(steps.nodes)))
        if plain:
            peak = peak_bytes(steps.graph, steps.outside, kernels=steps.kernels)
            if peak <= self.peak_bytes:
                return steps.graph  # otherwise it keeps bytes for a view that is not read
        return replay(steps, self.sequence, barriers=barriers)


class BudgetError(OverBudget):
    """No schedule within the budget was found.

    Attributes:
        budget_bytes: what was asked for.
        peak_bytes: the smallest peak that was reached.
        recomputation: the schedule with that peak; `graph` is its graph.
    """

    budget_bytes: int
    peak_bytes: int
    recomputation: Recomputation

    def __init__(self, recomputation: Recomputation, budget_bytes: int) -> None:
        super().__init__(_why_not(recomputation, budget_bytes))
        self.peak_bytes, self.recomputation = recomputation.peak_bytes, recomputation
        self.budget_bytes = budget_bytes

    @property
    def graph(self) -> Graph:
        """The graph with the smallest peak that was found."""
        return self.recomputation.graph()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.recomputation, self.budget_bytes)


def _why_not(best: Recomputation, budget: int) -> str:
    """The message: what is alive at the peak of the best schedule, and what to try."""
    proved = f"; none can have less than {best.floor_bytes:,}" * (budget < best.floor_bytes)
    proved += f"; proved: {best.proved}" * bool(best.proved)
    return (
        f"no schedule within a budget of {budget:,} bytes was found: the smallest peak is "
        f"{best.peak_bytes:,}, with {best.extra_cost:.1%} more work{proved}\n  the largest alive "
        f"at that peak, {_at_the_peak(best)}\n"
        f"  try budget_bytes={best.peak_bytes}, a smaller batch, or a larger effort"
    )


def _at_the_peak(best: Recomputation) -> str:
    """The place of the peak, and the five largest storages that are alive there."""
    steps = best.steps
    highest = max(best.live_bytes, default=0)
    if highest < best.peak_bytes:
        written = sum(steps.size[f] for f in steps.feeds) >= best.peak_bytes
        alive = steps.feeds if written else sorted(steps.kept)
        place = "where the caller " + ("writes the inputs" if written else "reads the outputs")
    else:
        at = best.live_bytes.index(highest)
        node, alive = steps.nodes[best.sequence[at]], _alive(steps, best.sequence, at)
        place = f"in {node.op.name}" + (f" ({node.where})" if node.where else "")
    held = sorted(alive, key=lambda v: (-steps.size[v], v))[:5]
    return f"{place}:" + "".join(f"\n  {human(steps.size[v])}: {_named(steps, v)}" for v in held)


def _named(steps: Steps, storage: int) -> str:
    if storage in steps.workspaces:
        return describe_workspace(steps.values, steps.steps[steps.workspaces[storage]])
    return describe(steps.graph.values[storage])


def _alive(steps: Steps, sequence: Sequence[int], at: int) -> list[int]:
    """The storages that are alive at position `at` of a sequence.  O(sequence)."""
    needed = dict.fromkeys(steps.kept)
    for s in reversed(sequence[at + 1 :]):
        for w in steps.writes[s]:
            needed.pop(w, None)
        needed.update(dict.fromkeys(steps.reads[s]))
    s = sequence[at]
    needed.update(dict.fromkeys((*steps.reads[s], *steps.writes[s])))
    return list(needed)
