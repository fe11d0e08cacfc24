"""Schedules that have names: simple, widely used, and never better than `optimal_schedule`.

A segment is a range of stages whose input is kept; before its backward, its stages run forward
again and are saved.  Chen et al. 2016 (https://arxiv.org/abs/1604.06174) cut into about sqrt(l) of
them, or into k and each of those again.  `torch.utils.checkpoint_sequential` does not run the last
segment twice.  All O(operations).
"""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

from byparts_memplan.buffer import PlanError, check_kind
from byparts_recompute.arguments import whole_number
from byparts_recompute.chains.chain import Chain, Operation, Schedule, scheduled


def sqrt_schedule(chain: Chain, segments: int | None = None) -> Schedule:
    """Chen's: `segments` of equal length, by default about sqrt(stages); each runs twice.

    O(stages).  Chen et al. 2016, https://arxiv.org/abs/1604.06174.

    Raises:
        PlanError: fewer than one segment, or more than stages.
    """
    check_kind(chain, Chain)
    parts = _parts(
        0, len(chain.stages), round(sqrt(len(chain.stages))) if segments is None else segments
    )
    operations = [op for a, b in parts for op in _run(a, b)]
    operations.append(("drop", len(chain.stages)))
    for a, b in reversed(parts):
        operations += _saved(a, b)
    return scheduled(chain, operations)


def sequential_schedule(chain: Chain, segments: int) -> Schedule:
    """The schedule of `checkpoint_sequential` in torch: the last segment saves at once.  O(stages).

    Raises:
        PlanError: fewer than one segment, or more than stages.
    """
    check_kind(chain, Chain)
    parts = _parts(0, len(chain.stages), segments)
    operations = [op for a, b in parts[:-1] for op in _run(a, b)]
    for a, b in reversed(parts):
        operations += _saved(a, b)
    return scheduled(chain, operations)


def recursive_schedule(chain: Chain, segments: int) -> Schedule:
    """Chen's recursion: each of `segments` is cut into as many again, down to single stages.

    O(operations).

    Raises:
        PlanError: fewer than two segments, or more than stages.
    """
    check_kind(chain, Chain)
    _parts(0, len(chain.stages), segments)
    if segments < 2 < len(chain.stages):
        raise PlanError("a recursion cuts into 2 segments or more")
    operations: list[Operation] = []
    todo: list[tuple[bool, int, int]] = [(True, 0, len(chain.stages))]
    while todo:
        solve, a, b = todo.pop()
        if not solve:
            operations += _run(a, b)
        elif b - a == 1:
            operations += _saved(a, b)
        else:
            parts = _parts(a, b, min(segments, b - a))
            todo += [(True, *part) for part in parts]  # the last one is done first
            todo += [(False, *part) for part in reversed(parts[:-1])]
    return scheduled(chain, operations)


def _parts(a: int, b: int, segments: int) -> list[tuple[int, int]]:
    """Half-open ranges of nearly equal length, the longer ones first."""
    length, segments = b - a, whole_number("segments", segments, 1)
    if segments > length:
        raise PlanError(f"{segments} segments of {length} stages: there are 1 to {length}")
    ends = [a + (length // segments) * i + min(i, length % segments) for i in range(segments + 1)]
    return list(pairwise(ends))


def _run(a: int, b: int) -> list[Operation]:
    """Run stages [a, b) forward; the input of the first stays held."""
    return [("forward" if i > a else "keep", i) for i in range(a, b)]


def _saved(a: int, b: int) -> list[Operation]:
    """Run stages [a, b) forward, saving all, and then backward."""
    return [*(("save", i) for i in range(a, b)), *(("backward", i) for i in reversed(range(a, b)))]
