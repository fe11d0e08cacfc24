"""Large fetches, computed into the arrays that the caller gets: they are not copied.

Each run needs arrays that nobody else has.  Two sets of them are enough for a loop in which the
caller drops the last result when it has the next; the kernels that write or read a result are bound
once to each set.  Where the caller keeps results, each run takes new memory and binds those kernels
to it, which costs some 10 us a kernel and result, less than copying a megabyte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from byparts_graph_ir import TensorType
from byparts_graph_ir.kernel import Run
from byparts_runtime.arrays import Array, view
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

    def __call__(self) -> None:
        self.run()


class _Set:
    """Memory for all large fetches of a program, and the kernels bound to it."""

    __slots__ = ("free", "owners", "places", "runs")

    def __init__(self, sizes: Sequence[int]) -> None:
        self.owners = [np.empty(size + ALIGNMENT, np.uint8) for size in sizes]
        self.places = [Bytes(_aligned(*of), 0) for of in zip(self.owners, sizes, strict=True)]
        self.runs: tuple[Run, ...] = ()
        self.free: list[int] = []

    def references(self) -> list[int]:
        """How often each memory is referred to."""
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
    """

    def __init__(
        self,
        types: Mapping[int, TensorType],
        bind: Callable[[Mapping[int, Bytes]], Sequence[Run]],
        steps: Sequence[Changing],
    ) -> None:
        self.types, self._bind, self._steps = dict(types), bind, tuple(steps)
        self._sets: list[_Set] = []
        self._now: _Set = self._new()

    def renew(self) -> None:
        """Before a run: let it compute into memory in which there is no array of the caller."""
        if self._now.is_free():
            return
        found = next((s for s in self._sets if s.is_free()), None)
        self._use(self._new() if found is None else found)

    def reader(self, slot: int) -> Callable[[], Array]:
        """A callable that gives the caller the array of this fetch."""
        which, kind = list(self.types).index(slot), self.types[slot]

        def array() -> Array:
            owner = self._now.owners[which]
            start = -owner.ctypes.data % ALIGNMENT
            return view(owner, start, kind)

        return array

    def _new(self) -> _Set:
        made = _Set([kind.size_bytes for kind in self.types.values()])
        made.runs = tuple(self._bind(dict(zip(self.types, made.places, strict=True))))
        made.free = made.references()
        self._sets = [*self._sets[-_MOST_SETS + 1 :], made]
        self._use(made)
        return made

    def _use(self, chosen: _Set) -> None:
        self._now = chosen
        for step, run in zip(self._steps, chosen.runs, strict=True):
            step.run = run


def _aligned(owner: Array, size: int) -> memoryview:
    start = -owner.ctypes.data % ALIGNMENT
    return owner.data[start : start + size]


def _not_bound() -> None:
    raise AssertionError("a step is bound before it runs")
