"""Files whose content is loaded as code: only this user wrote them, and only this user can.

An object in a folder that others may write, or that another user put there, would run their code.
So a folder is used when it is this user's and nobody else may write it; a file, likewise, when it
is no link.  What is being made stands in a folder of its own (mode 0700, a name that is new) with
the number of the process in its name, so that what a killed process left behind can be removed.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG, S_ISVTX

LEFT_BEHIND_S = 1200.0  # twice as long as a compiler may run
_OTHERS_WRITE = 0o022  # the group and everybody
_FORM = re.compile(r"byparts-([0-9]{1,10})-[a-z0-9_]{8}")


def check_private(directory: Path) -> None:
    """Raise PermissionError where somebody else could put files there, or rename the folder."""
    stat = os.stat(directory)
    if stat.st_uid != os.getuid():
        raise PermissionError(f"{directory} belongs to another user")
    if stat.st_mode & _OTHERS_WRITE:
        raise PermissionError(f"others may write {directory} (chmod go-w)")
    for parent in directory.resolve().parents:
        mode = os.stat(parent).st_mode
        if mode & 0o002 and not mode & S_ISVTX:
            raise PermissionError(f"others may rename {directory}: they may write {parent}")


def private_content(path: Path) -> bytes:
    """The content of a file that only this user can have written.

    Raises:
        OSError: there is none, or it is another user's, a link, or others may write it.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        stat = os.fstat(file.fileno())
        ours = S_ISREG(stat.st_mode) and stat.st_uid == os.getuid()
        if not ours or stat.st_mode & _OTHERS_WRITE:
            raise PermissionError(f"{path} is not this user's alone")
        return file.read()


def is_private(path: Path) -> bool:
    """Whether only this user can have written a file; False where there is none."""
    try:
        stat = os.lstat(path)
    except OSError:
        return False
    ours = S_ISREG(stat.st_mode) and stat.st_uid == os.getuid()
    return ours and not stat.st_mode & _OTHERS_WRITE


def move(made: Path, target: Path) -> None:
    """Give a file its final name in a folder of the same file system; nobody else may write it."""
    made.chmod(0o600)
    os.replace(made, target)


@contextmanager
def working_folder(directory: Path) -> Iterator[Path]:
    """A folder in `directory` for what is being made; it is removed at the end.

    Raises:
        OSError: it cannot be made.
    """
    remove_left_behind(directory)
    with tempfile.TemporaryDirectory(prefix=f"byparts-{os.getpid()}-", dir=directory) as work:
        yield Path(work)


def remove_left_behind(directory: Path) -> None:
    """Remove the working folders of this user's processes that were killed meanwhile."""
    with suppress(OSError):
        for entry in os.scandir(directory):
            form = _FORM.fullmatch(entry.name)
            if form is not None and _is_left_behind(int(form[1]), entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)  # another process may do it as well


def _is_left_behind(process: int, folder: str) -> bool:
    """Whether a folder is ours, unchanged for long, and of a process that does not live.

    Where the folder is on another machine's disk, the process may live there: hence the time.
    """
    try:
        stat = os.lstat(folder)
        os.kill(process, 0)
    except ProcessLookupError:
        ours = S_ISDIR(stat.st_mode) and stat.st_uid == os.getuid()
        return ours and stat.st_mtime < time.time() - LEFT_BEHIND_S
    except (OSError, OverflowError):
        pass  # it is gone; or the process is another user's, or no process has such a number
    return False
