"""Files that this process wrote, so that nothing else is removed when there are too many.

The state file of a folder of checkpoints names paths, and whoever made the folder may have named
any file.  A file counts as written here while it is the same file: path, device, number, size and
time of its last change.  A child that was forked has written nothing yet.
"""

from __future__ import annotations

import os

_Identity = tuple[int, ...]
_written: dict[str, _Identity] = {}


def remember(path: str) -> None:
    """Count a file, which was just closed and has its final name, as written here."""
    _written[os.path.abspath(path)] = _identity(path)


def is_ours(path: str) -> bool:
    """Whether the file at this path is one that this process wrote, unchanged since."""
    try:
        return _written.get(os.path.abspath(path)) == _identity(path)
    except OSError:
        return False


def remove_ours(path: str) -> bool:
    """Remove a file if it is ours; whether it was."""
    if not is_ours(path):
        return False
    os.remove(path)
    _written.pop(os.path.abspath(path), None)
    return True


def is_below(path: str, folder: str) -> bool:
    """Whether a path is in a folder or in one inside it, whatever links there are."""
    inside, root = os.path.realpath(path), os.path.realpath(folder)
    return inside.startswith(os.path.join(root, ""))


def _identity(path: str) -> _Identity:
    stat = os.lstat(path)
    return (os.getpid(), stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
