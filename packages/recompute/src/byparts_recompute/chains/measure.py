"""Measure what the stages of a graph cost and hold, in the sequence that saves everything.

The model of a chain knows which bytes are held at each stage: saved sets, the gradient that goes
back, the gradients of weights.  They are subtracted from the bytes that are truly alive there; the
rest are the extra bytes of the stage.  So temporaries, and outputs that are written over inputs,
count as they are.  O(reads + storages * stages they cross).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from byparts_memplan.steps import Steps
from byparts_recompute.chains.chain import Chain, Stage

Parts = Sequence[Sequence[int]]


def measure_chain(steps: Steps, forward: Parts, backward: Parts, own: frozenset[int]) -> Chain:
    """The chain of these stages.  `own`: storages written forward that stages save or pass on."""
    return Chain(tuple(_Measure(steps, forward, backward, own).stages()))


class _Measure:
    def __init__(self, steps: Steps, forward: Parts, backward: Parts, own: frozenset[int]) -> None:
        self.steps, self.forward, self.backward, self.own = steps, forward, backward, own
        self.length = len(forward)
        self.stage_of = {s: i for i, part in enumerate(forward) for s in part}
        self.backward_stage_of = {s: i for i, part in enumerate(backward) for s in part}
        self.crossing, self.saved, self.reads_input = self._held_forward()
        self.gradients, self.kept = self._held_backward()
        self.forward_alone = self._worst(forward)
        worst = self._worst((*forward, *reversed(backward)))
        self.saving, self.back = worst[: self.length], worst[: self.length - 1 : -1]

    def stages(self) -> list[Stage]:
        """The stages in order."""
        stages, held, left, cost = [], 0, sum(self.kept), self.steps.cost
        for i, part in enumerate(self.forward):
            input_bytes = self.crossing[i - 1] if i else 0
            held += self.saved[i]
            extra = self.forward_alone[i] - input_bytes - self.crossing[i]
            stage = Stage(
                forward_cost=sum([cost[s] for s in part]),
                backward_cost=sum([cost[s] for s in self.backward[i]]),
                output_bytes=self.crossing[i],
                saved_bytes=self.saved[i],
                forward_extra_bytes=max(0, extra, self.saving[i] - held),
                backward_extra_bytes=max(0, self.back[i] - held - self.gradients[i] - left),
                gradient_bytes=self.gradients[i],
                kept_bytes=self.kept[i],
                reads_input=self.reads_input[i],
            )
            stages.append(stage)
            left -= self.kept[i]
        return stages

    def _held_forward(self) -> tuple[list[int], list[int], list[bool]]:
        """By stage: bytes passed on; bytes saved, with these; whether backward reads its input."""
        steps, own = self.steps, self.own
        last = {r: self.stage_of[steps.writer[r]] for r in own}
        for i, part in enumerate(self.forward):
            last.update((r, i) for s in part for r in steps.reads[s] if r in own)
        change, saved = [0] * (self.length + 1), [0] * self.length
        reads_input = [False] * self.length
        read = set()
        for s, i in self.backward_stage_of.items():
            for r in own.intersection(steps.reads[s]):
                if self.backward_stage_of.get(steps.writer[r]) != i:  # not repeated in this stage
                    read.add(r)
                    reads_input[i] |= self.stage_of[steps.writer[r]] < i
        for r in own:
            i = self.stage_of[steps.writer[r]]
            change[i] += steps.size[r]
            change[last[r]] -= steps.size[r]
            if r in read and last[r] == i:
                saved[i] += steps.size[r]
        crossing = list(accumulate(change[:-1]))
        return crossing, [a + b for a, b in zip(saved, crossing, strict=True)], reads_input

    def _held_backward(self) -> tuple[list[int], list[int]]:
        """By stage: bytes of the gradients that reach it, and bytes that it leaves to the end."""
        steps, stage_of = self.steps, self.backward_stage_of
        first: dict[int, int] = {}  # storage -> the first stage that reads it, the last to run
        kept = [0] * self.length
        for s, i in stage_of.items():
            for r in steps.reads[s]:
                if steps.writer.get(r) in stage_of:
                    first[r] = min(first.get(r, i), i)
            kept[i] += sum([steps.size[w] for w in steps.writes[s] if w in steps.kept])
        change = [0] * (self.length + 1)
        for r, i in first.items():
            if r not in steps.kept:
                change[i] += steps.size[r]
                change[stage_of[steps.writer[r]]] -= steps.size[r]
        return list(accumulate(change[:-1])), kept

    def _worst(self, parts: Parts) -> list[int]:
        """The most bytes alive in each of these parts of a sequence."""
        live = self.steps.live_bytes([s for part in parts for s in part])
        worst, end = [], 0
        for part in parts:
            worst.append(max(live[end : end + len(part)], default=0))
            end += len(part)
        return worst
