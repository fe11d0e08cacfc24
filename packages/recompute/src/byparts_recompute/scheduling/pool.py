"""All schedules of one graph that are known, and which of them to start a search from.

A candidate is a base order of the steps and what is computed again in it.  Candidates come from
plain orders, minimum cuts, schedules of chains, and earlier searches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Optional

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.steps import Steps
from byparts_recompute import tuning
from byparts_recompute.scheduling.cut import cuts, keys_of
from byparts_recompute.scheduling.editable_schedule import EditableSchedule
from byparts_recompute.scheduling.moves import Moves
from byparts_recompute.undominated import undominated

Progress = Callable[[str], None]


class Candidate(Frozen):
    """A known schedule.

    Attributes:
        peak_bytes: the most that is alive at any position.
        cost: of all that is computed again.
        weight: the cost with a little for each byte written, which breaks ties.
        base: the number of its base order in the pool.
        keys: what is computed again, in the numbers of `EditableSchedule`.
        origin: "plain", "cut", "proposed" (given as a sequence) or "search".
    """

    peak_bytes: int
    cost: float
    weight: float
    base: int
    keys: tuple[int, ...]
    origin: str


class Pool:
    """Candidates for one graph.

    Attributes:
        moves: by base order, the one schedule that is loaded and changed.
        candidates: in the order in which they were recorded.
        bases: base orders.
        large: whether the graph has more than `LARGE_STEPS` steps.
        total: cost of all steps.
    """

    def __init__(
        self, steps: Steps, base: Sequence[int], progress: Optional[Progress] = None
    ) -> None:
        self.steps, self.progress = steps, progress
        self.large = len(steps.nodes) > tuning.LARGE_STEPS
        self.moves: list[Moves] = []
        self.candidates: list[Candidate] = []
        self.bases: list[list[int]] = []
        self._base(list(base))
        self.total = self.moves[0].total

    @property
    def work(self) -> int:
        """Changes made so far to all schedules of the pool."""
        return sum(moves.work for moves in self.moves)

    def loaded(self, candidate: Candidate) -> Moves:
        """Load a candidate into the schedule of its base order, and return that to be changed."""
        moves = self.moves[candidate.base]
        moves.load(candidate.keys)
        return moves

    def consider(
        self, sequences: Iterable[Sequence[int]], budget: Optional[int], limit: Optional[float]
    ) -> None:
        """Propose the most promising sequences.  `limit`: extra cost as a share of all costs."""
        steps, ranked = self.steps, []
        only_best = self.large and (budget is not None or limit is not None)
        most_cost = inf if limit is None or not only_best else 1 + 1.2 * limit
        for i, sequence in enumerate(sequences):
            cost = steps.total_cost(sequence) / self.total
            if len(sequence) > tuning.LONGEST * len(steps.nodes) or cost > most_cost:
                continue
            peak = steps.peak_bytes(sequence)
            if budget is not None:
                rank = cost + _over(peak, budget)
            elif limit is not None:
                rank = peak * (1 + tuning.OVER_WEIGHT * max(0.0, cost - 1 - limit))
            else:
                rank = cost
            ranked.append((rank, i, sequence))
        ranked.sort(key=lambda entry: entry[:2])
        for _, _, sequence in ranked[: 1 if only_best else None]:
            self.propose(sequence)

    def add_cuts(self) -> None:
        """Record minimum cuts at the position of the peak of each base order."""
        most = max(3, min(tuning.CUTS, tuning.CUT_STEPS // len(self.steps.nodes)))
        for b, moves in enumerate(self.moves):
            moves.load(())
            schedule = moves.schedule
            moment = schedule.live.peak_key() // schedule.n
            for steps in cuts(schedule, moment, most):
                moves.load(keys_of(schedule, moment, steps))
                self.record(b, "cut")

    def propose(self, sequence: Sequence[int]) -> None:
        """Record a sequence: its first runs are the base order, the others become keys.

        A step that runs several times between two first runs is taken to run there once.
        """
        base = list(dict.fromkeys(sequence))
        n, place = len(base) + 1, {s: k for k, s in enumerate(base)}
        interval, keys = 0, set[int]()
        for s in sequence:
            if place[s] == interval:
                interval += 1
            else:
                keys.add(interval * n + place[s])
        b = self._base(base)
        self.moves[b].load(keys)
        self.record(b, "proposed")

    def record(self, b: int, origin: str = "search") -> Candidate:
        """Keep the present state of the schedule of base order `b` as a candidate."""
        moves = self.moves[b]
        schedule, keys = moves.schedule, tuple(sorted(moves.schedule.keys))
        made = Candidate(schedule.peak_bytes(), schedule.cost, moves.cost, b, keys, origin)
        self.candidates.append(made)
        if len(self.candidates) > tuning.POOL_SIZE:
            self.candidates = self.front()
        return made

    def front(self) -> list[Candidate]:
        """The candidates than which none has both a smaller peak and a smaller weight, by peak."""
        return undominated(self.candidates, lambda c: (c.peak_bytes, c.weight))

    def starts(self, budget: int) -> list[Candidate]:
        """The most promising candidates of each origin: cheap, and not far above the budget."""
        left = dict(tuning.STARTS_OF_LARGE if self.large else tuning.STARTS)
        chosen, ranked = [], sorted(
            dict.fromkeys(self.candidates),
            key=lambda c: _over(c.peak_bytes, budget) + c.weight / self.total,
        )  # fmt: skip
        for candidate in ranked:
            if left[candidate.origin]:
                left[candidate.origin] -= 1
                chosen.append(candidate)
        return chosen or ranked[:1]

    def starts_within(self, max_cost: float) -> list[Candidate]:
        """The candidate of each origin with the smallest peak that costs at most that; by peak."""
        best: dict[str, Candidate] = {}
        for candidate in sorted(self.candidates, key=lambda c: (c.peak_bytes, c.weight)):
            if candidate.cost <= max_cost:
                best.setdefault(candidate.origin, candidate)
        return list(best.values())

    def cheapest(self, budget: int) -> Optional[Candidate]:
        """The cheapest candidate within the budget; `None` where none is."""
        able = [c for c in self.candidates if c.peak_bytes <= budget]
        return min(able, key=lambda c: (c.weight, c.peak_bytes), default=None)

    def smallest_peak(self, max_cost: float) -> Candidate:
        """The candidate with the smallest peak among those that cost at most `max_cost`.

        There always is one: a base order without recomputation costs nothing.
        """
        able = [c for c in self.candidates if c.cost <= max_cost]
        return min(able, key=lambda c: (c.peak_bytes, c.weight))

    def report(self, candidate: Candidate, what: str) -> None:
        """Tell the caller's `progress`, if there is one, what was reached for `what`."""
        if self.progress is not None:
            part = candidate.cost / self.total
            self.progress(f"{what}: {candidate.peak_bytes:,} B for {part:.2%} more work")

    def _base(self, base: list[int]) -> int:
        """The number of a base order; a new one is recorded as a candidate of its own."""
        if base not in self.bases:
            self.bases.append(base)
            self.moves.append(Moves(EditableSchedule(self.steps, base)))
            self.record(len(self.bases) - 1, "plain")
        return self.bases.index(base)


def _over(peak: int, budget: int) -> float:
    """Bytes above the budget, in the units of relative cost."""
    return tuning.OVER_WEIGHT * max(0, peak - budget) / max(1, budget)
