"""The cheapest schedule of a chain within a budget, by dynamic programming.

`row(s, t)[m]` is the least forward cost of running stages s to t forward and backward, where the
input of s is held already and m slots are free in addition.  The first choice is one of three:

    save   run s and save what its backward reads; solve s + 1 to t; run s backward
    keep   keep the input of s and run to k; solve k to t with the slots left; then s to k - 1
    late   as keep, but save k and drop its input; solve k + 1 to t; then s to k, where the
           backward of k waits until its input is computed again

The first two are those of Beaumont et al. 2019 (https://arxiv.org/abs/1911.13214); with equal
stages the second alone is Revolve.  The third is ours: it needs a second row for each segment,
whose last stage is saved already.  Where a backward does not read its input, it is what Gruslys et
al. 2016 call internal state (https://arxiv.org/abs/1606.03401).

Without "late" the result is optimal among schedules that hold what they save until its backward has
read it.  With it, a search through all schedules (`exhaustive.py`) finds a cheaper one for one of
some hundred small random chains, and never where all stages are equal.  Bytes are counted in
slots: exactly where their common divisor allows, otherwise rounded up, so a result always fits.
O(l^3 * slots) for l stages, O(l^2 * slots) where all are equal.  NumPy, where installed, gives the
same answer faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, inf
from typing import Any

from byparts_graph_ir.contract import checked
from byparts_memplan.buffer import PlanError, check_kind
from byparts_recompute import tuning
from byparts_recompute.arguments import not_negative, whole_number
from byparts_recompute.chains.chain import Chain, Operation, Schedule, scheduled
from byparts_recompute.chains.exhaustive import exhaustive_schedule

Row = Any  # list[float], or an array of them
Segment = tuple[int, int, bool]  # first stage, last stage, whether the last is saved already
Task = tuple[str, int, int, bool, int]  # "solve", segment and slots; or an operation and its stage
Option = tuple[int, int, Row, Row, float, str, int]
"""Least slots, slots held during the tail, rows of tail and head, cost, choice, stage."""

CHOICES = "save keep late"


def optimal_schedule(chain: Chain, budget_bytes: int, *, slots: int = 500) -> Schedule:
    """The schedule with the least extra cost that holds at most `budget_bytes`.

    For chains of up to 5 stages, of all schedules (`exhaustive.py`).  O(stages^3 * slots),
    O(stages^2 * slots) where all stages are equal.

    Raises:
        PlanError: no schedule holds so little.
    """
    budget_bytes, slots = (
        whole_number("budget_bytes", budget_bytes),
        whole_number("slots", slots, 1),
    )
    table = ChainTable(chain, budget_bytes, slots=slots)
    points = table.curve()
    best = table.schedule(points[-1][0]) if points else None
    if len(chain.stages) <= tuning.EXHAUSTIVE_STAGES:
        exact = exhaustive_schedule(chain, budget_bytes)
        if best is None or (exact and exact.extra_cost < best.extra_cost):
            best = exact
    if best is None:
        least = curve(chain, slots=slots)[0][0]
        raise PlanError(
            f"a budget of {budget_bytes} bytes is too small for this chain, which needs {least}"
        )
    return best


def optimal_within(chain: Chain, max_extra_cost: float, *, slots: int = 500) -> Schedule:
    """The smallest peak whose extra cost is at most `max_extra_cost`.

    Raises:
        PlanError: the extra cost is no number, or negative.
    """
    not_negative("max_extra_cost", max_extra_cost, "expected a cost, 0 or more")
    slots = whole_number("slots", slots, 1)
    table = ChainTable(chain, save_all(chain).peak_bytes, slots=slots)
    return table.schedule(next(p for p, extra in table.curve() if extra <= max_extra_cost))


def curve(chain: Chain, *, slots: int = 500) -> list[tuple[int, float]]:
    """(peak in bytes, extra cost) of every undominated schedule, by peak."""
    return ChainTable(chain, save_all(chain).peak_bytes, slots=slots).curve()


def save_all(chain: Chain) -> Schedule:
    """The schedule that saves everything and computes nothing again."""
    check_kind(chain, Chain)
    stages = range(len(chain.stages))
    return scheduled(
        chain, [*(("save", i) for i in stages), *(("backward", i) for i in reversed(stages))]
    )


class ChainTable:
    """The rows of the dynamic program for one chain and all budgets up to `budget_bytes`.

    Attributes:
        unit: bytes in a slot.
        slots: of the budget.
    """

    @checked
    def __init__(
        self, chain: Chain, budget_bytes: int, *, slots: int = 500, choices: str = CHOICES,
        pure: bool = False,
    ) -> None:  # fmt: skip
        """`choices`: which first choices are tried.  `pure`: without NumPy."""
        self.chain, self.length = chain, len(chain.stages)
        self.choices = frozenset(choices.split())
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
                if "late" in self.choices:
                    self._solve(s, s + length - 1, True)
                self._solve(s, s + length - 1, False)

    def curve(self) -> list[tuple[int, float]]:
        """(budget in bytes, extra cost) where the cost falls, by budget; empty: no budget fits."""
        points, least = [], inf
        for m, cost in enumerate(self.row(0, self.length - 1)):
            if cost < least:
                least = float(cost)
                extra = max(0.0, least - self.chain.forward_cost)
                points.append((m * self.unit, extra))
        return points

    def schedule(self, budget_bytes: int) -> Schedule:
        """The cheapest schedule within a budget, which is that of a point of the curve."""
        operations: list[Operation] = []
        todo: list[Task] = [("solve", 0, self.length - 1, False, budget_bytes // self.unit)]
        while todo:  # a stack: recursion would be as deep as the chain is long
            kind, s, t, late, m = todo.pop()
            if kind != "solve":
                operations.append((kind, s))
            elif s <= t:
                todo += reversed(self._choice(s, t, late, m))
        return scheduled(self.chain, operations)

    def row(self, s: int, t: int) -> Row:
        """The least forward cost of stages s to t, by the number of free slots."""
        return self._rows[self._key(s, t, False)]

    def _choice(self, s: int, t: int, late: bool, m: int) -> list[Task]:
        """The operations and the smaller problems of the best first choice."""
        least = self._row_of(s, t, late)[m]
        _, shift, _, _, _, choice, k = next(
            option
            for option in self._options(s, t, late)
            if m >= option[0] and _cost(option, m) == least
        )
        rest = m - shift
        if choice == "backward":
            return [_do("backward", t), ("solve", s, t - 1, False, m)]
        if choice == "save":
            return [_do("save", s), ("solve", s + 1, t, late, rest), _do("backward", s)]
        run = [_do("keep" if j == s else "forward", j) for j in range(s, k)]
        if choice == "keep":
            return [*run, ("solve", k, t, late, rest), ("solve", s, k - 1, False, m)]
        saved = [_do("save", k), _do("drop", k), ("solve", k + 1, t, late, rest)]
        return [*run, *saved, ("solve", s, k, True, m)]

    def _options(self, s: int, t: int, late: bool) -> Iterator[Option]:
        """The first choices for stages s to t that are possible with some number of slots.

        With `late`, stage t is saved already, and its backward may still wait for its input.
        """
        stages, choices = self.chain.stages, self.choices
        base = stages[t].dy_bytes + self.after[t] + (stages[t].saved_bytes if late else 0)
        if late and (s == t or not stages[t].reads_input):
            yield self._back(t), 0, self._zero, self._row_of(s, t - 1), 0.0, "backward", t
        if s == t and late:
            return
        if "save" in choices or s == t:
            shift = self.saved[s]
            start = max(self._saving(s, base), shift + self._first_of(s + 1, t, late))
            tail = self._row_of(s + 1, t, late)
            yield start, shift, tail, self._zero, stages[s].forward_cost, "save", s
        cost, need = 0.0, 0
        for k in range(s + 1, t + 1):
            before = stages[k - 1]
            cost += before.forward_cost
            held = stages[k - 2].output_bytes if k - 1 > s else 0
            need = max(need, held + before.output_bytes + before.forward_extra_bytes)
            if "keep" in choices:
                yield self._keep(s, k, t, late, need + base, cost)
            if "late" in choices and not (late and k == t):
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
        """Slots for saving stage s and running it backward, its input not counted."""
        return max(self._up(base + self._saving_bytes(s)), self._back(s))

    def _saving_bytes(self, s: int) -> int:
        return self.chain.stages[s].saved_bytes + self.chain.stages[s].forward_extra_bytes

    def _back(self, t: int) -> int:
        """Slots for running stage t backward."""
        stage = self.chain.stages[t]
        own = stage.saved_bytes + stage.backward_extra_bytes + stage.kept_bytes
        return self._up(stage.dy_bytes + own + self.after[t])

    def _sums(self) -> None:
        """Slots of outputs and saved sets by stage; bytes that later backwards leave to the end."""
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
    """Bytes in a slot: the common divisor of all sizes, or such that the budget has `slots`."""
    common = gcd(
        *(s.output_bytes for s in chain.stages),
        *(s.saved_bytes for s in chain.stages),
        *(s.dy_bytes for s in chain.stages),
        *(s.forward_extra_bytes for s in chain.stages),
        *(s.backward_extra_bytes for s in chain.stages),
        *(s.kept_bytes for s in chain.stages),
    )
    if common and budget // common <= max(slots, tuning.EXACT_SLOTS):
        return common
    return max(1, -(-budget // slots))


def _numpy() -> Any:
    """The module, or `None` where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy
