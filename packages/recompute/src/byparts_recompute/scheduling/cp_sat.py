"""The cheapest sequence of steps within a budget, found and proved by the solver CP-SAT.

The solver is given the answers of all other strategies, so its answer is never worse; and it says
what it has proved.  First it is asked about a few orders of theirs; then about any order where the
graph is small, otherwise about the best order, with a bound that helps proofs on larger graphs
(`cp_sat_cover.py`).  How often a step may run is limited by what can help: each run is read by a
run of another step, and no run costs more than all recomputation of the best known answer.  One
worker and counted time, so that answers repeat.  Some 100 steps take seconds; of more than 3000
the best answer of the other strategies is returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from math import inf, isfinite
from typing import Any, Optional

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import PlanError
from byparts_memplan.steps import Steps
from byparts_recompute import tuning
from byparts_recompute.scheduling.cp_sat_cover import cover
from byparts_recompute.scheduling.cp_sat_hint import hint
from byparts_recompute.scheduling.cp_sat_model import SequenceModel

COST_UNITS = 2**50  # of the graph, where costs are not whole: the solver counts in 64-bit integers


class Limits(Frozen):
    """The question: the least extra cost for a budget, or the fewest bytes for an extra cost.

    `cost` is the limit for all that is computed again, in the units of the graph's costs.
    """

    budget_bytes: Optional[int]
    cost: float

    def rank(self, steps: Steps) -> Callable[[Sequence[int]], tuple[float, float, float]]:
        """The key to sort sequences by: those within the limits first, then the better ones."""

        def key(sequence: Sequence[int]) -> tuple[float, float, float]:
            peak, cost = steps.peak_bytes(sequence), steps.total_cost(sequence)
            if self.budget_bytes is not None:
                return max(0, peak - self.budget_bytes), cost, peak
            over = cost - steps.total_cost() - self.cost
            return max(0.0, over - 1e-12 * cost), peak, cost

        return key

    def max_cost(self, steps: Steps, best: Sequence[int]) -> float:
        """The limit of recomputed cost for a schedule that is better than the best known one."""
        if self.budget_bytes is None or steps.peak_bytes(best) > self.budget_bytes:
            return self.cost
        return steps.total_cost(best) - steps.total_cost()


class SolverAnswer(Frozen):
    """The schedule and the proofs of the solver.

    Attributes:
        sequence: of steps; the best known one where the solver found nothing better.
        complete: whether it is proved that nothing better exists, within what was asked.
        floor_bytes: proved: no schedule at all has a smaller peak; 0 where nothing is proved.
        least_cost: proved: no schedule within the budget computes less again; 0 likewise.
        bound: proved bound of the cost, or of the peak, within what was asked.
        proved: all this in words, with the schedules for which it holds.
    """

    sequence: list[int]
    complete: bool
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
    any_order: int = tuning.ANY_ORDER_RUNS,
) -> SolverAnswer:
    """The best schedule within the limits; never worse than any of `starts`.

    Up to `any_order` runs in all may be in any order.  Of several schedules with the fewest bytes,
    the cheapest.
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
) -> SolverAnswer:
    """Ask about some orders quickly, then about the best, or any, thoroughly."""
    rank = limits.rank(steps)
    known = sorted((list(start) for start in starts), key=rank)
    if len(steps.nodes) > tuning.LARGE_STEPS:
        return SolverAnswer(known[0], False, 0, 0.0, 0.0, "")
    orders = {tuple(dict.fromkeys(start)): start for start in reversed(known)}
    best: Optional[SolverAnswer] = None
    for start in sorted(orders.values(), key=known.index)[: tuning.ORDERS]:
        question = _Question(cp, steps, start, known[0], limits)
        answer = question.answer(tuning.QUICK * effort, seed)
        if best is None or rank(answer.sequence) < rank(best.sequence):
            best = answer
    assert best is not None, "there is a sequence to begin with"
    question = _Question(cp, steps, best.sequence, best.sequence, limits, any_order)
    if best.complete and not question.any_order:
        return best
    answer = question.answer(tuning.THOROUGH * effort, seed)
    known_better = not answer.complete and answer.sequence == best.sequence
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
        """`any_order` makes it the thorough question; up to so many runs may be in any order."""
        self.cp, self.steps, self.start, self.limits = cp, steps, list(start), limits
        self.whole, self._rank, budget = steps.total_cost(), limits.rank(steps), limits.budget_bytes
        most, self.clip = _most_runs(steps, start, limits.max_cost(steps, best))
        self.thorough = any_order is not None
        self.any_order = any_order is not None and sum(most) <= any_order
        base = None if self.any_order else list(dict.fromkeys(start))
        self.problem = problem = SequenceModel(cp, steps, most, base)
        self.scale = 1.0 if _are_whole(steps.cost, self.whole) else COST_UNITS / self.whole
        repeats = problem.repeated_runs()
        extra = sum(int(steps.cost[r.step] * self.scale) * r.present for r in repeats)
        self.bytes: Any = None if budget is None else budget // problem.unit
        if budget is None:
            self._minimize_bytes(extra)
        else:
            problem.model.minimize(extra)
        problem.limit_bytes(self.bytes)
        if self.thorough:
            cover(problem, self.bytes, self._caller_bytes() if budget is None else budget)
        hint(problem, self.start)

    def answer(self, time: float, seed: int) -> SolverAnswer:
        """Ask the solver, for so many of its units of deterministic time."""
        solver = self.cp.CpSolver()
        parameters = solver.parameters
        parameters.num_workers, parameters.random_seed = 1, seed % 2**31
        parameters.interleave_search = self.thorough
        parameters.catch_sigint_signal = False  # its handler lets the next Ctrl-C end the process
        parameters.max_deterministic_time = max(1e-3, time)
        status = solver.solve(self.problem.model)
        best = self.start
        if status in (self.cp.OPTIMAL, self.cp.FEASIBLE):
            best = min(best, self._pruned(self.problem.sequence(solver)), key=self._rank)
        return self._explained(best, status, solver.best_objective_bound)

    def _pruned(self, sequence: list[int]) -> list[int]:
        """Drop runs that the limits do not need: the solver may add runs that cost nothing."""
        steps, budget = self.steps, self.limits.budget_bytes
        most = steps.peak_bytes(sequence) if budget is None else budget
        first = {s: t for t, s in reversed([*enumerate(sequence)])}
        again = [t for t, s in enumerate(sequence) if first[s] != t]
        for t in again[: -1 - tuning.PRUNED_POSITIONS // len(sequence) : -1]:
            less = [*sequence[:t], *sequence[t + 1 :]]
            if steps.peak_bytes(less) <= most:
                sequence = less
        return sequence

    def _minimize_bytes(self, extra: Any) -> None:
        model, steps, unit = self.problem.model, self.steps, self.problem.unit
        most = min(steps.peak_bytes(self.start), steps.peak_bytes())
        self.bytes = model.new_int_var(self._caller_bytes() // unit, most // unit, "bytes")
        if self.limits.cost * self.scale < 2**60:  # a larger limit is none, and not an int64
            model.add(extra <= int(self.limits.cost * self.scale))
        model.minimize(self.bytes)

    def _caller_bytes(self) -> int:
        """Bytes that the caller holds before and after all steps: a bound for every schedule."""
        return self.steps.peak_bytes([])

    def _explained(self, best: list[int], status: Any, bound: float) -> SolverAnswer:
        """The answer that the status and the bound of the solver prove."""
        budget, everything = self.limits.budget_bytes, self.any_order and not self.clip
        complete = status in (self.cp.OPTIMAL, self.cp.INFEASIBLE)
        cost, floor, proved, said = 0.0, 0, 0.0, ""
        if budget is None:
            proved = int(bound) * self.problem.unit if isfinite(bound) else 0
            if complete:
                said = "no schedule that costs no more has a smaller peak"
            elif proved > self._caller_bytes():
                said = f"no schedule that costs no more has a peak below {proved:,} bytes"
        elif status == self.cp.INFEASIBLE:
            said, floor, proved = f"no schedule fits {budget:,} bytes", budget + 1, inf
        elif complete or bound > 0:
            cost = proved = bound / self.scale
            said = f"no schedule that fits costs less than {cost / (self.whole or 1):.4%} more"
        said += self._scope() * bool(said)
        return SolverAnswer(best, complete, floor * everything, cost * everything, proved, said)

    def _scope(self) -> str:
        """The schedules for which a proof holds, in words; empty: all."""
        limits = [] if self.any_order else ["in this order"]
        if self.clip:
            limits.append(f"with no step more than {self.clip} times")
        return f" ({', '.join(limits)})" if limits else ""


def _are_whole(costs: Sequence[float], whole: float) -> bool:
    """Whether costs can be given to the solver without rounding."""
    return not whole or (whole < COST_UNITS and all(c == int(c) for c in costs))


def _most_runs(steps: Steps, start: Sequence[int], max_cost: float) -> tuple[list[int], int]:
    """By step, how many runs the model gets; and the limit of them, where more might help.

    Each run but the first is read by a run of a reader, so a step has no more runs than all its
    readers together; and its runs again cost no more than `max_cost`.
    """
    n = len(steps.nodes)
    clip = next((runs for size, runs in tuning.MOST_RUNS if n <= size), 2)
    used = Counter(start)
    readers: Counter[int] = Counter(steps.kept)
    most, clipped = [1] * n, False
    for s in reversed(range(n)):
        if steps.again[s]:
            read = sum(readers[w] for w in steps.writes[s])
            affordable = max_cost / steps.cost[s] if steps.cost[s] else inf
            useful = max(1, int(min(read, 1 + affordable * (1 + 1e-9))))
            most[s] = max(min(useful, clip), used[s])
            clipped |= useful > most[s]
        for v in steps.reads[s]:
            readers[v] += most[s]
    return most, clip if clipped else 0
