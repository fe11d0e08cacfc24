"""Puts stages that need nothing from each other into one launch.

A stage comes into the launch after the last one that touches what it touches, where one of the two
writes.  So the updates of all weights by an optimizer are one launch, as are the parts of a
concatenation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from byparts_gpu_ir.mapping.independence import stores_with_paths
from byparts_gpu_ir.mapping.stages import Stage
from byparts_gpu_ir.mapping.traffic import Access, accesses
from byparts_tensor_ir.schedule.legal import apart
from byparts_tensor_ir.statement import Buffer, If, walk
from byparts_tensor_ir.substitute import loads

Memory = Callable[[Buffer], Buffer]


def launches_of(stages: Sequence[Stage], memory: Memory) -> list[list[Stage]]:
    """The stages of each launch.  O(stages^2).

    Args:
        stages: in the order in which they are right one after the other.
        memory: stands for all buffers that may be the same bytes.
    """
    touched = [_touched(s) for s in stages]
    number: list[int] = []
    for k, mine in enumerate(touched):
        before = [number[j] + 1 for j in range(k) if _clash(touched[j], mine, memory)]
        number.append(max(before, default=0))
    count = max(number, default=-1) + 1
    return [[s for s, n in zip(stages, number, strict=True) if n == i] for i in range(count)]


def alike(stages: Sequence[Stage]) -> list[Stage]:
    """Stages of one launch in blocks of the same size, as far as that costs nothing."""
    if not stages:
        return []
    most = max(stages, key=lambda s: s.seconds)
    return [s.in_blocks_of(most.team.threads) for s in stages]


_Touched = tuple[list[Access], list[Access]]  # what is read, what is written


def _touched(stage: Stage) -> _Touched:
    reads = [Access(x.attr, x.args) for c in stage.conditions for x in loads(c)]
    writes: list[Access] = []
    for s, _ in stores_with_paths(stage.nest):
        reads += [a for a in accesses(s) if a.buffer.scope == "global"]
        writes += [Access(t, s.index) for t in s.targets if t.scope == "global"]
    reads += [Access(x.attr, x.args) for s in _conditions(stage) for x in loads(s.condition)]
    return reads, writes


def _conditions(stage: Stage) -> list[If]:
    return [s for s in walk(stage.rows.body) if isinstance(s, If)]


def _clash(first: _Touched, second: _Touched, memory: Memory) -> bool:
    """Whether the order of two stages matters."""
    pairs = [(w, a) for w in first[1] for a in (*second[0], *second[1])]
    pairs += [(w, a) for w in second[1] for a in first[0]]
    return any(memory(a.buffer) is memory(b.buffer) and not apart(a.at, b.at) for a, b in pairs)
