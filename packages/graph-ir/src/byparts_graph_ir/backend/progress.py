"""Reports of how far a build is: whatever compiles makes them, whoever builds may show them."""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Of the thread that builds; `None`: nobody listens.
listener: ContextVar[Callable[[int, int, str], None] | None] = ContextVar("listener", default=None)


def report(done: int, total: int, what: str) -> None:
    """Say that `done` of `total` are ready, in the thread that builds: (3, 8, "files of C")."""
    listening = listener.get()
    if listening is not None:
        listening(done, total, what)
