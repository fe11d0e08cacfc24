"""The least extra cost of a chain by searching all schedules: exponential, and obvious.

A state is (values held, saved sets held, stage that runs backward next); Dijkstra's search goes
through every state that fits the budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf

from byparts_recompute.chains.chain import Chain

State = tuple[frozenset[int], frozenset[int], int]


def least_extra_cost(chain: Chain, budget_bytes: int) -> float:
    """Infinite where no schedule fits."""
    start: State = (frozenset(), frozenset(), len(chain.stages) - 1)
    best, queue = {start: 0.0}, [(0.0, 0, start)]
    while queue:
        cost, _, state = heappop(queue)
        if cost > best[state]:
            continue
        if state[2] < 0:
            return cost - chain.forward_cost
        for more, after in _steps(chain, state, budget_bytes):
            if cost + more < best.get(after, inf):
                best[after] = cost + more
                heappush(queue, (cost + more, len(best), after))
    return inf


def _steps(chain: Chain, state: State, budget: int) -> Iterator[tuple[float, State]]:
    values, saved, last = state
    for v in values:
        yield 0.0, (values - {v}, saved, last)
    for i in range(last + 1):
        stage = chain.stages[i]
        if i and i not in values and i - 1 not in saved:
            continue
        new = (values | {i + 1}, saved), (values - {i + 1}, saved | {i})
        for after in new:
            if _held(chain, (*after, last)) + stage.forward_extra_bytes <= budget:
                yield stage.forward_cost, (*after, last)
    yield from _backward(chain, state, budget)


def _backward(chain: Chain, state: State, budget: int) -> Iterator[tuple[float, State]]:
    values, saved, last = state
    if last not in saved:
        return
    stage = chain.stages[last]
    if stage.reads_input and last and last not in values and last - 1 not in saved:
        return
    worst = _held(chain, state) + stage.kept_bytes + stage.backward_extra_bytes
    after = (values - {last + 1}, saved - {last}, last - 1)
    if max(worst, _held(chain, after)) <= budget:
        yield 0.0, after


def _held(chain: Chain, state: State) -> int:
    values, saved, last = state
    stages = chain.stages
    return (
        sum(stages[v - 1].output_bytes for v in values if v - 1 not in saved)
        + sum(stages[i].saved_bytes for i in saved)
        + sum(s.kept_bytes for s in stages[last + 1 :])
        + (stages[last].dy_bytes if last >= 0 else 0)
    )
