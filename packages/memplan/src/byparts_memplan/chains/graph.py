"""A training graph as a chain: its forward steps cut into stages, its backward steps dealt to them.

A cut is best where little crosses: before and after a block of a network, between two steps of
time.  What crosses far more cuts than its like (the outputs of all steps of time, read together at
the end) stays where it is and counts for no stage.  A backward step belongs to the last stage to
come backward among those whose values it reads.  What stages hold is measured in the sequence that
saves everything, so that sharing, temporaries and feeds count as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import accumulate

from byparts_memplan.chains.chain import Chain, Schedule
from byparts_memplan.chains.lean import cheap_steps, just_in_time
from byparts_memplan.chains.measure import measured
from byparts_memplan.chains.turn import depths, earlier
from byparts_memplan.steps import Steps


class StepChain:
    """Stages of a graph.

    Attributes:
        forward, backward: steps by stage, in the order in which they run.
        chain: what the stages cost and hold.
        far: storages that are never computed again.
    """

    chain: Chain

    def __init__(
        self, steps: Steps, forward: Sequence[int], most: int, *, lean: bool = False
    ) -> None:
        """At most about `most` stages; with `lean`, they save nothing that is cheap to compute."""
        self.steps, self._ahead, self._before = steps, list(forward), earlier(steps)
        self._crossings()
        cuts = self._cuts(most)
        self.forward = _split(self._ahead, cuts)
        self.stage_of = {s: i for i, part in enumerate(self.forward) for s in part}
        self.far = self._far(max(3, len(self.forward) // 10))
        self.backward = self._frugal(self._deal())
        if lean:
            self.backward = self._lean()
        self.chain = measured(
            steps, self.forward, self.backward, frozenset(self.written) - self.far
        )

    def sequence(self, schedule: Schedule) -> list[int]:
        """Steps in the order of the schedule, again only those whose results are read again."""
        found: list[int] = []
        run: set[int] = set()
        for kind, i in schedule.operations:
            if kind == "backward":
                found += self.backward[i]
            elif kind != "drop":
                found += self._again[i] if i in run else self.forward[i]
                run.add(i)
        return needed(self.steps, found, self._ignored)

    def plain(self) -> list[int]:
        """The sequence that computes nothing again."""
        return [s for part in (*self.forward, *reversed(self.backward)) for s in part]

    def _crossings(self) -> None:
        """By storage that is written forward: the positions of its writer and last reader there."""
        steps, at = self.steps, {s: p for p, s in enumerate(self._ahead)}
        self.written = {w: p for p, s in enumerate(self._ahead) for w in steps.writes[s]}
        self.read_last = dict(self.written)
        for p, s in enumerate(self._ahead):
            for r in steps.reads[s]:
                if r in self.written:
                    self.read_last[r] = p
        self.saved = {
            r for s, reads in enumerate(steps.reads) if s not in at for r in reads
        } & self.written.keys()

    def _cuts(self, most: int) -> list[int]:
        """Where stages begin: of `most` windows that save equally much, where least crosses."""
        steps, length = self.steps, len(self._ahead)
        change, weight = [0] * (length + 1), [0] * length
        for r, p in self.written.items():
            if self.read_last[r] - p <= max(8, length // 4):
                size = steps.size[r] * (1 if r in self.saved else 2)
                change[p + 1] += size
                change[self.read_last[r] + 1] -= size
            if r in self.saved:
                weight[p] += steps.size[r]
        crossing = list(accumulate(change))
        total = sum(weight)
        best: dict[int, int] = {}  # window -> its cut
        for p, before in enumerate(accumulate(weight[:-1]), start=1):
            window = before * most // max(1, total)
            if window not in best or crossing[p] <= crossing[best[window]]:
                best[window] = p
        return sorted({p for p in best.values() if 0 < p < length})

    def _far(self, reach: int) -> frozenset[int]:
        """Storages that cross more cuts than that."""
        at = [self.stage_of[s] for s in self._ahead]
        last = self.read_last
        return frozenset(r for r, p in self.written.items() if at[last[r]] - at[p] > reach)

    def _deal(self) -> list[list[int]]:
        """Backward steps by stage."""
        steps, last = self.steps, len(self.forward) - 1
        touched = self._touched()
        level: dict[int, int] = {}
        for s in range(len(steps.nodes)):
            if s not in self.stage_of:
                level[s] = self._level(s, level, touched)
        found: list[list[int]] = [[] for _ in self.forward]
        wanted: dict[int, int] = {}  # step -> the stage that needs it first
        for s in sorted(level, reverse=True):
            if level[s] > last:  # it reads nothing but weights: when somebody wants it
                level[s] = wanted.get(s, last)
            found[level[s]].append(s)
            for w in self._before[s]:
                wanted[w] = max(wanted.get(w, 0), level[s])
        return [part[::-1] for part in found]

    def _level(self, s: int, level: dict[int, int], touched: dict[int, list[int]]) -> int:
        """The stage after whose later ones a backward step can run; one too many: any."""
        steps, free = self.steps, len(self.forward)
        found = free
        for w in self._before[s]:
            found = min(found, level.get(w, free))
        for r in steps.reads[s]:
            if r in touched:
                at = bisect_right(touched[r], found)
                found = min(found, touched[r][at - 1]) if at else found
        return found

    def _touched(self) -> dict[int, list[int]]:
        """Storage -> the stages that write and read it forward, in order."""
        found: dict[int, list[int]] = {}
        for s in self._ahead:
            for r in (*self.steps.writes[s], *self.steps.reads[s]):
                if r in self.written:
                    stages = found.setdefault(r, [])
                    if not stages or stages[-1] != self.stage_of[s]:
                        stages.append(self.stage_of[s])
        return found

    def _frugal(self, given: list[list[int]]) -> list[list[int]]:
        """In the given order within a stage, or by depth: what has the lower peak.

        By depth, the gradient of a weight is computed as soon as it can be.
        """
        depth = depths(self._before)
        other = [sorted(part, key=lambda s: (depth[s], s)) for part in given]
        ahead = [s for part in self.forward for s in part]
        peaks = []
        for parts in (given, other):
            sequence = [*ahead, *(s for part in reversed(parts) for s in part)]
            peaks.append(self.steps.peak_bytes(sequence))
        return other if peaks[1] < peaks[0] else given

    @cached_property
    def _ignored(self) -> frozenset[int]:
        """Steps that somebody needs to have run, and does not read."""
        steps = self.steps
        read = ({steps.writer.get(r) for r in reads} for reads in steps.reads)
        pairs = zip(self._before, read, strict=True)
        return frozenset(w for before, writers in pairs for w in before if w not in writers)

    def _lean(self) -> list[list[int]]:
        steps, stage_of, ahead = self.steps, self.stage_of, self._ahead
        turn = {s: i for i, part in enumerate(self.backward) for s in part}
        within = set(ahead)
        for s, i in turn.items():
            within -= {
                w
                for r in steps.reads[s]
                if (w := steps.writer.get(r, -1)) in within and stage_of[w] != i
            }
        for r, p in self.written.items():
            if r in self.far or stage_of[ahead[p]] != stage_of[ahead[self.read_last[r]]]:
                within.discard(ahead[p])
        cheap = cheap_steps(steps, within, self.saved)
        parts = enumerate(self.backward)
        return [just_in_time(steps, part, cheap, stage_of, i) for i, part in parts]

    @cached_property
    def _again(self) -> list[list[int]]:
        """What running a stage again may run."""
        steps = self.steps
        return [
            [s for s in part if steps.again[s] and self.far.isdisjoint(steps.writes[s])]
            for part in self.forward
        ]


def needed(
    steps: Steps, sequence: Sequence[int], first: Collection[int] = frozenset()
) -> list[int]:
    """The sequence without computations that nobody reads before they are made anew.

    Steps in `first` keep their first run all the same.  O(reads of the sequence).
    """
    left, kept = Counter(sequence), set[int]()
    wanted = set(steps.kept)
    found = []
    for s in reversed(sequence):
        left[s] -= 1
        unread = wanted.isdisjoint(steps.writes[s])
        if unread and (left[s] or (s in kept and s not in first)):
            continue
        kept.add(s)
        wanted.difference_update(steps.writes[s])
        wanted.update(steps.reads[s])
        found.append(s)
    return found[::-1]


def _split(items: Sequence[int], cuts: Sequence[int]) -> list[list[int]]:
    ends = zip((0, *cuts), (*cuts, len(items)), strict=True)
    return [list(items[a:b]) for a, b in ends]
