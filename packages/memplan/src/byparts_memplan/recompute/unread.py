"""Runs that nobody reads: a schedule around a given order may have them, a sequence need not.

Where a step runs again before anyone has read its first run, the first run was for the order alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_memplan.steps import Steps


def without_unread(steps: Steps, sequence: Sequence[int]) -> list[int]:
    """Without each run whose values nobody takes before the step runs again.

    No more bytes are alive anywhere, and the rest is as it was.  O(reads of the sequence).
    """
    values, wanted, later, found = steps.values, set(steps.kept), set[int](), list[int]()
    for s in reversed(sequence):
        if s in later and wanted.isdisjoint(steps.writes[s]):
            continue
        found.append(s)
        later.add(s)
        wanted.difference_update(steps.writes[s])
        wanted.update(values.root[v] for v in values.reads[steps.steps[s]])  # ignored ones too
    return found[::-1]
