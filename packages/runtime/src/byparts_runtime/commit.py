"""The end of a run: all new values take the place of the old ones, or none does.

Until here every new value stood in memory that is nobody's value yet, so whatever failed before has
left the variables alone.  Three ways to go on:

- in place: the last steps compute the new values on the variables themselves (`in_place.py`);
- copy: the new values, in the arena, are copied over the old ones;
- exchange: they were computed into the second memory of each variable, which now becomes its value.

All are C functions, called one after the other inside one C call, `deque(chain(...))`: CPython
delivers Ctrl-C only between bytecodes, of which there are none in there, so it arrives before the
first or after the last.  Where an assignment is Python all the same (another space, a test) and is
interrupted, all are made again, since the sources still stand, and then the interrupt goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from itertools import chain, repeat
from operator import length_hint, setitem
from typing import Any

from byparts_graph_ir import add_note
from byparts_graph_ir.backend import Run

_call: Callable[[Any], object] = partial.__call__


class Commit:
    """Call `runs`, partials of C functions; then `targets[i][key] = sources[i]`, for all i.

    No source shares bytes with a target.
    """

    __slots__ = ("assign", "duplicate", "key", "runs", "sources", "targets")

    def __init__(
        self,
        targets: Sequence[Any],
        key: object,
        sources: Sequence[Any],
        runs: Sequence[Run] = (),
        duplicate: Callable[[Any], Any] = deepcopy,
    ) -> None:
        self.targets, self.key, self.sources = tuple(targets), key, tuple(sources)
        self.runs, self.duplicate = tuple(runs), duplicate
        self.assign: Callable[[Any, Any, Any], object] = setitem

    def __call__(self) -> None:
        """Make all updates, also if interrupted."""
        runs = iter(self.runs)
        try:
            deque(chain(map(_call, runs), self._assignments()), maxlen=0)
        except BaseException as error:
            called = len(self.runs) - length_hint(runs)
            deque(chain(map(_call, runs), self._assignments()), maxlen=0)
            self._explain(error, called)
            raise

    def _explain(self, error: BaseException, called: int) -> None:
        """What has become of the variables, as far as that is known."""
        if not isinstance(error, Exception) or not self.runs:  # an interrupt; or made again
            add_note(error, "the variables have their new values: all of this run is done")
        elif 0 < called < len(self.runs) or not self.targets:
            # Rehearsed when the program was built; nothing can undo the updates before it.
            add_note(error, f"in update {called} of {len(self.runs)}, the others are made")

    def rehearsal(self) -> Commit:
        """The assignments on copies of the targets, to be measured."""
        return Commit(tuple(map(self.duplicate, self.targets)), self.key, self.sources)

    def device_runs(self) -> tuple[Run, ...]:
        """All that it does to memory, as runs: what a backend may record.  Sides are no memory."""
        if self.key is not ...:
            return self.runs
        pairs = zip(self.targets, self.sources, strict=True)
        return (*self.runs, *(partial(setitem, target, ..., source) for target, source in pairs))

    def _assignments(self) -> map[object]:
        return map(self.assign, self.targets, repeat(self.key), self.sources)
