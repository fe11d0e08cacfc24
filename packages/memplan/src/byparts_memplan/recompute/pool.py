"""What was found so far: schedules of one graph around several base orders, and where to begin.

Every schedule that is met is kept, with its peak and cost: plain orders, minimum cuts, schedules of
chains, and what was found for other budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Optional

from byparts_memplan.recompute.cut import cuts, keys_of
from byparts_memplan.recompute.found import Found, undominated
from byparts_memplan.recompute.moves import Moves
from byparts_memplan.recompute.schedule import Schedule
from byparts_memplan.steps import Steps

Progress = Callable[[str], None]

_LARGE = 3000  # steps
_CUTS = 12  # of each base order
_POOL = 128
_STARTS = {"search": 2, "cut": 3, "proposed": 2, "plain": 1}  # repaired for a budget, by origin
_STARTS_OF_LARGE = {"search": 1, "cut": 1, "proposed": 1, "plain": 0}


class Pool:
    """Schedules of one graph.

    Attributes:
        moves: by base order, the schedule that is worked on.
        found: what was found, in order.
        large: whether the graph is, so that it is better to be quick.
        total: cost of the plain graph.
    """

    def __init__(
        self, steps: Steps, base: Sequence[int], progress: Optional[Progress] = None
    ) -> None:
        self.steps, self.progress = steps, progress
        self.large = len(steps.nodes) > _LARGE
        self.moves: list[Moves] = []
        self.found: list[Found] = []
        self.bases: list[list[int]] = []
        self._base(list(base))
        self.total = self.moves[0].total

    @property
    def work(self) -> int:
        """Changes so far."""
        return sum(moves.work for moves in self.moves)

    def loaded(self, found: Found) -> Moves:
        """The schedule, to be worked on."""
        moves = self.moves[found.base]
        moves.load(found.keys)
        return moves

    def consider(
        self, sequences: Iterable[Sequence[int]], budget: Optional[int], limit: Optional[float]
    ) -> None:
        """Propose the most promising of some sequences; `limit` is a share of all costs."""
        steps, n, ranked = self.steps, len(self.steps.nodes), []
        few = self.large and (budget is not None or limit is not None)
        dearest = inf if limit is None or not few else 1 + 1.2 * limit
        for i, sequence in enumerate(sequences):
            cost = steps.total_cost(sequence) / self.total
            if len(sequence) > 8 * n or cost > dearest:
                continue  # nobody wants that
            peak = steps.peak_bytes(sequence)
            if budget is not None:
                rank = cost + 3 * max(0, peak - budget) / max(1, budget)
            else:
                rank = cost if limit is None else peak * (1 + 3 * max(0.0, cost - 1 - limit))
            ranked.append((rank, i, sequence))
        ranked.sort(key=lambda entry: entry[:2])
        for _, _, sequence in ranked[: 1 if few else None]:
            self.propose(sequence)

    def cut(self) -> None:
        """Minimum cuts at the worst moment of each base order."""
        most = max(3, min(_CUTS, 20_000 // len(self.steps.nodes)))
        for b, moves in enumerate(self.moves):
            moves.load(())
            schedule = moves.schedule
            moment = schedule.curve.worst() // schedule.n
            for steps in cuts(schedule, moment, most):
                moves.load(keys_of(schedule, moment, steps))
                self.note(b, "cut")

    def propose(self, sequence: Sequence[int]) -> None:
        """A sequence; a step comes again at most once between two new ones."""
        base = list(dict.fromkeys(sequence))
        n, place = len(base) + 1, {s: k for k, s in enumerate(base)}
        stage, keys = 0, set[int]()
        for s in sequence:
            if place[s] == stage:
                stage += 1
            else:
                keys.add(stage * n + place[s])
        b = self._base(base)
        self.moves[b].load(keys)
        self.note(b, "proposed")

    def note(self, b: int, origin: str = "search") -> Found:
        """Keep what a schedule is now."""
        moves = self.moves[b]
        schedule = moves.schedule
        keys = tuple(sorted(schedule.keys))
        found = Found(schedule.peak_bytes(), schedule.cost, moves.cost, b, keys, origin)
        self.found.append(found)
        if len(self.found) > _POOL:
            self.found = undominated(self.found)
        return found

    def starts(self, budget: int) -> list[Found]:
        """The most promising of each origin: cheap, and not far above the budget."""

        def promise(found: Found) -> float:
            over = 3 * max(0, found.peak_bytes - budget) / max(1, budget)
            return over + found.weight / self.total

        chosen = []
        left = dict(_STARTS_OF_LARGE if self.large else _STARTS)
        ranked = sorted(dict.fromkeys(self.found), key=promise)
        for found in ranked:
            if left[found.origin]:
                left[found.origin] -= 1
                chosen.append(found)
        return chosen or ranked[:1]

    def starts_within(self, limit: float) -> list[Found]:
        """Of each origin the one with the smallest peak at most this dear; the best first."""
        best: dict[str, Found] = {}
        for found in sorted(self.found, key=lambda f: (f.peak_bytes, f.weight)):
            if found.cost <= limit:
                best.setdefault(found.origin, found)
        return list(best.values())

    def cheapest(self, budget: int) -> Optional[Found]:
        """Within the budget; `None` where nothing is."""
        able = [f for f in self.found if f.peak_bytes <= budget]
        return min(able, key=lambda f: (f.weight, f.peak_bytes), default=None)

    def lowest(self, limit: float) -> Found:
        """With at most this cost; a plain order always is."""
        able = [f for f in self.found if f.cost <= limit]
        return min(able, key=lambda f: (f.peak_bytes, f.weight))

    def say(self, found: Found, what: str) -> None:
        """To whoever wants to know how far it is."""
        if self.progress is not None:
            part = found.cost / self.total
            self.progress(f"{what}: {found.peak_bytes:,} B for {part:.2%} more work")

    def _base(self, base: list[int]) -> int:
        """The number of a base order; a new one is kept as it is, too."""
        if base not in self.bases:
            self.bases.append(base)
            self.moves.append(Moves(Schedule(self.steps, base)))
            self.note(len(self.bases) - 1, "plain")
        return self.bases.index(base)
