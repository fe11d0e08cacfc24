"""The cheapest schedule of a very short chain, by searching all of them.

A state is the set of values held, the saved sets held, and the stage that runs backward next;
Dijkstra's algorithm searches the states that fit the budget.  It also finds schedules that drop a
value and compute it again before its backward, which the dynamic program of `optimal.py` does not
always see.  Exponential: 4^l states for l stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf

from byparts_recompute.chains.chain import Chain, Operation, Schedule, scheduled

State = tuple[frozenset[int], frozenset[int], int]  # values, saved sets, next to run backward
Move = tuple[Operation, float, State]


def exhaustive_schedule(chain: Chain, budget_bytes: int) -> Schedule | None:
    """The schedule with the least extra cost within a budget; `None` where no schedule fits."""
    start: State = (frozenset(), frozenset(), len(chain.stages) - 1)
    best = {start: 0.0}
    before: dict[State, tuple[State, Operation]] = {}
    queue = [(0.0, 0, start)]
    while queue:
        cost, _, state = heappop(queue)
        if state[2] < 0:
            return scheduled(chain, _path(state, before))
        if cost > best[state]:
            continue
        for operation, more, after in _moves(chain, state):
            if cost + more >= best.get(after, inf) or _worst(chain, state, after) > budget_bytes:
                continue
            best[after] = cost + more
            before[after] = state, operation
            heappush(queue, (cost + more, len(best) + len(queue), after))
    return None


def _moves(chain: Chain, state: State) -> Iterator[Move]:
    values, saved, last = state
    for v in values:
        yield ("drop", v), 0.0, (values - {v}, saved, last)
    for i in range(last + 1):
        stage = chain.stages[i]
        there = not i or i in values or i - 1 in saved
        if there and i not in saved:
            yield ("keep", i), stage.forward_cost, (values | {i + 1}, saved, last)
            yield ("save", i), stage.forward_cost, (values - {i + 1}, saved | {i}, last)
        if i == last and i in saved and (there or not stage.reads_input):
            yield ("backward", i), 0.0, (values - {i}, saved - {i}, last - 1)


def _worst(chain: Chain, state: State, after: State) -> int:
    """The most bytes held during a move."""
    if len(after[0]) + len(after[1]) < len(state[0]) + len(state[1]) and after[2] == state[2]:
        return 0  # a value is dropped
    if after[2] != state[2]:
        stage = chain.stages[state[2]]
        worst = _held(chain, state) + stage.kept_bytes + stage.backward_extra_bytes
        return max(worst, _held(chain, after))
    computed = (after[0] - state[0]) | {i + 1 for i in after[1] - state[1]}
    extra = max([chain.stages[v - 1].forward_extra_bytes for v in computed], default=0)
    return _held(chain, after) + extra


def _held(chain: Chain, state: State) -> int:
    values, saved, last = state
    stages = chain.stages
    own = sum([stages[v - 1].output_bytes for v in values if v - 1 not in saved])
    kept = sum([s.kept_bytes for s in stages[last + 1 :]])
    dy = stages[last].dy_bytes if last >= 0 else 0
    return own + kept + dy + sum([stages[i].saved_bytes for i in saved])


def _path(state: State, before: dict[State, tuple[State, Operation]]) -> list[Operation]:
    """The operations from the start to a state."""
    path = []
    while state in before:
        state, operation = before[state]
        path.append(operation)
    return path[::-1]
