"""Locks that a program holds while it reads and writes its variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import length_hint, methodcaller
from types import TracebackType
from typing import Any, Optional

from byparts_runtime.memory.variable import Variable

_acquire, _release = methodcaller("acquire"), methodcaller("release")


def lock_of(variables: Sequence[Variable]) -> Any:
    """The lock to hold while these variables (one at least) are used: mostly their store's."""
    locks = {id(v.lock): v.lock for v in variables}
    return next(iter(locks.values())) if len(locks) == 1 else _Locks(locks)


class _Locks:
    """Several locks, taken in one order everywhere, so that no two programs wait for each other.

    All are taken in one call of C, within which CPython delivers Ctrl-C only where a lock is waited
    for; then those that were taken are given back.
    """

    def __init__(self, locks: Mapping[int, Any]) -> None:
        self._locks = tuple([locks[key] for key in sorted(locks)])

    def __enter__(self) -> None:
        locks, end = iter(self._locks), iter((None,))
        try:
            deque(chain(map(_acquire, locks), end), maxlen=0)
        except BaseException:
            refused = length_hint(locks) + length_hint(end)  # also the one that was waited for
            taken = self._locks[: len(self._locks) - refused]
            deque(map(_release, taken), maxlen=0)
            raise

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        deque(map(_release, self._locks), maxlen=0)
