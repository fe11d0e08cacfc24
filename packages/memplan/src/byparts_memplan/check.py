"""Says whether a placement is valid, and if not who is to blame.  Slow and obvious: the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from byparts_memplan.buffer import Buffer, PlanError


def check(buffers: Sequence[Buffer], offsets: Sequence[int], arena_bytes: int) -> None:
    """Raise PlanError unless the placement is valid.  O(n^2) on purpose.

    >>> check([Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3)], [0, 2], arena_bytes=4)
    Traceback (most recent call last):
    byparts_memplan.buffer.PlanError: buffers 0 and 1 share bytes [2, 4) during steps [1, 2)
    """
    if len(buffers) != len(offsets):
        raise PlanError(f"{len(buffers)} buffers but {len(offsets)} offsets")
    for i, (b, offset) in enumerate(zip(buffers, offsets, strict=True)):
        _check_alone(i, b, offset, arena_bytes)
    for i, j in combinations(range(len(buffers)), 2):
        _check_pair(i, j, buffers, offsets)


def _check_alone(i: int, b: Buffer, offset: int, arena_bytes: int) -> None:
    where = f"buffer {i} at [{offset}, {offset + b.size_bytes})"
    if offset < 0 or offset + b.size_bytes > arena_bytes:
        raise PlanError(f"{where} leaves the arena of {arena_bytes} bytes")
    if offset % b.alignment:
        raise PlanError(f"{where} is not aligned to {b.alignment} bytes")
    if b.pinned is not None and b.pinned != offset:
        raise PlanError(f"{where} is pinned to {b.pinned}")


def _check_pair(i: int, j: int, buffers: Sequence[Buffer], offsets: Sequence[int]) -> None:
    a, b = buffers[i], buffers[j]
    born, dies = max(a.born, b.born), min(a.dies, b.dies)
    lower = max(offsets[i], offsets[j])
    upper = min(offsets[i] + a.size_bytes, offsets[j] + b.size_bytes)
    if born < dies and lower < upper:
        raise PlanError(
            f"buffers {i} and {j} share bytes [{lower}, {upper}) during steps [{born}, {dies})"
        )
