"""Shows on a terminal how far a build is that takes longer than a second, on one line.

    building, 4 s: 3 of 8 files of native code

Whatever compiles reports how far it is (`byparts_graph_ir.backend.progress`).  A compiler may run
for minutes between two reports, so a thread keeps the line up to date.  It is erased at the end.
Pipes, notebooks and CI show nothing, unless BYPARTS_PROGRESS=1; BYPARTS_PROGRESS=0 turns it off.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Optional

from byparts_graph_ir import ArgumentError
from byparts_graph_ir.backend.progress import listener

WAIT_S, EVERY_S = 1.0, 0.25  # before the line is shown; between two changes


class Progress:
    """The line about one build.

    Args:
        stream: the terminal, such as `sys.stderr`.  One that fails is not written any more.
        clock: gives seconds.
    """

    def __init__(self, stream: Any, clock: Callable[[], float] = perf_counter) -> None:
        self._stream, self._clock, self._begun = stream, clock, clock()
        self._latest: Optional[tuple[int, int, str]] = None
        self._shown = 0  # characters

    def report(self, done: int, total: int, what: str) -> None:
        """Remember that `done` of `total` are ready; `tick` shows it."""
        self._latest = done, total, what

    def tick(self) -> None:
        """Show the latest report, if the build takes long."""
        seconds, latest = self._clock() - self._begun, self._latest
        if latest is None or seconds < WAIT_S:
            return
        done, total, what = latest
        line = f"building, {seconds:.0f} s: {done} of {total} {what}"
        line = line[: _columns(self._stream) - 1]
        self._write(f"\r{line:{self._shown}}")
        self._shown = len(line)

    def close(self) -> None:
        """Erase the line."""
        if self._shown:
            self._write(f"\r{'':{self._shown}}\r")
        self._shown = 0

    def _write(self, text: str) -> None:
        try:
            if self._stream is not None:
                self._stream.write(text)
                self._stream.flush()
        except Exception:  # a build does not fail because a terminal is gone
            self._stream = None


@contextmanager
def shown(stream: Any = None, environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Show how far the build inside is, where somebody looks at `stream` (`sys.stderr`).

    Raises:
        ArgumentError: BYPARTS_PROGRESS is neither 0 nor 1.
    """
    stream = sys.stderr if stream is None else stream
    if listener.get() is not None or not wanted(stream, environ):
        yield
        return
    from threading import Event, Thread  # not where nobody looks

    progress, ended = Progress(stream), Event()
    thread = Thread(target=_keep_up, args=(progress, ended), daemon=True)
    before = listener.set(progress.report)
    thread.start()
    try:
        yield
    finally:
        listener.reset(before)
        ended.set()
        thread.join()
        progress.close()


def wanted(stream: Any, environ: Mapping[str, str]) -> bool:
    """Whether to show progress on this stream.

    Raises:
        ArgumentError: BYPARTS_PROGRESS is neither 0 nor 1.
    """
    told = environ.get("BYPARTS_PROGRESS", "")
    if told not in ("", "0", "1"):
        raise ArgumentError(f"build: BYPARTS_PROGRESS is {told!r}; 1 shows progress, 0 does not")
    if told or environ.get("CI") or environ.get("TERM") == "dumb":
        return told == "1" and stream is not None
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # there is no stream, or it is closed
        return False


def _keep_up(progress: Progress, ended: Any) -> None:
    while not ended.wait(EVERY_S):
        progress.tick()


def _columns(stream: Any) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (AttributeError, OSError, ValueError):
        return 80
