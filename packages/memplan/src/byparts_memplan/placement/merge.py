"""Makes a placement problem smaller: buffers that could well lie together become one.

Those of one life become a stack, and stacks of one size that follow each other in time become one
that lives on.  Networks are full of such buffers, so a third or a tenth may be left; what is left
is easier to place, by far, where it can be placed at all.  Which of them are merged is drawn anew
for each trial, because a merge may be one too many; what helped before may be kept in part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random

from byparts_memplan.buffer import Buffer
from byparts_memplan.placement.sections import Sections

Parts = list[tuple[int, int]]  # (member, bytes above the lowest of them)


class _Piece:
    """Members that are placed as one, during the sections [begin, end)."""

    def __init__(self, size: int, alignment: int, begin: int, end: int, parts: Parts) -> None:
        self.size, self.alignment = size, alignment
        self.begin, self.end, self.parts = begin, end, parts


def merge(
    problem: Sections,
    random: Random,
    stacked: float,
    chained: float,
    coarse: int = 1,
    near: int = 1,
    kept: Sequence[Parts] = (),
) -> tuple[tuple[Buffer, ...], list[Parts]]:
    """Merge members into fewer buffers, which live in sections; also what each is made of.

    `stacked` and `chained` are the chances that what could be merged is; in a chain, sizes may
    differ by less than `coarse` units, and the largest is taken; in a stack, lives by less than
    `near` sections at each end.  Those of `kept` are merged to begin with.  Pinned members, and
    those with gaps, stay alone.  O(n) for each round of merging, in each of which some merge.
    """
    loose, alone = _members(problem)
    pieces = [_merge_again(loose, parts) for parts in kept]
    pieces += loose.values()
    count = len(pieces) + 1
    while len(pieces) < count:
        count = len(pieces)
        pieces = _stack(pieces, random, stacked, near)
        pieces = _chain(pieces, random, chained, coarse * problem.unit)
    buffers = [Buffer(p.size, p.begin, p.end, p.alignment) for p in pieces]
    buffers += [_alone(problem, i) for i in alone]
    return tuple(buffers), [*[p.parts for p in pieces], *[[(i, 0)] for i in alone]]


def _members(problem: Sections) -> tuple[dict[int, _Piece], list[int]]:
    """The members that may be merged, and those that stay alone."""
    loose: dict[int, _Piece] = {}
    alone: list[int] = []
    for i, b in enumerate(problem.buffers[k] for k in problem.index):
        if len(problem.where[i]) > 1 or b.pinned is not None:
            alone.append(i)
        else:
            size = b.size_bytes + -b.size_bytes % b.alignment
            loose[i] = _Piece(size, b.alignment, *problem.where[i][0], [(i, 0)])
    return loose, alone


def _merge_again(loose: dict[int, _Piece], parts: Parts) -> _Piece:
    """Merge members as an earlier merge did, and take them out of `loose`."""
    some = [loose.pop(i) for i, _ in parts]
    size = max([p.size + above for p, (_, above) in zip(some, parts, strict=True)])
    begin, end = min([p.begin for p in some]), max([p.end for p in some])
    return _Piece(size, some[0].alignment, begin, end, list(parts))


def _stack(pieces: Iterable[_Piece], random: Random, chance: float, near: int) -> list[_Piece]:
    """Put pieces of one life, or nearly so, on top of each other, in any order."""
    shift = random.randrange(near)
    lives: dict[tuple[int, int, int], list[_Piece]] = {}
    for p in pieces:
        life = (p.begin + shift) // near, (p.end + shift) // near
        lives.setdefault((*life, p.alignment), []).append(p)
    stacks = []
    for some in lives.values():
        random.shuffle(some)
        stacks.append(some[0])
        for p in some[1:]:
            below = stacks[-1]
            if random.random() < chance:
                below.parts += [(i, at + below.size) for i, at in p.parts]
                below.size += p.size
                below.begin, below.end = min(below.begin, p.begin), max(below.end, p.end)
            else:
                stacks.append(p)
    return stacks


def _chain(pieces: Sequence[_Piece], random: Random, chance: float, coarse: int) -> list[_Piece]:
    """Join pieces of one size, or nearly so, where one begins when the other ends."""
    shift = random.randrange(coarse)
    begins: dict[tuple[int, int, int], list[_Piece]] = {}
    for p in pieces:
        begins.setdefault((p.begin, (p.size + shift) // coarse, p.alignment), []).append(p)
    for some in begins.values():
        random.shuffle(some)
    chains = []
    carried: set[_Piece] = set()
    for p in sorted(pieces, key=lambda p: p.begin):
        if p in carried:
            continue
        chains.append(p)
        kind = (p.size + shift) // coarse
        while (later := begins.get((p.end, kind, p.alignment))) and random.random() < chance:
            follower = later.pop()
            carried.add(follower)
            p.end, p.size = follower.end, max(p.size, follower.size)
            p.parts += follower.parts
    return chains


def _alone(problem: Sections, i: int) -> Buffer:
    """A member that is not merged, as a buffer that lives in sections."""
    b, where = problem.buffers[problem.index[i]], problem.where[i]
    holes = [(before[1], after[0]) for before, after in pairwise(where)]
    gaps = tuple([hole for hole in holes if hole[0] < hole[1]])
    return Buffer(b.size_bytes, where[0][0], where[-1][1], b.alignment, b.pinned, gaps)
