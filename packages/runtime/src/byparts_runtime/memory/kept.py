"""The limit of the memory that the programs of an arena keep for their next large fetches.

A program keeps the memory that it computes large fetches into, so that the next call takes no new
one (`run/results.py`).  Programs that share an arena share the limit: what was used longest ago
goes first.  They take turns, so whoever runs may take memory from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Protocol
from weakref import WeakSet

MOST_BYTES = 1 << 28


class KeptSet(Protocol):
    """Memory of one program for all of its large fetches."""

    size_bytes: int
    used: int  # when it was used last, as `KeptResults.now` counts


class Keeper(Protocol):
    """Keeps such sets for one program."""

    @property
    def kept(self) -> Sequence[KeptSet]:
        """The sets of memory that are kept for next calls."""

    def drop(self, gone: KeptSet) -> None:
        """Keep one of them no longer."""


class KeptResults:
    """The memory of large fetches that is kept, of several programs.  Used under one lock.

    Args:
        most_bytes: how much is kept; a set that is in use is not dropped, however large it is.

    Attributes:
        now: counts the uses of sets.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.now: Callable[[], int] = count(1).__next__
        self._keepers: WeakSet[Keeper] = WeakSet()

    @property
    def size_bytes(self) -> int:
        """The size of all memory that is kept, also where an array of the caller is in it."""
        return sum(kept.size_bytes for keeper in self._keepers for kept in keeper.kept)

    def add(self, keeper: Keeper) -> None:
        """From now on the sets of this program count too, as long as it lives."""
        self._keepers.add(keeper)

    def shrink(self, most_bytes: int, in_use: KeptSet | None = None) -> None:
        """Drop sets, those used longest ago first, until no more than `most_bytes` are kept."""
        kept_sets = [(kept.used, kept, keeper) for keeper in self._keepers for kept in keeper.kept]
        total = sum(kept.size_bytes for _, kept, _ in kept_sets)
        for _, kept, keeper in sorted(kept_sets, key=lambda each: each[0]):
            if total <= most_bytes:
                return
            if kept is not in_use:
                keeper.drop(kept)
                total -= kept.size_bytes
