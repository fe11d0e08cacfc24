"""Runs that nobody reads: a schedule around a given order may have them, a sequence need not.

Where a step runs again before anyone has read its first run, the first run was for the order alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_memplan.recompute.before import steps_before
from byparts_memplan.steps import Steps


def without_unread(steps: Steps, sequence: Sequence[int]) -> list[int]:
    """Without each run whose values nobody takes before the step runs again.

    No more bytes are alive anywhere, and the rest is as it was.  O(inputs of the sequence).
    """
    before, later, found = steps_before(steps), set[int](), list[int]()
    wanted = {steps.writer[v] for v in steps.kept if v in steps.writer}
    for s in reversed(sequence):
        if s not in later or s in wanted:
            found.append(s)
            later.add(s)
            wanted.discard(s)
            wanted.update(before[s])
    return found[::-1]
