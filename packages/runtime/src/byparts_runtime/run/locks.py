"""What is held while a program reads and writes its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Optional

from byparts_graph_ir.fork import make_lock
from byparts_runtime.memory.variable import Variable


def lock_of(variables: Sequence[Variable]) -> Any:
    """What to hold while these, one at least, are used: one lock as a rule, that of their store."""
    locks = {id(v.lock): v.lock for v in variables}
    return next(iter(locks.values())) if len(locks) == 1 else _Locks(locks)


class _Locks:
    """Several locks, taken in one order everywhere, so that no two programs wait for each other."""

    def __init__(self, locks: Mapping[int, Any]) -> None:
        self._own = make_lock()
        self._locks = (self._own, *(locks[key] for key in sorted(locks)))
        self._held: list[ExitStack] = []

    def __enter__(self) -> None:
        with ExitStack() as stack:
            for lock in self._locks:
                stack.enter_context(lock)
            self._held.append(stack.pop_all())

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._held.pop().close()
