"""The order of an epoch, drawn from (seed, epoch) alone: resuming needs two numbers, no state.

Random numbers are NumPy's Philox: a counter-based generator gives every sample a stream of its own,
(seed, epoch, number), so that augmentation does not depend on which worker does it, or when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from byparts_nn.data.samples import Array, Sample

_64 = (1 << 64) - 1


class Member(NamedTuple):
    """A sample in the order of an epoch: its number, and itself where it was read already."""

    number: int
    sample: Sample | None = None


class Group(NamedTuple):
    """The samples of a batch: their numbers, and themselves where they were read already."""

    numbers: Array
    samples: Sequence[Sample] | None = None


def generator(seed: int, epoch: int, number: int | None = None) -> np.random.Generator:
    """The random numbers of an epoch, or of one sample in it."""
    key = np.array([seed & _64, epoch & _64], np.uint64)
    counter = [0, 0, 0, 0] if number is None else [0, 0, number & _64, 1]
    return np.random.Generator(np.random.Philox(key=key, counter=np.array(counter, np.uint64)))


def shuffled_stream(
    members: Iterable[Member], window: int, random: np.random.Generator
) -> Iterator[Member]:
    """A stream in another order: each next one is drawn from `window` that wait."""
    waiting = []
    for member in members:
        waiting.append(member)
        if len(waiting) >= window:
            at = int(random.integers(len(waiting)))
            waiting[at], waiting[-1] = waiting[-1], waiting[at]
            yield waiting.pop()
    for at in random.permutation(len(waiting)):
        yield waiting[at]


def slices(order: Array, size: int, drop_last: bool) -> Iterator[Group]:
    """Groups of `size` numbers in this order; the last one is smaller, or left out."""
    end = len(order) - len(order) % size if drop_last else len(order)
    return (Group(order[at : at + size]) for at in range(0, end, size))


def groups(members: Iterable[tuple[Member, int]], size: int, drop_last: bool) -> Iterator[Group]:
    """Groups of `size` members with equal keys, from members and their keys.

    A group is given out when it is full; at the end the rest of each key, the smallest key first,
    or none of them.
    """
    waiting: dict[int, list[Member]] = {}
    for member, key in members:
        group = waiting.setdefault(key, [])
        group.append(member)
        if len(group) == size:
            yield _group(waiting.pop(key))
    if not drop_last:
        yield from (_group(waiting[key]) for key in sorted(waiting))


def _group(members: Sequence[Member]) -> Group:
    samples = [sample for _, sample in members if sample is not None]
    return Group(np.array([number for number, _ in members]), samples or None)
