"""The search for what to compute again: many starts, greedy repair, then ruin and recreate.

Every schedule that is met on the way is kept in one pool, with its peak and cost: plain orders,
minimum cuts, schedules of chains, and what was found for other budgets.  For a budget the most
promising few of the pool are repaired and released, and the best is improved: part of its
recomputations (a stretch of time, of steps, or any) is taken back and repaired anew with some
noise, and what is no worse is kept (large neighbourhood search, Shaw 1998; ruin and recreate,
Schrimpf et al. 2000).  For a limit of cost the budget is bisected, then lowered step by step.
Effort is counted in changes of a schedule, so the same arguments give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from random import Random
from typing import Optional

from byparts_memplan.recompute.cut import cuts, keys_of
from byparts_memplan.recompute.found import Found, floor_of, hopeless, undominated
from byparts_memplan.recompute.moves import Moves
from byparts_memplan.recompute.repair import Manner, release, repair
from byparts_memplan.recompute.schedule import Schedule
from byparts_memplan.steps import Steps

Progress = Callable[[str], None]

_WORK = 200_000  # changes for a budget, at effort 1: some seconds; less for small graphs
_STARTS = {"search": 2, "cut": 3, "proposed": 2, "plain": 1}  # repaired for a budget, by origin
_STARTS_OF_LARGE = {"search": 1, "cut": 1, "proposed": 1, "plain": 0}
_CUTS = 12  # likewise
_POOL = 128
_SLACKS = 1.1, 1.5  # how far beyond its limit the cost may go, for what comes back
_DEEPEST = 0.002  # of the peak: where lowering it ends, for large graphs


class Search:
    """A pool of schedules of one graph.

    Attributes:
        moves: by base order, the schedule that is worked on.
        pool: what was found, in order.
        large: whether the graph is, so that it is better to be quick.
        patience: changes after which greedy gives up what it began.
        floor: no schedule can have a smaller peak: what the hungriest step touches.
        least: no schedule within the budget can compute less again; a share of all costs.
        proved: what is proved, in words.
        asked: effort and seed, as they were given.
    """

    def __init__(
        self,
        steps: Steps,
        bases: Iterable[Sequence[int]],
        *,
        effort: float = 1.0,
        seed: int = 0,
        progress: Optional[Progress] = None,
    ) -> None:
        self.steps, self.progress, self.asked = steps, progress, (effort, seed)
        self.large = len(steps.nodes) > 3000
        self.effort = effort * min(_WORK, 500 * len(steps.nodes)) / (8 if self.large else 1)
        self.patience = min(_WORK, _WORK * effort + 60 * len(steps.nodes))
        self.random = Random(seed)
        self.moves: list[Moves] = []
        self.pool: list[Found] = []
        self.bases: list[list[int]] = []
        for base in bases:
            self._base(list(base))
        self.floor, self.least, self.proved = floor_of(steps), 0.0, ""

    def again(self) -> Search:
        """Another one as this was in the beginning, but for all base orders but the first."""
        (effort, seed), first = self.asked, self.bases[:1]
        return Search(self.steps, first, effort=effort, seed=seed, progress=self.progress)

    @property
    def work(self) -> int:
        """Changes so far."""
        return sum(moves.work for moves in self.moves)

    def sequence(self, found: Found) -> list[int]:
        """The steps as they run."""
        moves = self.moves[found.base]
        moves.load(found.keys)
        return moves.schedule.sequence()

    def consider(
        self, sequences: Iterable[Sequence[int]], budget: Optional[int], limit: Optional[float]
    ) -> None:
        """Propose the most promising of some sequences; `limit` is a share of all costs."""
        steps, n, ranked = self.steps, len(self.steps.nodes), []
        whole = self.moves[0].total
        for i, sequence in enumerate(sequences):
            if len(sequence) > 8 * n:
                continue  # nobody wants that
            peak, cost = steps.peak_bytes(sequence), steps.total_cost(sequence) / whole
            if budget is not None:
                rank = cost + 3 * max(0, peak - budget) / max(1, budget)
            else:
                rank = cost if limit is None else peak * (1 + 3 * max(0.0, cost - 1 - limit))
            ranked.append((rank, i, sequence))
        ranked.sort(key=lambda entry: entry[:2])
        few = self.large and (budget is not None or limit is not None)
        for _, _, sequence in ranked[: 3 if few else None]:
            self.propose(sequence)

    def cut(self) -> None:
        """Put minimum cuts at the worst moment of each base order into the pool."""
        most = max(3, min(_CUTS, 20_000 // len(self.steps.nodes)))
        for b, moves in enumerate(self.moves):
            moves.load(())
            schedule = moves.schedule
            moment = schedule.curve.worst() // schedule.n
            for steps in cuts(schedule, moment, most):
                moves.load(keys_of(schedule, moment, steps))
                self._note(b, "cut")

    def propose(self, sequence: Sequence[int]) -> None:
        """Put a sequence into the pool; a step comes again at most once between two new ones."""
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
        self._note(b, "proposed")

    def within(self, budget: int, work: float = 0.0, enough: float = -inf) -> Optional[Found]:
        """The cheapest schedule found within the budget; work to improve it until it is `enough`.

        `None` where none was found.
        """
        for start in self._starts(budget):
            best = self._cheapest(budget)
            if self.large and best is not None and hopeless(start, best, budget):
                continue
            moves = self.moves[start.base]
            moves.load(start.keys)
            self._settle(start.base, budget, Manner(work=self.patience))
        best = self._cheapest(budget)
        if best is not None and work > 0 and best.keys and best.cost > enough:
            self._improve(best, budget, work, enough)
            best = self._cheapest(budget)
        return best

    def cheapest(self, budget: int) -> Found:
        """Within the budget, with all the effort there is; the smallest peak where none is."""
        found = self.within(budget, self.effort)
        if found is not None:
            return found
        lowest = self.smallest(inf, budget)
        return lowest if lowest.peak_bytes > budget else self.within(budget, self.effort) or lowest

    def smallest(self, limit: float, enough: int = 0) -> Found:
        """The smallest peak with at most this cost of recomputation; stops where it is enough."""
        if self.large:
            return self._descend(limit, enough)
        best = self._lowest(limit)
        lower = max(self.floor, enough) - 1
        while best.peak_bytes - lower > max(1, best.peak_bytes // 64):
            middle = (best.peak_bytes + lower) // 2
            found = self.within(middle)
            if found is not None and found.cost <= limit:
                best = self._lowest(limit)
            else:
                lower = middle
        return self._squeeze(limit, enough)

    def front(self) -> list[Found]:
        """Of the pool, those that nothing is better than; by peak."""
        return undominated(self.pool)

    def _descend(self, limit: float, enough: int) -> Found:
        """For large graphs: fewer starts, and less patience with what becomes too dear."""
        work, dearest = max(self.effort, _WORK / 64), 3 * limit + 1e-4 * self.moves[0].total
        end = self.work + 40 * work
        lower = max(self.floor, enough) - 1
        best = self._lowest(limit)
        while best.peak_bytes - lower > best.peak_bytes // 16 and self.work < end:
            middle = (best.peak_bytes + lower) // 2
            start = self._starts(middle)[0]
            self.moves[start.base].load(start.keys)
            self._settle(start.base, middle, Manner(limit=dearest, work=4 * work))
            best = self._lowest(limit)
            lower = lower if best.peak_bytes <= middle else middle
        for found in self._starts_within(limit):
            self._sink(found, 0.08, limit, enough, end)
        best = self._lowest(limit)
        if best.keys and self.work < end:
            self._improve(best, best.peak_bytes, self.effort, -inf)
            self._sink(self._cheapest(best.peak_bytes) or best, 0.02, limit, enough, end)
        return self._lowest(limit)

    def _sink(self, start: Found, part: float, limit: float, enough: int, end: float) -> None:
        """Lower the budget by a part of it, and by half of that where it is too much, and so on."""
        lowest, slack = max(self.floor, enough), _SLACKS[0]
        while part > _DEEPEST and self.work < end and start.peak_bytes > lowest:
            budget = max(lowest, int(start.peak_bytes * (1 - part)))
            after = self._lower(start, budget, limit, slack)
            if after is not None:
                start = after
            elif slack != _SLACKS[-1]:
                slack = _SLACKS[-1]
            else:
                part, slack = part / 2, _SLACKS[0]

    def _lower(self, start: Found, budget: int, limit: float, slack: float) -> Optional[Found]:
        """What a schedule becomes within a smaller budget; `None` where the cost is too much.

        Gone too far down, it may come out cheaper on the way back up.
        """
        moves = self.moves[start.base]
        moves.load(start.keys)
        manner = Manner(limit=slack * limit + 1e-4 * moves.total, work=4 * self.effort)
        if not repair(moves, budget, self.random, manner):
            budget = max(budget, moves.schedule.peak_bytes())
        room = start.peak_bytes - budget
        for part in (0, 0.5, 0.9) if room > 0 else ():
            release(moves, int(budget + part * room), self.effort)
            self._say(found := self._note(start.base), f"within {budget:,} B")
            if found.cost <= limit:
                return found
        return None

    def _starts_within(self, limit: float) -> list[Found]:
        """Of each origin the one with the smallest peak; the most promising first."""
        best: dict[str, Found] = {}
        for found in sorted(self.pool, key=lambda f: (f.peak_bytes, f.weight)):
            if found.cost <= limit:
                best.setdefault(found.origin, found)
        return list(best.values())[:2]

    def _squeeze(self, limit: float, enough: int) -> Found:
        """Lower the budget by less and less, each time searching for the limit of cost.

        Then make what was found cheaper, which leaves some cost to lower it a little more.
        """
        end = self.work + 3 * self.effort
        for part, least in ((0.02, 5e-4), (1e-3, 1e-4)):
            best = self._lowest(limit)
            while part > least and self.work < end and best.peak_bytes > max(enough, self.floor):
                budget = max(self.floor, enough, int(best.peak_bytes * (1 - part)))
                self.within(budget, self.effort / 6, limit)
                found = self._lowest(limit)
                if found.peak_bytes == best.peak_bytes:
                    part /= 2
                self._say(found, f"with at most {limit / self.moves[0].total:.2%} more work")
                best = found
            self.within(best.peak_bytes, self.effort / 6, 0.0)
        return self._lowest(limit)

    def _improve(self, best: Found, budget: int, work: float, enough: float) -> None:
        """Ruin and recreate from a schedule within the budget."""
        moves, random = self.moves[best.base], self.random
        moves.load(best.keys)
        current, least, end = moves.cost, moves.cost, moves.work + work
        most = work / 2 if self.large else inf
        while moves.work < end:
            moves.forget()
            mark = moves.mark()
            moves.work += 20  # where there is nothing to change, it ends too
            self._ruin(moves)
            limit = current * 1.01 + 1e-3 * moves.total
            tries, noise = random.choice((2, 4, 8)), random.choice((0.0, 0.3, 1.0))
            if repair(moves, budget, random, Manner(tries, noise, limit, most)):
                release(moves, budget)
                if moves.cost <= current:
                    current = moves.cost
                    if current < least - 1e-9 * moves.total:
                        least = current
                        self._say(self._note(best.base), f"within {budget:,} B")
                        if moves.schedule.cost <= enough:
                            return
                    continue
            moves.undo(mark)

    def _ruin(self, moves: Moves) -> None:
        """Keep some of what is computed again, and perhaps free something instead."""
        random, schedule, n = self.random, moves.schedule, moves.schedule.n
        keys = sorted(schedule.keys)
        kind = random.random()
        if keys and kind < 0.7:
            by_stage, key = kind < 0.4, random.choice(keys)
            width = max(1, int(n * random.choice((0.01, 0.03, 0.06, 0.1, 0.2))))
            if by_stage:
                chosen = [k for k in keys if abs(k // n - key // n) <= width]
            else:
                chosen = [k for k in keys if abs(k % n - key % n) <= width]
        else:
            part = random.choice((0.05, 0.15, 0.3))
            chosen = [k for k in keys if random.random() < part]
        for k in chosen:
            if k in schedule.keys:
                moves.keep(k)
        if random.random() < 0.5:
            gaps = list(moves.gaps(schedule.curve.worst()))
            if gaps:
                (gap,) = random.choices(gaps, [schedule.size[g.storage] for g in gaps])
                moves.free(gap.writer, gap.reader // n, random.choice((0.0, 0.5, 1.0)), random)

    def _settle(self, b: int, budget: int, manner: Manner) -> None:
        """Bring what is loaded within the budget, as cheaply as greedy can, and note it.

        In some stages: for a budget far below, greedy prefers what lives long to what lives where
        the peak is.
        """
        moves = self.moves[b]
        peak = moves.schedule.curve.peak()
        if moves.schedule.keys:
            release(moves, max(budget, peak), manner.work / 4)
        target = peak
        while target > budget:
            target = max(budget, int(target * 0.8))
            if not repair(moves, target, self.random, manner):
                break
        else:
            release(moves, budget, manner.work)
        self._say(self._note(b), f"within {budget:,} B")

    def _starts(self, budget: int) -> list[Found]:
        """The most promising of each origin: cheap, and not far above the budget."""
        total = self.moves[0].total

        def promise(found: Found) -> float:
            return 3 * max(0, found.peak_bytes - budget) / max(1, budget) + found.weight / total

        chosen = []
        left = dict(_STARTS_OF_LARGE if self.large else _STARTS)
        for found in sorted(dict.fromkeys(self.pool), key=promise):
            if left[found.origin]:
                left[found.origin] -= 1
                chosen.append(found)
        return chosen

    def _base(self, base: list[int]) -> int:
        """The number of a base order; a new one goes into the pool as it is."""
        if base not in self.bases:
            self.bases.append(base)
            self.moves.append(Moves(Schedule(self.steps, base)))
            self._note(len(self.bases) - 1, "plain")
        return self.bases.index(base)

    def _note(self, b: int, origin: str = "search") -> Found:
        moves = self.moves[b]
        schedule = moves.schedule
        keys = tuple(sorted(schedule.keys))
        found = Found(schedule.peak_bytes(), schedule.cost, moves.cost, b, keys, origin)
        self.pool.append(found)
        if len(self.pool) > _POOL:
            self.pool = undominated(self.pool)
        return found

    def _cheapest(self, budget: int) -> Optional[Found]:
        able = [f for f in self.pool if f.peak_bytes <= budget]
        return min(able, key=lambda f: (f.weight, f.peak_bytes), default=None)

    def _lowest(self, limit: float) -> Found:
        """Of the pool, with at most this cost; a plain order always is."""
        able = [f for f in self.pool if f.cost <= limit]
        return min(able, key=lambda f: (f.peak_bytes, f.weight))

    def _say(self, found: Found, what: str) -> None:
        if self.progress is not None:
            part = found.cost / self.moves[0].total
            self.progress(f"{what}: {found.peak_bytes:,} B for {part:.2%} more work")
