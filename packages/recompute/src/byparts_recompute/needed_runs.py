"""Leave out the runs of a sequence whose results no step reads.

A schedule around a given base order may have such runs: where a step runs again before its first
results are read, it ran first only because the base order has it there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from byparts_memplan.steps import Steps


def without_unneeded_runs(steps: Steps, sequence: Sequence[int]) -> list[int]:
    """The sequence without runs whose results are not read before the step runs again, or at all.

    Each step still runs once.  A step that others must come after without reading it keeps its
    first run.  No more bytes are alive anywhere.  O(reads of the sequence).
    """
    left, kept, needed = Counter(sequence), set[int](), list[int]()
    wanted, only_first = set(steps.kept), _taken_without_reading(steps)
    for s in reversed(sequence):
        left[s] -= 1
        unread = wanted.isdisjoint(steps.writes[s])
        if unread and (left[s] or (s in kept and s not in only_first)):
            continue
        kept.add(s)
        wanted.difference_update(steps.writes[s])
        wanted.update(steps.reads[s])
        needed.append(s)
    return needed[::-1]


def _taken_without_reading(steps: Steps) -> set[int]:
    """Steps that some later step needs to have run, and does not read."""
    taken = set[int]()
    for before, reads in zip(steps.before, steps.reads, strict=True):
        taken.update(set(before).difference([steps.writer.get(r, -1) for r in reads]))
    return taken
