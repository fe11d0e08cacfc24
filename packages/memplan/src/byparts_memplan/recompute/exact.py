"""The best schedule there is, by a solver: CP-SAT of OR-tools, which is the extra `exact`.

It begins with what all other strategies found, so it is never worse, and says what it has proved.
First each of a few orders of theirs is asked for; then any order, where the graph is small, or the
best one, with what helps a proof on larger graphs (`exact_cover.py`).  How often a step may run is
limited by what can help: each run is read by somebody, and none costs more than all that is
computed again in the best found.  One worker and counted time, so that answers repeat.  Some 100
steps take seconds; of more than 3000 the best of the others is the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from math import inf, isfinite
from typing import Any, Optional

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.buffer import PlanError
from byparts_memplan.recompute.exact_cover import cover
from byparts_memplan.recompute.exact_hint import hint
from byparts_memplan.recompute.exact_model import ExactModel
from byparts_memplan.steps import Steps

ANY_ORDER = 64  # runs in all: so many may be in any order
ORDERS = 3  # are asked
UNITS = 2**50  # that the plain graph costs, where its costs are not whole numbers below that
STEPS = 3000  # graphs of more are left to the other strategies
PRUNED = 2_000_000  # positions looked at for what need not run again
QUICK, THOROUGH = 0.1, 0.5  # deterministic units of CP-SAT at effort 1: some 2 s, some 10 s


@dataclass(frozen=True)
class Limits:
    """What is asked: bytes, with the least extra cost; or an extra cost, with the fewest bytes.

    `cost` is in the units of the graph's costs, of all that is computed again.
    """

    budget_bytes: Optional[int]
    cost: float

    def rank(self, steps: Steps) -> Callable[[Sequence[int]], tuple[float, float, float]]:
        """The key to sort sequences by: within the limits, then as asked for."""

        def key(sequence: Sequence[int]) -> tuple[float, float, float]:
            peak, cost = steps.peak_bytes(sequence), steps.total_cost(sequence)
            if self.budget_bytes is not None:
                return max(0, peak - self.budget_bytes), cost, peak
            over = cost - steps.total_cost() - self.cost
            return max(0.0, over - 1e-12 * cost), peak, cost

        return key

    def worth(self, steps: Steps, best: Sequence[int]) -> float:
        """What a schedule that is better than the best known may compute again."""
        if self.budget_bytes is None or steps.peak_bytes(best) > self.budget_bytes:
            return self.cost
        return steps.total_cost(best) - steps.total_cost()


@dataclass(frozen=True)
class Answer:
    """What the solver found and proved.

    Attributes:
        sequence: of steps; the best known where it found nothing better.
        settled: nothing better is possible, of what was asked.
        floor_bytes: no schedule at all has a smaller peak; 0 where nothing is known.
        least_cost: no schedule within the budget computes less again; 0 likewise.
        bound: of what was asked: no schedule in its scope has a smaller cost, or peak.
        proved: all this in words, with the scope.
    """

    sequence: list[int]
    settled: bool
    floor_bytes: int
    least_cost: float
    bound: float
    proved: str


def load_solver() -> Any:
    """The module of CP-SAT.

    Raises:
        PlanError: OR-tools is not installed.
    """
    try:
        return import_module("ortools.sat.python.cp_model")
    except ImportError as error:
        raise PlanError(
            f"strategy 'exact' needs OR-tools, which cannot be imported: {error}; "
            "pip install ortools"
        ) from error


def solve(
    cp: Any,
    steps: Steps,
    starts: Sequence[Sequence[int]],
    limits: Limits,
    *,
    effort: float,
    seed: int,
    any_order: int = ANY_ORDER,
) -> Answer:
    """The best schedule within the limits; never worse than any of `starts`.

    Of at most `any_order` runs in all, in any order.  Where bytes are asked for, then the cheapest
    with as few.
    """
    answer = _solve(cp, steps, starts, limits, effort, seed, any_order)
    if limits.budget_bytes is not None:
        return answer
    limits = Limits(steps.peak_bytes(answer.sequence), inf)
    cheapest = _solve(cp, steps, [answer.sequence], limits, effort, seed, any_order)
    said = "; ".join(filter(None, (answer.proved, cheapest.proved)))
    return replace(cheapest, floor_bytes=answer.floor_bytes, proved=said)


def _solve(
    cp: Any,
    steps: Steps,
    starts: Sequence[Sequence[int]],
    limits: Limits,
    effort: float,
    seed: int,
    any_order: int,
) -> Answer:
    """First in some orders, then thoroughly."""
    rank = limits.rank(steps)
    known = sorted((list(start) for start in starts), key=rank)
    if len(steps.nodes) > STEPS:
        return Answer(known[0], False, 0, 0.0, 0.0, "")
    orders = {tuple(dict.fromkeys(start)): start for start in reversed(known)}
    best: Optional[Answer] = None
    for start in sorted(orders.values(), key=known.index)[:ORDERS]:
        question = _Question(cp, steps, start, known[0], limits)
        answer = question.answer(QUICK * effort, seed)
        if best is None or rank(answer.sequence) < rank(best.sequence):
            best = answer
    assert best is not None, "there is a sequence to begin with"
    question = _Question(cp, steps, best.sequence, best.sequence, limits, any_order)
    if best.settled and not question.any_order:
        return best
    answer = question.answer(THOROUGH * effort, seed)
    known_better = not answer.settled and answer.sequence == best.sequence
    return best if known_better and best.bound > answer.bound else answer


class _Question:
    """A model with limits, and what an answer to it means."""

    def __init__(
        self,
        cp: Any,
        steps: Steps,
        start: Sequence[int],
        best: Sequence[int],
        limits: Limits,
        any_order: Optional[int] = None,
    ) -> None:
        """`any_order` makes it the last question, of that many runs in any order."""
        self.cp, self.steps, self.start, self.limits = cp, steps, list(start), limits
        self.whole, self._rank, budget = steps.total_cost(), limits.rank(steps), limits.budget_bytes
        most, self.clip = _most_runs(steps, start, limits.worth(steps, best))
        self.last = any_order is not None
        self.any_order = any_order is not None and sum(most) <= any_order
        base = None if self.any_order else list(dict.fromkeys(start))
        self.made = made = ExactModel(cp, steps, most, base)
        self.scale = 1.0 if _whole(steps.cost, self.whole) else UNITS / self.whole
        extra = sum(int(steps.cost[r.step] * self.scale) * r.present for r in made.again())
        self.bytes: Any = None if budget is None else budget // made.unit
        if budget is None:
            self._fewest_bytes(extra)
        else:
            made.model.minimize(extra)
        made.limit_bytes(self.bytes)
        if self.last:
            cover(made, self.bytes, self._ends() if budget is None else budget)
        hint(made, self.start)

    def answer(self, time: float, seed: int) -> Answer:
        """Ask the solver, for so many of its units of time."""
        solver = self.cp.CpSolver()
        given = solver.parameters
        given.num_workers, given.random_seed = 1, seed % 2**31
        given.interleave_search = self.last
        given.catch_sigint_signal = False  # its handler would let the next Ctrl-C end the process
        given.max_deterministic_time = max(1e-3, time)
        status = solver.solve(self.made.model)
        found = self.start
        if status in (self.cp.OPTIMAL, self.cp.FEASIBLE):
            found = min(found, self._pruned(self.made.sequence(solver)), key=self._rank)
        return self._meant(found, status, solver.best_objective_bound)

    def _pruned(self, found: list[int]) -> list[int]:
        """Without runs that nobody needs: what costs nothing, the solver may do in vain."""
        steps, budget = self.steps, self.limits.budget_bytes
        most = steps.peak_bytes(found) if budget is None else budget
        first = {s: t for t, s in reversed([*enumerate(found)])}
        again = [t for t, s in enumerate(found) if first[s] != t]
        for t in again[: -1 - PRUNED // len(found) : -1]:
            less = [*found[:t], *found[t + 1 :]]
            if steps.peak_bytes(less) <= most:
                found = less
        return found

    def _fewest_bytes(self, extra: Any) -> None:
        model, steps, unit = self.made.model, self.steps, self.made.unit
        most = min(steps.peak_bytes(self.start), steps.peak_bytes())
        self.bytes = model.new_int_var(self._ends() // unit, most // unit, "bytes")
        if (
            self.limits.cost * self.scale < 2**60
        ):  # beyond, it is no limit, and no integer of theirs
            model.add(extra <= int(self.limits.cost * self.scale))
        model.minimize(self.bytes)

    def _ends(self) -> int:
        """What the caller has alive before and after, which no schedule can change."""
        return self.steps.peak_bytes([])

    def _meant(self, found: list[int], status: Any, bound: float) -> Answer:
        budget, everything = self.limits.budget_bytes, self.any_order and not self.clip
        settled = status in (self.cp.OPTIMAL, self.cp.INFEASIBLE)
        cost, floor, proved, said = 0.0, 0, 0.0, ""
        if budget is None:
            proved = int(bound) * self.made.unit if isfinite(bound) else 0
            if settled:
                said = "no schedule that costs no more has a smaller peak"
            elif proved > self._ends():
                said = f"no schedule that costs no more has a peak below {proved:,} bytes"
        elif status == self.cp.INFEASIBLE:
            said, floor, proved = f"no schedule fits {budget:,} bytes", budget + 1, inf
        elif settled or bound > 0:
            cost = proved = bound / self.scale
            said = f"no schedule that fits costs less than {cost / (self.whole or 1):.4%} more"
        said += self._scope() * bool(said)
        return Answer(found, settled, floor * everything, cost * everything, proved, said)

    def _scope(self) -> str:
        """Of which schedules something is proved."""
        limits = [] if self.any_order else ["in this order"]
        if self.clip:
            limits.append(f"with no step more than {self.clip} times")
        return f" ({', '.join(limits)})" if limits else ""


def _whole(costs: Sequence[float], whole: float) -> bool:
    """Whether costs need not be rounded."""
    return not whole or (whole < UNITS and all(c == int(c) for c in costs))


def _most_runs(steps: Steps, start: Sequence[int], cost: float) -> tuple[list[int], int]:
    """By step, how many runs the model gets; and the limit for all, where more might help.

    Each run but what must run anyway is read by a run of a reader, so they are no more than those
    of all readers together; and what is computed again costs no more than `cost`.
    """
    n = len(steps.nodes)
    clip = 6 if n <= 12 else 4 if n <= 60 else 3 if n <= 200 else 2
    used = Counter(start)
    readers: Counter[int] = Counter(steps.kept)
    most, clipped = [1] * n, False
    for s in reversed(range(n)):
        if steps.again[s]:
            read = sum(readers[w] for w in steps.writes[s])
            dear = cost / steps.cost[s] if steps.cost[s] else inf
            able = max(1, int(min(read, 1 + dear * (1 + 1e-9))))
            most[s] = max(min(able, clip), used[s])
            clipped |= able > most[s]
        for v in steps.reads[s]:
            readers[v] += most[s]
    return most, clip if clipped else 0
