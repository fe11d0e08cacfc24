"""Stages that save less: what is cheap to compute is computed again just before it is read.

Normalisations and activations are most of what convolutions save and next to none of their work.
So a cheap step whose results stay within its stage is not saved but run again in the backward of
the stage, each time where its first reader stands.  O(reads).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from byparts_memplan.steps import Steps

SHARE = 0.02  # of all work: what cheap steps may cost together


def cheap_steps(steps: Steps, candidates: Collection[int], saved: Collection[int]) -> set[int]:
    """Those of the candidates that cost least for their bytes, and whose inputs are there.

    `saved`: storages that backward reads.  A step is left out where more bytes would have to be
    saved for it than it spares.
    """
    size, cost, writes = steps.size, steps.cost, steps.writes
    made = {
        s: sum([size[w] for w in writes[s] if w not in steps.workspaces])
        for s in candidates
        if steps.again[s]
    }
    left, cheap = SHARE * steps.total_cost(), set()
    for s in sorted(made, key=lambda s: (cost[s] / max(1, made[s]), s)):
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


def just_in_time(
    steps: Steps, part: Sequence[int], cheap: Collection[int], stage_of: Mapping[int, int], i: int
) -> list[int]:
    """Backward steps of stage `i`, with its cheap steps before their first readers."""
    found: list[int] = []
    made: set[int] = set()
    for s in part:
        todo = [s]
        while todo:
            x = todo[-1]
            writers = [steps.writer.get(r, -1) for r in steps.reads[x]]
            first = [w for w in writers if w in cheap and w not in made and stage_of[w] == i]
            if first:
                todo += first
                continue
            todo.pop()
            if x not in made:
                made.add(x)
                found.append(x)
    return found
