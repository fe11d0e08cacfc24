"""Replaces a file as a whole: new content is written beside it, and renamed when it is on the disk.

The name of the new file has random digits and must be new: neither a file that has it nor a link is
ever written through.  What killed processes have left behind is removed when it is ours, of just
that form, and old: where a folder is on another machine's disk, a process that does not live here
may live there.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from stat import S_IMODE, S_ISREG
from typing import IO

_LEFT_BEHIND_S = 3600.0  # nothing was written to it for so long
_FORM = re.compile(r"\.([0-9]{1,10})\.[0-9a-f]{16}\.part")


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file, which is `path` when the body has ended; if it raises, the old one stays.

    Raises:
        OSError: it cannot be written.
    """
    _remove_left_behind(path)
    name = f"{path}.{os.getpid()}.{token_hex(8)}.part"
    with open(name, "xb") as file:
        try:
            with suppress(FileNotFoundError):  # who may read the old one may read the new one
                os.chmod(name, S_IMODE(os.stat(path).st_mode) & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a power cut after the renaming may leave an empty file
            file.close()
            os.replace(name, path)
        finally:
            file.close()
            with suppress(FileNotFoundError):
                os.remove(name)


def _remove_left_behind(path: str) -> None:
    """Remove the incomplete files of this user's processes that were killed meanwhile."""
    folder, name = os.path.split(path)
    if os.name != "posix":  # elsewhere one cannot ask whether a process lives without a signal
        return
    entries: list[str] = []
    with suppress(OSError):  # a folder that can be written need not be readable
        entries = os.listdir(folder or ".")
    for entry in entries:
        form = _FORM.fullmatch(entry, len(name)) if entry.startswith(name) else None
        if form is not None and not _lives(int(form[1])):
            with suppress(OSError):  # another process removes it at the same time
                _remove_if_old(os.path.join(folder, entry))


def _remove_if_old(part: str) -> None:
    stat = os.lstat(part)
    ours = S_ISREG(stat.st_mode) and stat.st_uid == os.getuid()
    if ours and stat.st_mtime < time.time() - _LEFT_BEHIND_S:
        os.remove(part)


def _lives(process: int) -> bool:
    """Whether a process with this number runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # it is another user's, or no process has such a number
    return True
