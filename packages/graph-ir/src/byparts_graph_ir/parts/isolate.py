"""Keeps the code of a part, while it is loaded, from changing the process and a command's output.

A plugin file declares what its part provides.  What it changes in the process is put back:
`restored`.  What it writes may stand in the middle of a command's output, which another program
reads: in a command of `byparts` (`capture` is set), stdout and stderr go to a temporary file while
a part is loaded: `captured`.  That is done with the file descriptors of the process, so it covers
`print`, `os.write`, warnings and child processes.  Text that C code buffers escapes until C flushes
it.  In a program of the user nothing is captured: other threads may be writing.

Both append a sentence to `notes`, which `byparts parts` prints.
"""

from __future__ import annotations

import locale
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

STREAMS = (1, 2)  # the file descriptors of stdout and stderr
KEPT_CHARACTERS = 200  # of what a part wrote

capture = False  # set by the command line


@contextmanager
def captured(notes: list[str]) -> Iterator[None]:
    """Keep what is written to stdout and stderr from there, if `capture` is set."""
    if not capture:
        yield
        return
    _flush()
    saved = {stream: copy for stream in STREAMS if (copy := _copy(stream)) is not None}
    with tempfile.TemporaryFile() as file:
        for stream in saved:
            os.dup2(file.fileno(), stream)
        try:
            yield
        finally:
            _flush()
            for stream, copy in saved.items():
                os.dup2(copy, stream)
                os.close(copy)
            file.seek(0)
            if text := file.read(KEPT_CHARACTERS * 4).decode(errors="replace").strip():
                notes.append(f"writes while it is loaded: {text[:KEPT_CHARACTERS]!r}")


@contextmanager
def restored(notes: list[str]) -> Iterator[None]:
    """Put back what the code inside changes in the process."""
    with warnings.catch_warnings():
        before = {what: read() for what, (read, _) in _STATE.items()}
        try:
            yield
        finally:
            changed = [what for what, (read, _) in _STATE.items() if read() != before[what]]
            for what in changed:
                with suppress(OSError, ValueError):  # e.g. the folder is gone
                    _STATE[what][1](before[what])
            if changed:
                notes.append(f"changes {', '.join(changed)} while it is loaded; put back")


def _copy(stream: int) -> int | None:
    try:
        return os.dup(stream)
    except OSError:  # closed, as by `>&-`
        return None


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _handlers() -> dict[int, Any]:
    """Signal -> handler; only the main thread can set one."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _set_handlers(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None and signal.getsignal(number) != handler:
            signal.signal(number, handler)


def _set_streams(streams: tuple[Any, ...]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


def _set_path(path: list[str]) -> None:
    sys.path[:] = path


def _set_filters(filters: list[Any]) -> None:
    """Nothing to do: `catch_warnings` puts them back."""


def _set_locale(kept: str) -> None:
    locale.setlocale(locale.LC_ALL, kept)


_STATE: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "the working directory": (_folder, os.chdir),
    "sys.path": (lambda: list(sys.path), _set_path),
    "the standard streams": (lambda: (sys.stdin, sys.stdout, sys.stderr), _set_streams),
    "the warning filters": (lambda: list(warnings.filters), _set_filters),
    "the locale": (lambda: locale.setlocale(locale.LC_ALL), _set_locale),
    "signal handlers": (_handlers, _set_handlers),
}
