"""The end of a step: new values over old ones, all of them or none.

Until here every new value stood in memory of the program's own, so whatever failed before has left
the variables alone.  The copies themselves run inside one C call, `deque(map(setitem, ...))`:
CPython delivers Ctrl-C only between bytecodes, of which there are none in there, so it arrives
before the first copy or after the last.  Where a copy is Python all the same (another space, a
test) and is interrupted, all copies are made again, since their sources still stand, and then the
interrupt goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import setitem
from typing import Any


class Commit:
    """Copies `sources[i]` over `targets[i]`, for all i.  No source shares bytes with a target."""

    __slots__ = ("copy", "sources", "targets")

    def __init__(self, targets: Sequence[Any], sources: Sequence[Any]) -> None:
        self.targets, self.sources = tuple(targets), tuple(sources)
        self.copy: Callable[[Any, Any, Any], object] = setitem

    def __call__(self) -> None:
        """Make all copies, also if interrupted."""
        try:
            self._copy_all()
        except BaseException:
            self._copy_all()
            raise

    def _copy_all(self) -> None:
        deque(map(self.copy, self.targets, repeat(...), self.sources), maxlen=0)
