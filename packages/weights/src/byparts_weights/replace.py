"""Replaces a file as a whole: new content is written beside it, and renamed when it is on the disk.

The name of the new file has random digits and must be new: neither a file that has it nor a link is
ever written through.  What killed processes have left behind is removed when it is of this user and
of just that form, its process does not live here, and its lock is free: where a folder is on
another machine's disk, a process may live there.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from stat import S_IMODE, S_ISREG
from typing import IO

if sys.platform != "win32":
    import fcntl

_FORM = re.compile(r"\.([0-9]{1,10})\.[0-9a-f]{16}\.part")


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file, which is `path` when the body has ended; if it raises, the old one stays.

    Raises:
        OSError: it cannot be written.
    """
    _remove_left_behind(path)
    with _new_file(path) as file:
        name = file.name
        try:
            with suppress(FileNotFoundError):  # who may read the old one may read the new one
                os.chmod(name, S_IMODE(os.stat(path).st_mode) & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a power cut after the renaming may leave an empty file
            if sys.platform == "win32":
                file.close()  # an open file cannot be renamed there
            os.replace(name, path)
        finally:
            try:
                file.close()  # raises once more where the disk is full
            finally:
                with suppress(FileNotFoundError):
                    os.remove(name)


def _new_file(path: str) -> IO[bytes]:
    """A new file beside `path`, locked: whoever removes what is left behind asks for the lock."""
    while True:
        file = open(f"{path}.{os.getpid()}.{token_hex(8)}.part", "xb")  # noqa: SIM115
        if _is_locked(file.fileno()) and os.path.exists(file.name):
            return file
        file.close()  # another process took it for left behind, before it was locked


def _is_locked(file: int) -> bool:
    """Lock a file, if nobody else has; True also where there are no locks."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # the file system has none
    return True


def _remove_left_behind(path: str) -> None:
    """Remove the incomplete files of this user's processes that were killed meanwhile."""
    folder, name = os.path.split(path)
    if sys.platform == "win32":  # there one cannot ask whether a process lives without a signal
        return
    entries: list[str] = []
    with suppress(OSError):  # a folder that can be written need not be readable
        entries = os.listdir(folder or ".")
    for entry in entries:
        form = _FORM.fullmatch(entry, len(name)) if entry.startswith(name) else None
        if form is not None and not _lives(int(form[1])):
            with suppress(OSError):  # another process removes it at the same time
                _remove_if_free(os.path.join(folder, entry))


def _remove_if_free(part: str) -> None:
    """Remove a file of this user that no process writes, here or on another machine."""
    file = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        stat = os.fstat(file)
        if S_ISREG(stat.st_mode) and stat.st_uid == os.getuid():
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.remove(part)
    finally:
        os.close(file)


def _lives(process: int) -> bool:
    """Whether a process with this number runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # it is another user's, or no process has such a number
    return True
