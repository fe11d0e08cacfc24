"""The order of an epoch, drawn from (seed, epoch) alone: resuming needs two numbers, no state.

Random numbers are NumPy's Philox: a counter-based generator gives every sample a stream of its own,
(seed, epoch, index), so that augmentation does not depend on which worker does it, or when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from byparts_nn.data.samples import Sample

_64 = (1 << 64) - 1


class Member(NamedTuple):
    """One place in the order of an epoch: the number of a sample, and itself where it was read."""

    number: int
    sample: Sample | None = None


def generator(seed: int, epoch: int, index: int | None = None) -> np.random.Generator:
    """The random numbers of an epoch, or of one sample in it."""
    counter = [0, 0, 0, 0] if index is None else [0, 0, index & _64, 1]
    key = np.array([seed & _64, epoch & _64], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=np.array(counter, np.uint64)))


def shuffled(count: int, seed: int, epoch: int) -> Iterator[Member]:
    """All samples of a source with a length, each order equally likely."""
    for index in generator(seed, epoch).permutation(count):
        yield Member(int(index))


def shuffled_stream(
    members: Iterable[Member], window: int, seed: int, epoch: int
) -> Iterator[Member]:
    """A stream in another order: each next one is drawn from `window` that wait."""
    random, waiting = generator(seed, epoch), []
    for member in members:
        waiting.append(member)
        if len(waiting) >= window:
            at = int(random.integers(len(waiting)))
            waiting[at], waiting[-1] = waiting[-1], waiting[at]
            yield waiting.pop()
    for at in random.permutation(len(waiting)):
        yield waiting[at]


def groups(members: Iterable[Member], size: int, drop_last: bool) -> Iterator[list[Member]]:
    """The members, `size` at a time; the last group is smaller, or left out."""
    group: list[Member] = []
    for member in members:
        group.append(member)
        if len(group) == size:
            yield group
            group = []
    if group and not drop_last:
        yield group


def buckets(
    members: Iterable[tuple[Member, int]], size: int, width: int, drop_last: bool
) -> Iterator[list[Member]]:
    """Groups of similar length, from members and their lengths.

    Lengths that round up to one multiple of `width` share a bucket.  A bucket is given out when it
    is full; at the end the rest of each, the shortest first.
    """
    waiting: dict[int, list[Member]] = {}
    for member, length in members:
        key = -(-length // width)
        waiting.setdefault(key, []).append(member)
        if len(waiting[key]) == size:
            yield waiting.pop(key)
    if not drop_last:
        yield from (waiting[key] for key in sorted(waiting))


def held_out(count: int, share: float, seed: int) -> tuple[Sequence[int], Sequence[int]]:
    """The indices that stay and those that are held out, both in rising order."""
    order = generator(seed, 0).permutation(count)
    cut = round(count * share)
    return np.sort(order[cut:]).tolist(), np.sort(order[:cut]).tolist()
