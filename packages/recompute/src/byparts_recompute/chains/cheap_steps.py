"""Cheap steps of a stage are repeated in its backward instead of saving their results.

Normalisations and activations are most of the bytes that convolutions save, and hardly any of the
work.  So a cheap step whose results stay within its stage is run again in the backward of the
stage, just before its first reader there.  O(reads).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from byparts_memplan.steps import Steps
from byparts_recompute import tuning


def steps_to_repeat(steps: Steps, candidates: Collection[int], saved: Collection[int]) -> set[int]:
    """The candidates that cost least for their bytes, `CHEAP_SHARE` of all work together.

    `saved`: storages that backward steps read.  A step is left out where its inputs would have to
    be saved for it, and are more bytes than its results.
    """
    size, cost, writes = steps.size, steps.cost, steps.writes
    results = {  # bytes by step
        s: sum([size[w] for w in writes[s] if w not in steps.workspaces])
        for s in candidates
        if steps.again[s]
    }
    left, cheap = tuning.CHEAP_SHARE * steps.total_cost(), set()
    for s in sorted(results, key=lambda s: (cost[s] / max(1, results[s]), s)):
        if cost[s] <= left:
            left -= cost[s]
            cheap.add(s)
    held = set(saved)
    for s in sorted(cheap):
        spared = sum([size[w] for w in writes[s] if w in saved])
        needs = [r for r in steps.reads[s] if r in steps.writer and r not in held]
        needs = [r for r in needs if steps.writer[r] not in cheap]
        if sum([size[r] for r in needs]) >= max(1, spared) and needs:
            cheap.discard(s)
        else:
            held.update(needs)
    return cheap


def repeat_before_readers(
    steps: Steps, part: Sequence[int], cheap: Collection[int], stage_of: Mapping[int, int], i: int
) -> list[int]:
    """The backward steps `part` of stage `i`, with its cheap steps before their first readers."""
    sequence: list[int] = []
    done: set[int] = set()
    for s in part:
        todo = [s]
        while todo:
            x = todo[-1]
            writers = [steps.writer.get(r, -1) for r in steps.reads[x]]
            first = [w for w in writers if w in cheap and w not in done and stage_of[w] == i]
            if first:
                todo += first
                continue
            todo.pop()
            if x not in done:
                done.add(x)
                sequence.append(x)
    return sequence
