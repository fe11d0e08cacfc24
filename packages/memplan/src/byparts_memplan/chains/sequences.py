"""Sequences of a graph's steps from the schedules of its stages, by strategy.

    chain       the cheapest schedule (`optimal.py`), of stages that save all or are lean
    sqrt        Chen's, at several numbers of segments
    recursive   Chen's recursion
    sequential  that of torch.utils.checkpoint_sequential
    recurrence  Gruslys': one stage for each repetition of a cell, internal states in slots

A chain is a picture of the graph, so what a schedule says is taken as a hint: each sequence is
measured (`Steps.peak_bytes`, `Steps.total_cost`), and the budget or cost that was asked for is
searched for by bisection.  Nothing is promised of the order; the caller takes the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Optional

from byparts_graph_ir import has_effect
from byparts_memplan.buffer import PlanError
from byparts_memplan.chains.chain import Chain, Schedule, Stage
from byparts_memplan.chains.graph import StepChain
from byparts_memplan.chains.named import recursive_schedule, sequential_schedule, sqrt_schedule
from byparts_memplan.chains.optimal import ChainTable, save_all
from byparts_memplan.chains.recurrence import recurrence_schedule
from byparts_memplan.chains.turn import deepest_first, forward_steps
from byparts_memplan.steps import Steps

STRATEGIES = ("chain", "sqrt", "recursive", "sequential", "recurrence")
STAGES = 48

Sequences = Iterator[list[int]]


def chain_sequences(
    steps: Steps,
    *,
    budget_bytes: Optional[int] = None,
    max_extra_cost: Optional[float] = None,
    strategies: Sequence[str] = ("chain", "sqrt", "recursive", "recurrence"),
) -> Sequences:
    """Sequences that compute parts of the forward again, around what is asked for.

    Args:
        steps: a graph that runs forward and backward; of others nothing comes, or nothing good.
        budget_bytes: peak to reach.
        max_extra_cost: share of the cost of all steps that may come on top.
        strategies: names of the table above.

    Without a budget and a cost: about a dozen along the trade-off.

    Raises:
        PlanError: no such strategy.
    """
    for name in strategies:
        if name not in STRATEGIES:
            raise PlanError(f"strategy {name!r} is not one of {', '.join(STRATEGIES)}")
    forward = forward_steps(steps)
    if len(forward) < 2 or len(forward) == len(steps.nodes):
        return
    both = (forward, deepest_first(steps, forward))
    plain = [StepChain(steps, f, STAGES).plain() for f in both]
    forward = min(zip(plain, both, strict=True), key=lambda pair: steps.peak_bytes(pair[0]))[1]
    goal = _Goal(steps, budget_bytes, max_extra_cost)
    effects = [s for s, node in enumerate(steps.nodes) if has_effect(node.op)]
    for name in strategies:
        for sequence in _BY_NAME[name](steps, forward, goal):
            if not effects or _in_order(sequence, effects):
                yield sequence


def _in_order(sequence: list[int], effects: list[int]) -> bool:
    """Whether effects happen in the order of the graph; stages may have moved one."""
    found = set(effects)
    return [s for s in sequence if s in found] == effects


class _Goal:
    """What was asked for, and whether a sequence has it."""

    def __init__(self, steps: Steps, budget: Optional[int], extra: Optional[float]) -> None:
        self.steps, self.budget = steps, budget
        self.cost = None if extra is None else (1 + extra) * steps.total_cost() * (1 + 1e-12)

    @property
    def open(self) -> bool:
        """Whether nothing was asked for."""
        return self.budget is None and self.cost is None

    def more_bytes(self, sequence: Sequence[int]) -> bool:
        """Whether to spend more bytes: they are there, or the cost asks for it."""
        if self.cost is not None:
            return self.steps.total_cost(sequence) > self.cost
        assert self.budget is not None, "asked for only where there is a goal"
        return self.steps.peak_bytes(sequence) <= self.budget

    def along(
        self, count: int, made: Callable[[int], list[int]]
    ) -> Generator[list[int], None, int]:
        """Of sequences 0 to `count` that take more bytes and less cost, those around the goal.

        Returns which is the cheapest within the budget, or takes least within the cost.
        """
        if self.open:
            for i in sorted({round(j * (count - 1) / 11) for j in range(12)} if count else ()):
                yield made(i)
            return 0
        lower, upper = 0, count
        while lower < upper:
            at = (lower + upper) // 2
            sequence = made(at)
            yield sequence
            if self.more_bytes(sequence):
                lower = at + 1
            else:
                upper = at
        return max(0, min(count - 1, lower if self.cost is not None else lower - 1))


def _chain(steps: Steps, forward: list[int], goal: _Goal) -> Sequences:
    for most in sorted({min(STAGES, len(forward)), min(STAGES // 3, len(forward))}):
        for lean in (False, True):
            chain = StepChain(steps, forward, most, lean=lean)
            if lean:
                yield chain.plain()
            yield from _optimal(chain, goal)


def _optimal(chain: StepChain, goal: _Goal) -> Sequences:
    """With slots of the whole peak, then with finer ones about where that came out."""
    full = save_all(chain.chain).peak_bytes
    bound = full if goal.budget is None else min(full, goal.budget * 5 // 4)
    for _ in range(2):
        table = ChainTable(chain.chain, bound)
        points = [peak for peak, _ in table.curve()]
        made = _from_table(chain, table, points)
        found = yield from goal.along(len(points), made)
        if not points:  # nothing is that small, also where sizes were rounded up to slots
            bound = full if bound < full else full * 5 // 4
        elif goal.cost is not None and points[found] * 5 // 4 < bound * 4 // 5:
            bound = points[found] * 5 // 4
        else:
            return


def _from_table(
    chain: StepChain, table: ChainTable, points: list[int]
) -> Callable[[int], list[int]]:
    return lambda i: chain.sequence(table.schedule(points[i]))


def _sqrt(steps: Steps, forward: list[int], goal: _Goal) -> Sequences:
    def schedules(chain: Chain, root: float) -> Iterator[Schedule]:
        for segments in sorted({max(1, round(root * f)) for f in (0.5, 1, 1.5, 2)}):
            yield sqrt_schedule(chain, segments)

    return _named(steps, forward, schedules)


def _sequential(steps: Steps, forward: list[int], goal: _Goal) -> Sequences:
    def schedules(chain: Chain, root: float) -> Iterator[Schedule]:
        for segments in sorted({max(1, round(root * f)) for f in (0.25, 0.5, 1, 1.5, 2)}):
            yield sequential_schedule(chain, segments)

    return _named(steps, forward, schedules)


def _recursive(steps: Steps, forward: list[int], goal: _Goal) -> Sequences:
    def schedules(chain: Chain, root: float) -> Iterator[Schedule]:
        for segments in sorted({2, 3, min(4, len(chain.stages)), max(2, round(root))}):
            yield recursive_schedule(chain, segments)

    return _named(steps, forward, schedules)


def _named(
    steps: Steps, forward: list[int], schedules: Callable[[Chain, float], Iterator[Schedule]]
) -> Sequences:
    """All schedules of the finest stages that there are."""
    chain = StepChain(steps, forward, min(STAGES, len(forward)))
    length = len(chain.chain.stages)
    if length > 2:
        for schedule in schedules(chain.chain, length**0.5):
            yield chain.sequence(schedule)


def _recurrence(steps: Steps, forward: list[int], goal: _Goal) -> Sequences:
    repeated: Counter[object] = Counter()
    count: Counter[object] = Counter()
    for s in forward:
        node = steps.nodes[s]
        kind = (node.op, tuple(v.type for v in node.inputs))
        repeated[kind] += steps.cost[s]  # type: ignore[assignment]  # costs are floats
        count[kind] += 1
    cell = max(repeated, key=lambda kind: repeated[kind])
    if count[cell] < 3:
        return
    chain = StepChain(steps, forward, count[cell])
    length = len(chain.chain.stages)
    equal = Chain((Stage(1, 1, 0, 1, reads_input=False),) * length)

    def made(i: int) -> list[int]:
        return chain.sequence(recurrence_schedule(equal, i + 1))

    yield from goal.along(length, made)


_BY_NAME: dict[str, Callable[[Steps, list[int], _Goal], Sequences]] = {
    "chain": _chain,
    "sqrt": _sqrt,
    "recursive": _recursive,
    "sequential": _sequential,
    "recurrence": _recurrence,
}
