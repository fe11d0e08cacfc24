"""Files whose content is loaded as code: only this user wrote them, and only this user can.

An object in a folder that others may write, or that another user put there, would run their code.
So a folder is used when it is this user's and nobody else may write it; a file, likewise, when it
is no link.  What is being made stands in a folder of its own (mode 0700, a name that is new) with
the number of the process in its name and a lock, so that what a killed process left is removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG, S_ISVTX

UNFINISHED = "unfinished"
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


def move(file: Path, target: Path) -> None:
    """Give a file its final name in a folder of the same file system; nobody else may write it."""
    file.chmod(0o600)
    os.replace(file, target)


@contextmanager
def working_folder(directory: Path) -> Iterator[Path]:
    """A folder in `directory/unfinished` for what is being made; it is removed at the end.

    Leftovers are looked for at each call: among the 17,000 files of a full cache that took 10 ms.

    Raises:
        OSError: it cannot be made.
    """
    directory = directory / UNFINISHED
    directory.mkdir(mode=0o700, exist_ok=True)
    remove_left_behind(directory)
    work, lock = new_folder(directory)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(lock)


def new_folder(directory: Path) -> tuple[Path, int]:
    """A folder of a new name, and a lock that is held while it is in use: a file descriptor.

    Raises:
        OSError: it cannot be made.
    """
    while True:
        work = Path(tempfile.mkdtemp(prefix=f"byparts-{os.getpid()}-", dir=directory))
        with suppress(FileNotFoundError, BlockingIOError):  # taken for left behind: another one
            return work, _locked(work)


def _locked(work: Path) -> int:
    """Lock a folder; where the file system has no locks, nobody gets one.

    Raises:
        BlockingIOError: somebody has the lock.
        OSError: there is no such folder.
    """
    lock = os.open(work / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    except OSError:
        pass
    return lock


def remove_left_behind(directory: Path) -> None:
    """Remove the folders of this user's processes that were killed: their locks are free."""
    with suppress(OSError):
        for entry in os.scandir(directory):
            form = _FORM.fullmatch(entry.name)
            if form is not None and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):  # another process removes it at the same time, or uses it
                    _remove_if_free(Path(entry.path), int(form[1]))


def _remove_if_free(folder: Path, process: int) -> None:
    if os.lstat(folder).st_uid != os.getuid() or _lives(process):
        return
    lock = _locked(folder)
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _lives(process: int) -> bool:
    """Whether a process with this number runs here; on another machine one may, too."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # it is another user's, or no process has such a number
    return True
