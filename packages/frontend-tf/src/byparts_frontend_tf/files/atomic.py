"""Writes files so that others see the whole new content or the old one.

The new content is written beside the file, under a name with the process and the thread, and
renamed when it is on the disk.  What killed processes have left behind is removed then.
"""

from __future__ import annotations

import os
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape, glob
from typing import IO

from byparts_frontend_tf.files.system_errors import as_tensorflow_errors


def part_of(path: str) -> str:
    """The name under which this thread writes what will be `path`."""
    return f"{path}.{os.getpid()}.{get_ident()}.part"


@contextmanager
def beside(path: str) -> Iterator[IO[bytes]]:
    """A new file called `part_of(path)`, on the disk when the body is left; none if it raises.

    Raises:
        OpError: it cannot be written.
    """
    _remove_left_behind(path)
    with as_tensorflow_errors(path):
        try:
            with open(part_of(path), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # else a power cut after the renaming may leave less
        except BaseException:
            drop_part(path)
            raise


def drop_part(path: str) -> None:
    """Remove what this thread has written beside `path`, if it has."""
    with suppress(FileNotFoundError):
        os.remove(part_of(path))


def replace_file(path: str, data: bytes) -> None:
    """Write a file, or replace it as a whole.

    Raises:
        OpError: it cannot be written.
    """
    with beside(path) as file:
        file.write(data)
    try:
        with as_tensorflow_errors(path):
            os.replace(part_of(path), path)
    finally:
        drop_part(path)


def _remove_left_behind(path: str) -> None:
    """Remove what processes that are no more have written beside `path`."""
    for part in glob(f"{escape(path)}.*.part"):
        process = part[len(path) + 1 :].partition(".")[0]
        if process.isdigit() and os.name == "posix" and not _lives(int(process)):
            with suppress(FileNotFoundError):  # another process removes it at the same time
                os.remove(part)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # it is another user's, or no process has such a number
    return True
