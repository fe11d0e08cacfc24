"""The cheapest schedule of a chain within a budget, by dynamic programming.

`row(s, t)[m]` is the least cost forward of running stages s to t forward and backward, where the
input of s is held already and m bytes are free besides.  There are three ways to begin:

    save   what the backward of s reads; do s + 1 to t; run s backward
    keep   the input of s, run to k; do k to t with what k's input leaves free; then s to k - 1
    late   as before, but save k and let its input go; do k + 1 to t; then s to k "late": the
           backward of k waits for its input to be computed anew, on the way to its other readers

The first two are those of Beaumont et al. 2019 (https://arxiv.org/abs/1911.13214), and with equal
stages the second alone is Revolve.  The third is ours: it needs a row for each segment whose last
stage is saved already, and is what Gruslys et al. 2016 call internal state
(https://arxiv.org/abs/1606.03401) where a backward does not read its input.

Without "late" this is the optimum among schedules that hold what they chose to hold until its
backward has read it; with it, a search through all schedules (`exact.py`) finds less in one
of some hundred small random chains, and never where all stages are equal.  Bytes are counted in
slots, exactly where their common divisor allows, else rounded up: what is found always fits.
O(l^3 * slots) for l stages, O(l^2 * slots) where all are equal; NumPy makes it quick and no
different.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, inf
from typing import Any

from byparts_graph_ir.contract import checked
from byparts_memplan.buffer import PlanError, check_kind, is_number
from byparts_memplan.chains.chain import Chain, Operation, Schedule, scheduled, whole
from byparts_memplan.chains.exact import STAGES, exact_schedule

_EXACT = 4096  # so many slots are still quick

Row = Any  # list[float], or an array of them
Segment = tuple[int, int, bool]  # first stage, last stage, whether the last is saved already
Task = tuple[str, int, int, bool, int]  # "solve", segment and slots; or an operation and its stage
Option = tuple[int, int, Row, Row, float, str, int]
"""From which slot, slots held meanwhile, row of the tail, row of the head, cost, way, stage."""

WAYS = "save keep late"


def optimal_schedule(chain: Chain, budget_bytes: int, *, slots: int = 500) -> Schedule:
    """The least extra cost that takes at most `budget_bytes`.

    Chains of up to 5 stages are searched through besides.  O(stages^3 * slots) of NumPy's steps,
    O(stages^2 * slots) where all stages are equal.

    Raises:
        PlanError: no schedule takes so little.
    """
    budget_bytes, slots = whole("budget_bytes", budget_bytes), whole("slots", slots, 1)
    table = ChainTable(chain, budget_bytes, slots=slots)
    points = table.curve()
    found = table.schedule(points[-1][0]) if points else None
    if len(chain.stages) <= STAGES:
        exact = exact_schedule(chain, budget_bytes)
        if found is None or (exact and exact.extra_cost < found.extra_cost):
            found = exact
    if found is None:
        least = curve(chain, slots=slots)[0][0]
        raise PlanError(
            f"a budget of {budget_bytes} bytes is too small for this chain, which needs {least}"
        )
    return found


def optimal_within(chain: Chain, max_extra_cost: float, *, slots: int = 500) -> Schedule:
    """The smallest peak whose extra cost is at most `max_extra_cost`.

    Raises:
        PlanError: the extra cost is negative.
    """
    if not is_number(max_extra_cost) or max_extra_cost < 0:
        raise PlanError(f"an extra cost of {max_extra_cost!r:.60} is less than none, or no number")
    slots = whole("slots", slots, 1)
    table = ChainTable(chain, save_all(chain).peak_bytes, slots=slots)
    return table.schedule(next(p for p, extra in table.curve() if extra <= max_extra_cost))


def curve(chain: Chain, *, slots: int = 500) -> list[tuple[int, float]]:
    """(peak in bytes, extra cost) of every schedule worth having, by peak."""
    return ChainTable(chain, save_all(chain).peak_bytes, slots=slots).curve()


def save_all(chain: Chain) -> Schedule:
    """Everything is saved, nothing computed again."""
    check_kind(chain, Chain)
    stages = range(len(chain.stages))
    return scheduled(
        chain, [*(("save", i) for i in stages), *(("backward", i) for i in reversed(stages))]
    )


class ChainTable:
    """The rows of a chain, for all budgets up to one.

    Attributes:
        unit: bytes in a slot.
        slots: how many there are.
    """

    @checked
    def __init__(
        self, chain: Chain, budget_bytes: int, *, slots: int = 500, ways: str = WAYS,
        pure: bool = False,
    ) -> None:  # fmt: skip
        """`ways` to begin: save, keep, late.  `pure`: without NumPy."""
        self.chain, self.length = chain, len(chain.stages)
        self.ways = frozenset(ways.split())
        budget = max(0, min(budget_bytes, save_all(chain).peak_bytes))
        self.unit = _unit(chain, budget, slots)
        self.slots = budget // self.unit
        self.equal = len(set(chain.stages)) == 1 and not chain.stages[0].kept_bytes
        self._number = None if pure else _numpy()
        self._sums()
        self._rows: dict[Segment, Row] = {}
        self._first: dict[Segment, int] = {}
        for length in range(1, self.length + 1):
            for s in range(1 if self.equal else self.length - length + 1):
                if "late" in self.ways:
                    self._solve(s, s + length - 1, True)
                self._solve(s, s + length - 1, False)

    def curve(self) -> list[tuple[int, float]]:
        """(bytes of budget, extra cost) where the cost falls, by budget; empty: none is enough."""
        found, least = [], inf
        for m, cost in enumerate(self.row(0, self.length - 1)):
            if cost < least:
                least = float(cost)
                extra = max(0.0, least - self.chain.forward_cost)
                found.append((m * self.unit, extra))
        return found

    def schedule(self, budget_bytes: int) -> Schedule:
        """The cheapest one within a budget that a point of the curve has."""
        operations: list[Operation] = []
        todo: list[Task] = [("solve", 0, self.length - 1, False, budget_bytes // self.unit)]
        while todo:  # as deep as the chain is long
            kind, s, t, late, m = todo.pop()
            if kind != "solve":
                operations.append((kind, s))
            elif s <= t:
                todo += reversed(self._choice(s, t, late, m))
        return scheduled(self.chain, operations)

    def row(self, s: int, t: int) -> Row:
        """Cost by free slots."""
        return self._rows[self._key(s, t, False)]

    def _choice(self, s: int, t: int, late: bool, m: int) -> list[Task]:
        """What the best way does: operations, and smaller problems."""
        least = self._row_of(s, t, late)[m]
        _, shift, _, _, _, way, k = next(
            option
            for option in self._options(s, t, late)
            if m >= option[0] and _cost(option, m) == least
        )
        rest = m - shift
        if way == "backward":
            return [_do("backward", t), ("solve", s, t - 1, False, m)]
        if way == "save":
            return [_do("save", s), ("solve", s + 1, t, late, rest), _do("backward", s)]
        run = [_do("keep" if j == s else "forward", j) for j in range(s, k)]
        if way == "keep":
            return [*run, ("solve", k, t, late, rest), ("solve", s, k - 1, False, m)]
        saved = [_do("save", k), _do("drop", k), ("solve", k + 1, t, late, rest)]
        return [*run, *saved, ("solve", s, k, True, m)]

    def _options(self, s: int, t: int, late: bool) -> Iterator[Option]:
        """The ways to begin with stages s to t that are possible with some number of slots.

        With `late`, what the backward of t reads is held already, its input aside.
        """
        stages, ways = self.chain.stages, self.ways
        base = stages[t].dy_bytes + self.after[t] + (stages[t].saved_bytes if late else 0)
        if late and (s == t or not stages[t].reads_input):
            yield self._back(t), 0, self._zero, self._row_of(s, t - 1), 0.0, "backward", t
        if s == t and late:
            return
        if "save" in ways or s == t:
            shift = self.saved[s]
            start = max(self._saving(s, base), shift + self._first_of(s + 1, t, late))
            tail = self._row_of(s + 1, t, late)
            yield start, shift, tail, self._zero, stages[s].forward_cost, "save", s
        cost, need = 0.0, 0
        for k in range(s + 1, t + 1):
            before = stages[k - 1]
            cost += before.forward_cost
            came = stages[k - 2].output_bytes if k - 1 > s else 0
            need = max(need, came + before.output_bytes + before.forward_extra_bytes)
            if "keep" in ways:
                yield self._keep(s, k, t, late, need + base, cost)
            if "late" in ways and not (late and k == t):
                need_of_k = max(need, before.output_bytes + self._saving_bytes(k))
                yield self._late(s, k, t, late, need_of_k + base, cost + stages[k].forward_cost)

    def _keep(self, s: int, k: int, t: int, late: bool, need: int, cost: float) -> Option:
        shift = self.outputs[k - 1]
        first = self._first_of(s, k - 1, False), shift + self._first_of(k, t, late)
        tail, head = self._row_of(k, t, late), self._row_of(s, k - 1, False)
        return max(self._up(need), *first), shift, tail, head, cost, "keep", k

    def _late(self, s: int, k: int, t: int, late: bool, need: int, cost: float) -> Option:
        shift = self.saved[k]
        first = self._first_of(s, k, True), shift + self._first_of(k + 1, t, late)
        tail, head = self._row_of(k + 1, t, late), self._row_of(s, k, True)
        return max(self._up(need), *first), shift, tail, head, cost, "late", k

    def _solve(self, s: int, t: int, late: bool) -> None:
        best = self._row(inf)
        for start, shift, tail, head, cost, _, _ in self._options(s, t, late):
            if start > self.slots:
                continue
            begun, end = start - shift, self.slots + 1 - shift
            if self._number is None:
                pairs = zip(best[start:], tail[begun:end], head[start:], strict=True)
                best[start:] = [min(b, x + (y + cost)) for b, x, y in pairs]
            else:
                part = best[start:]
                self._number.minimum(part, tail[begun:end] + (head[start:] + cost), out=part)
        key = self._key(s, t, late)
        self._rows[key] = best
        self._first[key] = next((m for m, c in enumerate(best) if c < inf), self.slots + 1)

    def _saving(self, s: int, base: int) -> int:
        """Slots for saving stage s and running it backward, its input held elsewhere."""
        return max(self._up(base + self._saving_bytes(s)), self._back(s))

    def _saving_bytes(self, s: int) -> int:
        return self.chain.stages[s].saved_bytes + self.chain.stages[s].forward_extra_bytes

    def _back(self, t: int) -> int:
        """Slots for running stage t backward."""
        stage = self.chain.stages[t]
        own = stage.saved_bytes + stage.backward_extra_bytes + stage.kept_bytes
        return self._up(stage.dy_bytes + own + self.after[t])

    def _sums(self) -> None:
        """Slots by stage; bytes that the backward of later stages leaves for good."""
        stages = self.chain.stages
        self.outputs = [self._up(s.output_bytes) for s in stages]
        self.saved = [self._up(s.saved_bytes) for s in stages]
        self.after = [0] * len(stages)
        for i in range(len(stages) - 2, -1, -1):
            self.after[i] = self.after[i + 1] + stages[i + 1].kept_bytes
        self._zero = self._row(0.0)

    def _row(self, value: float) -> Row:
        if self._number is None:
            return [value] * (self.slots + 1)
        return self._number.full(self.slots + 1, value)

    def _key(self, s: int, t: int, late: bool) -> Segment:
        return (0, t - s, late) if self.equal else (s, t, late)

    def _row_of(self, s: int, t: int, late: bool = False) -> Row:
        return self._rows[self._key(s, t, late)] if s <= t else self._zero

    def _first_of(self, s: int, t: int, late: bool) -> int:
        return self._first[self._key(s, t, late)] if s <= t else 0

    def _up(self, size_bytes: int) -> int:
        return -(-size_bytes // self.unit)


def _cost(option: Option, m: int) -> float:
    _, shift, tail, head, cost, _, _ = option
    return float(tail[m - shift] + (head[m] + cost))


def _do(kind: str, stage: int) -> Task:
    return (kind, stage, 0, False, 0)


def _unit(chain: Chain, budget: int, slots: int) -> int:
    """The common divisor of all sizes, or so many bytes that the budget is `slots` of them."""
    common = gcd(
        *(s.output_bytes for s in chain.stages),
        *(s.saved_bytes for s in chain.stages),
        *(s.dy_bytes for s in chain.stages),
        *(s.forward_extra_bytes for s in chain.stages),
        *(s.backward_extra_bytes for s in chain.stages),
        *(s.kept_bytes for s in chain.stages),
    )
    if common and budget // common <= max(slots, _EXACT):
        return common
    return max(1, -(-budget // slots))


def _numpy() -> Any:
    """The module, or `None` where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy
