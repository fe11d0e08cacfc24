"""The end of a run: all new values take the place of the old ones, or none does.

Until here every new value stood in memory that is nobody's value yet, so whatever failed before has
left the variables alone.  There are two kinds of new values:

- in place: the last steps compute the new values on the variables themselves (`updates.py`);
- copy: the new values, in the arena, are copied over the old ones.

Both are C functions, called one after the other inside one C call, `deque(chain(...))`: CPython
delivers Ctrl-C only between bytecodes, of which there are none in there, so it arrives before the
first or after the last.  Where an assignment is Python all the same (another space, a test) and is
interrupted, all are made again, since the sources still stand, and then the interrupt goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import chain, repeat
from operator import length_hint, setitem
from typing import Any

from byparts_graph_ir import add_note
from byparts_graph_ir.backend.kernel import Run

_call: Callable[[Any], object] = partial.__call__


class Commit:
    """Call `runs`, each one call of C; then `targets[i][...] = sources[i]`, for all i; then count.

    No source shares bytes with a target.  `counters` are the variables' (`Variable.version`).
    """

    __slots__ = ("assign", "counters", "duplicate", "runs", "sources", "targets")

    def __init__(
        self,
        targets: Sequence[Any],
        sources: Sequence[Any],
        runs: Sequence[Run] = (),
        counters: Sequence[Iterator[object]] = (),
        duplicate: Callable[[Any], Any] = deepcopy,
    ) -> None:
        self.targets, self.sources = tuple(targets), tuple(sources)
        self.runs, self.counters, self.duplicate = tuple(runs), tuple(counters), duplicate
        self.assign: Callable[[Any, Any, Any], object] = setitem

    def __call__(self) -> None:
        """Make all updates, also if interrupted."""
        runs, counters = iter(self.runs), iter(self.counters)
        try:
            deque(chain(map(_call, runs), self._assignments(), map(next, counters)), maxlen=0)
        except BaseException as error:
            called = len(self.runs) - length_hint(runs)
            deque(chain(map(_call, runs), self._assignments(), map(next, counters)), maxlen=0)
            self._explain(error, called)
            raise

    def _explain(self, error: BaseException, called: int) -> None:
        """Note on an error which values the variables have."""
        if not isinstance(error, Exception) or not self.runs:  # an interrupt; or made again
            add_note(error, "the variables have their new values: all of this run is done")
        elif 0 < called < len(self.runs) or not self.targets:
            # A kernel that says it is atomic cannot fail; nothing can undo the updates before it.
            add_note(error, f"in update {called} of {len(self.runs)}, the others are made")

    def rehearsal(self) -> Commit:
        """The assignments on copies of the targets, to be measured."""
        return Commit(tuple(map(self.duplicate, self.targets)), self.sources)

    def device_runs(self) -> tuple[Run, ...]:
        """All that it does to memory, as runs: what a backend may record."""
        pairs = zip(self.targets, self.sources, strict=True)
        return (*self.runs, *(partial(setitem, target, ..., source) for target, source in pairs))

    def _assignments(self) -> map[object]:
        return map(self.assign, self.targets, repeat(...), self.sources)
