"""Keeps a forked process free of the locks and the unfinished work of its parent's other threads.

A fork copies memory at one moment, and the thread that asks for it; the others stop wherever they
are.  In the child a lock that one of them held is held by nobody, for ever; a variable that one was
writing is half old and half new; and what has locks of its own (OpenBLAS, Python's import) waits
for threads that are not there.  Two means, for all parts:

- `make_lock`: a lock that is free in a child unless its only thread holds it.  What it protects is
  as the other thread left it, so code that holds one takes steps between which all can be used.
- `begin` and `end`: whoever imports, builds, runs or writes says so.  A fork waits until no other
  thread does, at most `PATIENCE_S`, and who begins meanwhile waits for the fork.

      try:
          begin(self)
          ...
      finally:
          end(self)

  What takes longer is not waited for, nor by the next fork; then `forget` is called in the child
  on each thing that was being written.

Processes that are started (spawn, forkserver, subprocess) copy nothing.
"""

from __future__ import annotations

import os
from _thread import RLock, get_ident  # `threading.RLock`, without importing `threading`
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol, TypeAlias

    class Written(Protocol):
        """Something with a value."""

        def forget(self) -> None:
            """Raise at each use, until there is a new value."""

    Work: TypeAlias = dict[int, tuple[int, Iterable[Written]]]  # id of who works -> thread, writes

PATIENCE_S = 30.0  # importing torch takes 10 on a busy machine

_locks: dict[Any, None] = {}  # weak references to all locks there are
_work: Work = {}
_given_up: Work = {}  # what the last fork did not wait for any longer
_forks: list[int] = []  # the thread that is about to fork, which holds the gate


def make_lock() -> Any:
    """A `threading.RLock`, and free in a forked child unless the thread that forks holds it."""
    lock = RLock()
    _locks[ref(lock, _drop)] = None
    return lock


_gate = RLock()


def begin(who: object, writes: Iterable[Written] = ()) -> None:
    """`who` starts to work, or goes on and writes these things.

    What is begun within other work of the same thread does not wait for a fork, which waits for it.
    """
    _work[id(who)] = get_ident(), writes
    if _forks:
        _wait(id(who), writes)


def end(who: object) -> None:
    """`who` has done what it began, if it did begin."""
    _work.pop(id(who), None)


def _drop(reference: object) -> None:
    _locks.pop(reference, None)


def _wait(key: int, writes: Iterable[Written]) -> None:
    me = get_ident()
    while _forks and not any(t == me for k, (t, _) in list(_work.items()) if k != key):
        del _work[key]
        with _gate:
            _work[key] = me, writes


def _others() -> Work:
    me = get_ident()
    return {key: work for key, work in list(_work.items()) if work[0] != me}


def _before_fork() -> None:
    from time import monotonic, sleep  # a module of C

    _gate.acquire()
    _forks.append(get_ident())
    end_s, pause_s = monotonic() + PATIENCE_S, 0.0005
    while any(_given_up.get(k) is not work for k, work in _others().items()):
        if monotonic() >= end_s:
            break
        sleep(pause_s)  # at each end of it, the others wait for us to give up the interpreter
        pause_s = min(2 * pause_s, 0.05)
    _given_up.clear()
    _given_up.update(_others())


def _after_in_parent() -> None:
    _forks.clear()
    if _gate._is_owned():  # type: ignore[attr-defined]  # not if Ctrl-C came first
        _gate.release()


def _after_in_child() -> None:
    for reference in list(_locks):
        lock = reference()
        if lock is not None and not lock._is_owned():
            lock._at_fork_reinit()
    for key, (_, writes) in _others().items():
        del _work[key]
        for written in writes if key in _given_up else ():  # others only ask if they may begin
            written.forget()
    _given_up.clear()
    _after_in_parent()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
