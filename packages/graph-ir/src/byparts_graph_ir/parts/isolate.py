"""Keeps the code of a part, while it is loaded, from changing the process and a command's output.

`restored` restores the state of the process that the code changes, e.g. the working directory.
`captured` keeps what the code writes out of the output of a `byparts` command, which another
program may read: stdout and stderr go to a temporary file.  It redirects the file descriptors of
the process, so it covers `print`, `os.write`, warnings and child processes; not text that C code
has in a buffer and writes later.  Only commands set `capture`: in a user's program other threads
may be writing.

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
    """Redirect stdout and stderr to a temporary file, if `capture` is set.

    Args:
        notes: gets a sentence with the first KEPT_CHARACTERS that were written, if any were.
    """
    if not capture:
        yield
        return
    _flush()
    saved = {stream: copy for stream in STREAMS if (copy := _duplicate(stream)) is not None}
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
    """Restore the state of the process that the code inside changes.

    Args:
        notes: gets a sentence that names what was changed, if anything was.
    """
    with warnings.catch_warnings():
        before = {what: read() for what, (read, _) in _PROCESS_STATE.items()}
        try:
            yield
        finally:
            changed = [what for what, (read, _) in _PROCESS_STATE.items() if read() != before[what]]
            for what in changed:
                with suppress(OSError, ValueError):  # e.g. the folder is gone
                    _PROCESS_STATE[what][1](before[what])
            if changed:
                notes.append(f"changes {', '.join(changed)} while it is loaded; put back")


def _duplicate(stream: int) -> int | None:
    """A second descriptor of the file of `stream`; `None`: that is closed."""
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
    """The handler of each signal; none outside of the main thread, which alone can set them."""
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
    """Nothing to do: `catch_warnings` restores them."""


def _set_locale(kept: str) -> None:
    locale.setlocale(locale.LC_ALL, kept)


# name -> (read it, write it back)
_PROCESS_STATE: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "the working directory": (_folder, os.chdir),
    "sys.path": (lambda: list(sys.path), _set_path),
    "the standard streams": (lambda: (sys.stdin, sys.stdout, sys.stderr), _set_streams),
    "the warning filters": (lambda: list(warnings.filters), _set_filters),
    "the locale": (lambda: locale.setlocale(locale.LC_ALL), _set_locale),
    "signal handlers": (_handlers, _set_handlers),
}
