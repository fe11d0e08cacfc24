"""Large fetches, computed into the arrays that the caller gets: they are not copied.

Each run needs arrays that nobody else has.  Two sets of them are enough for a loop in which the
caller drops the last result when it has the next; the kernels that write or read a result are bound
once to each set.  How much memory the programs of an arena keep so is limited (`memory/kept.py`).
Where the caller keeps results, each run takes new memory and binds those kernels to it, which costs
some 10 us a kernel and result, less than copying a megabyte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime.arrays.access import view
from byparts_runtime.arrays.dtypes import Array
from byparts_runtime.memory.kept import KeptResults, KeptSet
from byparts_runtime.memory.plan import Bytes

ALIGNMENT = 64
_MOST_SETS = 2
# Without a global lock, counts of references are no such sign.
_COUNTS = hasattr(sys, "getrefcount") and getattr(sys, "_is_gil_enabled", lambda: True)()


class Changing:
    """A run that is another one from call to call."""

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.run: Run = _not_bound

    @property
    def bodies(self) -> tuple[Any, ...]:
        """The bodies that the present run runs."""
        return getattr(self.run, "bodies", ())

    def __call__(self) -> None:
        self.run()


class _Set:
    """Memory for all large fetches of a program, and the kernels bound to it."""

    __slots__ = ("free", "owners", "places", "runs", "size_bytes", "used")

    def __init__(self, sizes: Sequence[int]) -> None:
        self.size_bytes, self.used = sum(sizes), 0
        self.owners = [np.empty(size + ALIGNMENT, np.uint8) for size in sizes]
        self.places = [Bytes(_aligned(*of), 0) for of in zip(self.owners, sizes, strict=True)]
        self.runs: tuple[Run, ...] = ()
        self.free: list[int] = []

    def references(self) -> list[int]:
        """The reference count of each memory."""
        return [sys.getrefcount(owner) for owner in self.owners]

    def is_free(self) -> bool:
        """Whether no array of the caller is in this memory."""
        return _COUNTS and self.references() == self.free


class Results:
    """The sets of a program.

    Args:
        types: of the fetches, by the position of the input that stands for their memory.
        bind: binds the kernels that touch them, given the places of all: the runs of `steps`.
        steps: what the program calls for these kernels.
        limit: how much memory may be kept, with other programs.

    Attributes:
        kept: the sets, each for a next call.
    """

    def __init__(
        self,
        types: Mapping[int, TensorType],
        bind: Callable[[Mapping[int, Bytes]], Sequence[Run]],
        steps: Sequence[Changing],
        limit: KeptResults,
    ) -> None:
        self.types, self._bind, self._steps = dict(types), bind, tuple(steps)
        self._limit = limit
        self.kept: list[_Set] = []
        self._now: Optional[_Set] = None
        limit.add(self)

    def renew(self) -> None:
        """Before a run: let it compute into memory in which there is no array of the caller."""
        now = self._now
        if now is None or not now.is_free():
            free = next((s for s in self.kept if s.is_free()), None)
            now = self._new() if free is None else free
            self._use(now)
        now.used = self._limit.now()

    def drop(self, gone: KeptSet) -> None:
        """Keep this set no longer; arrays of the caller in it stay as they are."""
        self.kept = [kept for kept in self.kept if kept is not gone]
        if self._now is gone:
            self._now = None
            for step in self._steps:
                step.run = _not_bound

    def reader(self, slot: int) -> Callable[[], Array]:
        """A callable that gives the caller the array of this fetch."""
        which, kind = list(self.types).index(slot), self.types[slot]

        def array() -> Array:
            assert self._now is not None, "the run computed into a set"
            owner = self._now.owners[which]
            start = -owner.ctypes.data % ALIGNMENT
            return view(owner, start, kind)

        return array

    def _new(self) -> _Set:
        new_set = _Set([kind.size_bytes for kind in self.types.values()])
        new_set.runs = tuple(self._bind(dict(zip(self.types, new_set.places, strict=True))))
        new_set.free = new_set.references()
        self.kept = [*self.kept[-_MOST_SETS + 1 :], new_set]
        self._limit.shrink(self._limit.most_bytes, new_set)
        return new_set

    def _use(self, chosen: _Set) -> None:
        self._now = chosen
        for step, run in zip(self._steps, chosen.runs, strict=True):
            step.run = run


def _aligned(owner: Array, size: int) -> memoryview:
    start = -owner.ctypes.data % ALIGNMENT
    return owner.data[start : start + size]


def _not_bound() -> None:
    raise AssertionError("a step is bound before it runs")
