"""Writes files so that others see the whole new content or the old one.

The new content is written beside the file and renamed when it is on the disk.  Its name has random
digits and must be new, so that neither a file of that name nor a link is ever written through.
What killed processes have left behind is removed when it is of this user and of just that form, its
process does not live here, and its lock is free: it may live where the disk is seen as well.
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

from byparts_tf_files.system_errors import as_tensorflow_errors

if sys.platform != "win32":
    import fcntl

_FORM = re.compile(r"\.([0-9]{1,10})\.[0-9a-f]{16}\.part")


@contextmanager
def beside(path: str) -> Iterator[IO[bytes]]:
    """A new file in the folder of `path`, to be renamed; removed at the end if it was not.

    Raises:
        OSError: it cannot be made.
    """
    _remove_left_behind(path)
    with _new_file(path) as file:
        name = file.name
        try:
            with suppress(FileNotFoundError):  # who may read the old one may read the new one
                os.chmod(name, S_IMODE(os.stat(path).st_mode) & 0o777)
            yield file
        finally:
            try:
                file.close()  # raises once more where the disk is full
            finally:
                with suppress(FileNotFoundError):
                    os.remove(name)


def to_disk(file: IO[bytes]) -> None:
    """Wait until the disk has what was written; else a power cut after renaming may leave less."""
    file.flush()
    os.fsync(file.fileno())
    if sys.platform == "win32":
        file.close()  # an open file cannot be renamed there


def replace_file(path: str, data: bytes) -> None:
    """Write a file, or replace it as a whole.

    Raises:
        OpError: it cannot be written.
    """
    with as_tensorflow_errors(path), beside(path) as file:
        file.write(data)
        to_disk(file)
        os.replace(file.name, path)


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
    """Remove what processes of this user that are no more have written beside `path`."""
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
