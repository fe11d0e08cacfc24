"""Sequences of a graph's steps from the schedules of its stages, by strategy.

    chain       the cheapest schedule (`optimal.py`), with and without repeating cheap steps
    sqrt        Chen's, at several numbers of segments
    recursive   Chen's recursion
    sequential  that of torch.utils.checkpoint_sequential
    recurrence  Gruslys': one stage for each repetition of a cell, internal states in slots

A chain only approximates the graph, so each sequence is measured (`Steps.peak_bytes`,
`Steps.total_cost`), and the schedule for a budget or a cost is found by bisection over measured
sequences.  They are yielded in no particular order; the caller takes the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Optional

from byparts_graph_ir import has_effect
from byparts_memplan.buffer import PlanError
from byparts_memplan.steps import Steps
from byparts_recompute import tuning
from byparts_recompute.chains.chain import Chain, Schedule, Stage
from byparts_recompute.chains.forward_part import by_depth, forward_steps
from byparts_recompute.chains.named import recursive_schedule, sequential_schedule, sqrt_schedule
from byparts_recompute.chains.optimal import ChainTable, save_all
from byparts_recompute.chains.recurrence import recurrence_schedule
from byparts_recompute.chains.step_chain import StepChain

STRATEGIES = ("chain", "sqrt", "recursive", "sequential", "recurrence")
Sequences = Iterator[list[int]]


def chain_sequences(
    steps: Steps,
    *,
    budget_bytes: Optional[int] = None,
    max_extra_cost: Optional[float] = None,
    strategies: Sequence[str] = ("chain", "sqrt", "recursive", "recurrence"),
) -> Sequences:
    """Sequences that compute parts of the forward again, with about the budget or cost given.

    Args:
        steps: a graph that runs forward and backward; of others nothing comes, or nothing good.
        budget_bytes: peak to reach.
        max_extra_cost: share of the cost of all steps that may be added.
        strategies: names of the table above.

    Without a budget and a cost, about a dozen along the trade-off of each strategy.

    Raises:
        PlanError: no such strategy.
    """
    for name in strategies:
        if name not in STRATEGIES:
            raise PlanError(f"strategy {name!r} is not one of {', '.join(STRATEGIES)}")
    forward = forward_steps(steps)
    if len(forward) < 2 or len(forward) == len(steps.nodes):
        return
    both = (forward, by_depth(steps, forward))
    plain = [StepChain(steps, f, tuning.STAGES).plain() for f in both]
    forward = min(zip(plain, both, strict=True), key=lambda pair: steps.peak_bytes(pair[0]))[1]
    goal = _Goal(steps, budget_bytes, max_extra_cost)
    effects = [s for s, node in enumerate(steps.nodes) if has_effect(node.op)]
    for name in strategies:
        for sequence in _BY_NAME[name](steps, forward, goal):
            if not effects or _in_order(sequence, effects):
                yield sequence


def _in_order(sequence: list[int], effects: list[int]) -> bool:
    """Whether effects happen in the order of the graph; stages may have moved one."""
    known = set(effects)
    return [s for s in sequence if s in known] == effects


class _Goal:
    """The budget or cost that was asked for, and whether a sequence meets it."""

    def __init__(self, steps: Steps, budget: Optional[int], extra: Optional[float]) -> None:
        self.steps, self.budget = steps, budget
        self.cost = None if extra is None else (1 + extra) * steps.total_cost() * (1 + 1e-12)

    @property
    def open(self) -> bool:
        """Whether nothing was asked for."""
        return self.budget is None and self.cost is None

    def more_bytes(self, sequence: Sequence[int]) -> bool:
        """Whether the next sequence should take more bytes: this one costs too much, or fits."""
        if self.cost is not None:
            return self.steps.total_cost(sequence) > self.cost
        assert self.budget is not None, "asked for only where there is a goal"
        return self.steps.peak_bytes(sequence) <= self.budget

    def along(
        self, count: int, sequence_of: Callable[[int], list[int]]
    ) -> Generator[list[int], None, int]:
        """Bisect `count` sequences, sorted by bytes, for the goal; yield those that were made.

        Returns the number of the cheapest within the budget, or of the smallest within the cost.
        """
        if self.open:
            for i in sorted({round(j * (count - 1) / 11) for j in range(12)} if count else ()):
                yield sequence_of(i)
            return 0
        lower, upper = 0, count
        while lower < upper:
            at = (lower + upper) // 2
            sequence = sequence_of(at)
            yield sequence
            if self.more_bytes(sequence):
                lower = at + 1
            else:
                upper = at
        return max(0, min(count - 1, lower if self.cost is not None else lower - 1))


def _chain(steps: Steps, forward: list[int], goal: _Goal) -> Sequences:
    for most in sorted({min(tuning.STAGES, len(forward)), min(tuning.STAGES // 3, len(forward))}):
        for repeat_cheap in (False, True):
            chain = StepChain(steps, forward, most, repeat_cheap=repeat_cheap)
            if repeat_cheap:
                yield chain.plain()
            yield from _optimal(chain, goal)


def _optimal(chain: StepChain, goal: _Goal) -> Sequences:
    """The best schedules of a table over all budgets, then of a finer one around the result."""
    full = save_all(chain.chain).peak_bytes
    bound = full if goal.budget is None else min(full, goal.budget * 5 // 4)
    for _ in range(2):
        table = ChainTable(chain.chain, bound)
        points = [peak for peak, _ in table.curve()]
        chosen = yield from goal.along(len(points), _from_table(chain, table, points))
        if not points:  # nothing is that small, also where sizes were rounded up to slots
            bound = full if bound < full else full * 5 // 4
        elif goal.cost is not None and points[chosen] * 5 // 4 < bound * 4 // 5:
            bound = points[chosen] * 5 // 4
        else:
            return


def _from_table(
    chain: StepChain, table: ChainTable, points: list[int]
) -> Callable[[int], list[int]]:
    return lambda i: chain.sequence(table.schedule(points[i]))


def _segments(steps: Steps, forward: list[int], goal: _Goal, name: str) -> Sequences:
    """All schedules of one name, with several numbers of segments of the finest stages."""
    chain = StepChain(steps, forward, min(tuning.STAGES, len(forward)))
    length = len(chain.chain.stages)
    root = length**0.5
    if length <= 2:
        return
    if name == "recursive":
        for segments in sorted({2, 3, min(4, length), max(2, round(root))}):
            yield chain.sequence(recursive_schedule(chain.chain, segments))
        return
    schedule, shares = _SEGMENTED[name]
    for segments in sorted({max(1, round(root * share)) for share in shares}):
        yield chain.sequence(schedule(chain.chain, segments))


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


_SEGMENTED: dict[str, tuple[Callable[[Chain, int], Schedule], tuple[float, ...]]] = {
    "sqrt": (sqrt_schedule, (0.5, 1, 1.5, 2)),
    "sequential": (sequential_schedule, (0.25, 0.5, 1, 1.5, 2)),
}

_BY_NAME: dict[str, Callable[[Steps, list[int], _Goal], Sequences]] = {
    "chain": _chain,
    "sqrt": partial(_segments, name="sqrt"),
    "recursive": partial(_segments, name="recursive"),
    "sequential": partial(_segments, name="sequential"),
    "recurrence": _recurrence,
}
