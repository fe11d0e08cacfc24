"""A training graph as a chain: steps divided into stages, each with a forward and a backward part.

Forward steps are cut where few bytes cross: between two blocks of a network, between two steps of
time.  A storage that crosses far more cuts than the others (the outputs of all steps of time, read
together at the end) is never computed again and belongs to no stage.  A backward step belongs to
the first stage, which is the last to run backward, of those whose values it reads.  The bytes of
stages are measured in the sequence that saves everything (`measure.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from byparts_graph_ir.model.cached_property import cached_property
from byparts_memplan.steps import Steps
from byparts_recompute import tuning
from byparts_recompute.chains.chain import Chain, Schedule
from byparts_recompute.chains.cheap_steps import repeat_before_readers, steps_to_repeat
from byparts_recompute.chains.forward_part import depths
from byparts_recompute.chains.measure import measure_chain
from byparts_recompute.needed_runs import without_unneeded_runs


class StepChain:
    """Stages of a graph.

    Attributes:
        forward, backward: steps by stage, in the order in which they run.
        chain: what the stages cost and hold.
        far: storages that are never computed again.
    """

    chain: Chain

    def __init__(
        self, steps: Steps, forward: Sequence[int], most: int, *, repeat_cheap: bool = False
    ) -> None:
        """At most about `most` stages.  With `repeat_cheap`, backward repeats cheap steps."""
        self.steps, self._ahead, self._before = steps, list(forward), steps.before
        self._crossings()
        cuts = self._cuts(most)
        self.forward = _split(self._ahead, cuts)
        self.stage_of = {s: i for i, part in enumerate(self.forward) for s in part}
        least, share = tuning.FAR_STAGES
        self.far = self._far(max(least, len(self.forward) // share))
        self.backward = self._better_order(self._backward_parts())
        if repeat_cheap:
            self.backward = self._with_cheap_steps_repeated()
        self.chain = measure_chain(
            steps, self.forward, self.backward, frozenset(self.written) - self.far
        )

    def sequence(self, schedule: Schedule) -> list[int]:
        """The steps of a schedule as they run; a step is repeated only where it is read again."""
        sequence: list[int] = []
        run: set[int] = set()
        for kind, i in schedule.operations:
            if kind == "backward":
                sequence += self.backward[i]
            elif kind != "drop":
                sequence += self._again[i] if i in run else self.forward[i]
                run.add(i)
        return without_unneeded_runs(self.steps, sequence)

    def plain(self) -> list[int]:
        """The sequence that computes nothing again."""
        return [s for part in (*self.forward, *reversed(self.backward)) for s in part]

    def _crossings(self) -> None:
        """Positions in the forward part of the writer and the last reader of each storage there.

        `saved` are those that backward steps read.
        """
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
        """The positions where stages begin.

        The forward part is divided into `most` windows that save equally many bytes; each is cut
        where the fewest bytes cross.
        """
        (shortest, share), steps, length = tuning.WINDOW, self.steps, len(self._ahead)
        change, weight = [0] * (length + 1), [0] * length
        for r, p in self.written.items():
            if self.read_last[r] - p <= max(shortest, length // share):
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
        """Storages that cross more cuts than `reach`."""
        at = [self.stage_of[s] for s in self._ahead]
        last = self.read_last
        return frozenset(r for r, p in self.written.items() if at[last[r]] - at[p] > reach)

    def _backward_parts(self) -> list[list[int]]:
        """The backward steps of each stage."""
        steps, last = self.steps, len(self.forward) - 1
        touched = self._touched()
        stage: dict[int, int] = {}
        for s in range(len(steps.nodes)):
            if s not in self.stage_of:
                stage[s] = self._backward_stage(s, stage, touched)
        parts: list[list[int]] = [[] for _ in self.forward]
        wanted: dict[int, int] = {}  # step -> the stage of its first reader
        for s in sorted(stage, reverse=True):
            if stage[s] > last:  # it reads nothing but weights: in the stage of its first reader
                stage[s] = wanted.get(s, last)
            parts[stage[s]].append(s)
            for w in self._before[s]:
                wanted[w] = max(wanted.get(w, 0), stage[s])
        return [part[::-1] for part in parts]

    def _backward_stage(self, s: int, stage: dict[int, int], touched: dict[int, list[int]]) -> int:
        """The last stage in whose backward a step can run, by what it reads and depends on.

        As many as there are stages where it can run in any.
        """
        steps, any_stage = self.steps, len(self.forward)
        last = any_stage
        for w in self._before[s]:
            last = min(last, stage.get(w, any_stage))
        for r in steps.reads[s]:
            if r in touched:
                at = bisect_right(touched[r], last)
                last = min(last, touched[r][at - 1]) if at else last
        return last

    def _touched(self) -> dict[int, list[int]]:
        """By storage, the stages that write or read it forward, in order."""
        touched: dict[int, list[int]] = {}
        for s in self._ahead:
            for r in (*self.steps.writes[s], *self.steps.reads[s]):
                if r in self.written:
                    stages = touched.setdefault(r, [])
                    if not stages or stages[-1] != self.stage_of[s]:
                        stages.append(self.stage_of[s])
        return touched

    def _better_order(self, as_planned: list[list[int]]) -> list[list[int]]:
        """Backward steps in the given order within each stage, or by depth: the lower peak.

        By depth, the gradient of a weight is computed as soon as it can be.
        """
        depth = depths(self._before)
        other = [sorted(part, key=lambda s: (depth[s], s)) for part in as_planned]
        ahead = [s for part in self.forward for s in part]
        peaks = []
        for parts in (as_planned, other):
            sequence = [*ahead, *(s for part in reversed(parts) for s in part)]
            peaks.append(self.steps.peak_bytes(sequence))
        return other if peaks[1] < peaks[0] else as_planned

    def _with_cheap_steps_repeated(self) -> list[list[int]]:
        """The backward parts with cheap steps repeated whose results only their stage reads."""
        steps, stage_of, ahead = self.steps, self.stage_of, self._ahead
        within = set(ahead)
        for s, i in [(s, i) for i, part in enumerate(self.backward) for s in part]:
            within -= {
                w
                for r in steps.reads[s]
                if (w := steps.writer.get(r, -1)) in within and stage_of[w] != i
            }
        for r, p in self.written.items():
            if r in self.far or stage_of[ahead[p]] != stage_of[ahead[self.read_last[r]]]:
                within.discard(ahead[p])
        cheap = steps_to_repeat(steps, within, self.saved)
        parts = enumerate(self.backward)
        return [repeat_before_readers(steps, part, cheap, stage_of, i) for i, part in parts]

    @cached_property
    def _again(self) -> list[list[int]]:
        """By stage, the forward steps that may run again."""
        steps = self.steps
        return [
            [s for s in part if steps.again[s] and self.far.isdisjoint(steps.writes[s])]
            for part in self.forward
        ]


def _split(items: Sequence[int], cuts: Sequence[int]) -> list[list[int]]:
    ends = zip((0, *cuts), (*cuts, len(items)), strict=True)
    return [list(items[a:b]) for a, b in ends]
