"""The end of a run: all new values take the place of the old ones, or none does.

Until here every new value stood in memory that is nobody's value yet, so whatever failed before has
left the variables alone.  Two ways to go on:

- copy: the new values, in the arena, are copied over the old ones;
- exchange: they were computed into the second memory of each variable, which now becomes its value.

Either is a row of `target[key] = source`, run inside one C call, `deque(map(setitem, ...))`:
CPython delivers Ctrl-C only between bytecodes, of which there are none in there, so it arrives
before the first or after the last.  Where an assignment is Python all the same (another space, a
test) and is interrupted, all are made again, since the sources still stand, and then the interrupt
goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import repeat
from operator import setitem
from typing import Any


class Commit:
    """`targets[i][key] = sources[i]`, for all i.  No source shares bytes with a target."""

    __slots__ = ("assign", "key", "sources", "targets")

    def __init__(self, targets: Sequence[Any], key: object, sources: Sequence[Any]) -> None:
        self.targets, self.key, self.sources = tuple(targets), key, tuple(sources)
        self.assign: Callable[[Any, Any, Any], object] = setitem

    def __call__(self) -> None:
        """Make all assignments, also if interrupted."""
        try:
            self._assign_all()
        except BaseException:
            self._assign_all()
            raise

    def rehearsal(self) -> Commit:
        """The same work on copies of the targets, to be measured."""
        return Commit(deepcopy(self.targets), self.key, self.sources)

    def _assign_all(self) -> None:
        deque(map(self.assign, self.targets, repeat(self.key), self.sources), maxlen=0)
