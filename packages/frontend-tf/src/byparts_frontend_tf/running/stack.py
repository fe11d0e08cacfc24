"""The default session: a stack for each thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession


class _Stack(threading.local):
    def __init__(self) -> None:
        self.sessions: list[BaseSession] = []


_stack = _Stack()


def get_default_session() -> Any:
    """The innermost session of a `with` block of this thread, or `None`."""
    return _stack.sessions[-1] if _stack.sessions else None


@contextmanager
def default_session(session: BaseSession) -> Iterator[BaseSession]:
    """Make `session` the default one inside the block."""
    _stack.sessions.append(session)
    try:
        yield session
    finally:
        for i in range(len(_stack.sessions) - 1, -1, -1):  # blocks may end in any order
            if _stack.sessions[i] is session:
                del _stack.sessions[i]
                break


def session_for(graph: Any, session: Any, what: str) -> Any:
    """`session`, or the default one, if it is of `graph`.

    Raises:
        ValueError: there is none, or it is of another graph.
    """
    if session is not None:
        if session.graph is not graph:
            raise ValueError(f"Cannot use the given session to {what}: it is of another graph.")
        return session
    session = get_default_session()
    if session is None:
        raise ValueError(
            f"Cannot {what}: No default session is registered. Use `with sess.as_default()` or "
            "pass an explicit session."
        )
    if session.graph is not graph:
        raise ValueError(f"Cannot use the default session to {what}: it is of another graph.")
    return session
