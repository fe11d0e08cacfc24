"""Waiting of a run for other threads, and its end: by a time limit, or `close`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from byparts_tf_files.errors import DeadlineExceededError


class Waiting:
    """Something that threads wait at; it is kept in `session.kept`."""

    def cancel(self) -> None:
        """The session is closed: whoever waits, or comes later, gets `CancelledError`."""
        raise NotImplementedError


class _Limit(threading.local):
    until_s: Optional[float] = None  # on the clock of `time.monotonic`


_limit = _Limit()


@contextmanager
def time_limit(limit_ms: Optional[float]) -> Iterator[None]:
    """Runs inside the block, in this thread, wait at most so long, in milliseconds; 0: for ever."""
    before = _limit.until_s
    if limit_ms:
        _limit.until_s = time.monotonic() + limit_ms / 1e3
    try:
        yield
    finally:
        _limit.until_s = before


def wait(changed: Any) -> None:
    """Wait for a `threading.Condition` to be notified.

    Raises:
        DeadlineExceededError: the time that the run may take is over.
    """
    until_s = _limit.until_s
    left_s = None if until_s is None else until_s - time.monotonic()
    if (left_s is not None and left_s <= 0) or not changed.wait(left_s):
        raise DeadlineExceededError(None, None, "Timed out waiting for notification")
