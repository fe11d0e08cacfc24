"""Schedules of unrolled recurrences: equal steps of time, and a number of slots.

Gruslys et al. 2016 (https://arxiv.org/abs/1606.03401) hold in a slot either the hidden state that
goes into a step ("hidden"; this is Revolve, Griewank and Walther 2000) or all that its backward
reads, the state that comes out included ("internal"), or choose ("mixed").  What their tables hold
for the first two is also known in closed form: with m slots, at least so many steps can do with
r + 1 runs each,

    hidden: binomial(m + r, r)        internal: binomial(m + r + 1, m) - 1

and the rest of the steps run once more for every r that is too small.  1000 steps with 50 slots:
1950 runs forward with internal states, 2948 with hidden ones.  The mixed table is filled
(`mixed.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb

from byparts_memplan.buffer import PlanError, check_kind
from byparts_recompute.arguments import whole_number
from byparts_recompute.chains.chain import Chain, Operation, Schedule, scheduled
from byparts_recompute.chains.mixed import Mixed

POLICIES = ("hidden", "internal", "mixed")


def forward_evaluations(
    steps: int, slots: int, policy: str = "internal", *, internal_slots: int = 1
) -> int:
    """The number of forward runs of a step in the best schedule.

    `slots` hold states: hidden ones, the first one included, or internal ones; with "mixed" an
    internal state takes `internal_slots`.  O(1); about O(steps * slots) with "mixed".

    Raises:
        PlanError: no steps, no slots, or no such policy.
    """
    steps, slots, internal_slots = _checked(steps, slots, policy, internal_slots)
    if policy == "mixed":
        return Mixed(steps, slots, internal_slots).least(steps, slots)
    return _least(_capacity(policy), steps, slots)


def recurrence_schedule(
    chain: Chain, slots: int, policy: str = "internal", *, internal_slots: int = 1
) -> Schedule:
    """The best schedule of a chain whose stages are taken to be equal.

    "internal" and "mixed" need stages whose backward does not read their input (`reads_input`).

    Raises:
        PlanError: as `forward_evaluations`; or a backward needs an input that is not held.
    """
    check_kind(chain, Chain)
    length = len(chain.stages)
    length, slots, internal_slots = _checked(length, slots, policy, internal_slots)
    mixed = policy == "mixed"
    split = Mixed(length, slots, internal_slots).split if mixed else _split_of(policy)
    return scheduled(chain, list(_operations(length, slots, split)))


Split = Callable[[int, int], tuple[int, int]]
"""(steps, slots) -> steps to run first, slots of the internal state held then; 0: hidden."""


def _operations(length: int, slots: int, split: Split) -> Iterator[Operation]:
    todo: list[tuple[str, int, int, int]] = [("solve", 0, length, slots)]
    while todo:
        kind, s, n, m = todo.pop()
        if kind != "solve":
            yield kind, s
        elif n:
            todo += reversed(_begin(s, n, m, split))


def _begin(s: int, n: int, m: int, split: Split) -> list[tuple[str, int, int, int]]:
    """Operations and smaller problems of `n` steps from `s`, whose input is held, in `m` slots."""
    if n == 1:
        return [("save", s, 0, 0), ("backward", s, 0, 0)]
    y, internal = split(n, m)
    last = s + y - 1
    run = [("keep" if j == s else "forward", j, 0, 0) for j in range(s, last)]
    if not internal:
        run.append(("keep" if y == 1 else "forward", last, 0, 0))
        return [*run, ("solve", s + y, n - y, m - 1), ("solve", s, y, m)]
    run.append(("save", last, 0, 0))
    if y > 1:
        run.append(("drop", last, 0, 0))
    back = ("backward", last, 0, 0)
    return [*run, ("solve", s + y, n - y, m - internal), back, ("solve", s, y - 1, m)]


def _capacity(policy: str) -> Callable[[int, int], int]:
    if policy == "hidden":
        return lambda m, r: comb(m + r, r)
    return lambda m, r: comb(m + r + 1, m) - 1


def _least(capacity: Callable[[int, int], int], n: int, m: int) -> int:
    """Forward runs of `n` steps in `m` slots: each once, and again for each r that is too small.

    `capacity(m, r)` is the number of steps that can do with r + 1 runs each.
    """
    if m < 1:
        return 0 if n == 0 else n * n * n  # impossible: more than any schedule takes
    runs, r = n, 0
    while (few := capacity(m, r)) < n:
        runs += n - few
        r += 1
    return runs


def _split_of(policy: str) -> Split:
    capacity, internal = _capacity(policy), int(policy == "internal")

    def work(n: int, m: int, y: int) -> int:
        tail = _least(capacity, n - y, m - 1)
        return y + tail + _least(capacity, y - internal, m)

    def split(n: int, m: int) -> tuple[int, int]:
        if m == 1:  # the one state that is held stays: run from it to the last step
            return (n, 1) if internal else (n - 1, 0)
        lower, upper = 1, n if internal else n - 1
        while lower < upper:  # the work is convex in the number of steps run first
            y = (lower + upper) // 2
            if work(n, m, y) <= work(n, m, y + 1):
                upper = y
            else:
                lower = y + 1
        return lower, internal

    return split


def _checked(steps: int, slots: int, policy: str, internal_slots: int) -> tuple[int, int, int]:
    if not isinstance(policy, str) or policy not in POLICIES:
        raise PlanError(f"policy {policy!r} is not one of {', '.join(POLICIES)}")
    steps, slots = whole_number("steps", steps, 1), whole_number("slots", slots, 1)
    return steps, slots, whole_number("internal_slots", internal_slots, 1)
