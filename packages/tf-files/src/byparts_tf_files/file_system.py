"""`tf.gfile`'s functions: what is on the disk of this machine.

What the system refuses is a `tf.errors` of its kind, with the path.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from byparts_tf_files import errors
from byparts_tf_files.paths import local_path
from byparts_tf_files.system_errors import as_tensorflow_errors


class FileStatistics(NamedTuple):
    """Facts about a file: bytes, nanoseconds of the last change, whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is a file or a folder."""
    return os.path.exists(local_path(path))


def is_directory(path: Any) -> bool:
    """Whether the path is that of a folder."""
    return os.path.isdir(local_path(path))


def make_directory(path: Any) -> None:
    """Make a folder in one that is there."""
    with as_tensorflow_errors(local_path(path)):
        os.mkdir(local_path(path))


def make_directories(path: Any) -> None:
    """Make a folder and those it is in; one that is there already is no error."""
    with as_tensorflow_errors(local_path(path)):
        os.makedirs(local_path(path), exist_ok=True)


def list_directory(path: Any) -> list[str]:
    """The names in a folder, sorted.

    Raises:
        NotFoundError: there is no such folder.
    """
    name = local_path(path)
    if not os.path.isdir(name):
        raise errors.NotFoundError(None, None, f"Could not find directory {name}")
    with as_tensorflow_errors(name):
        return sorted(os.listdir(name))


def matching_files(pattern: Any) -> list[str]:
    """The paths that fit a pattern (`*`, `?`, `[abc]`), or one of several; sorted."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else list(pattern)
    return sorted({p for one in patterns for p in glob.glob(local_path(one))})


def walk(
    top: Any, in_order: bool = True, topdown: Optional[bool] = None, onerror: Any = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder in a folder, itself included, with the names of its folders and its files.

    Args:
        top: the folder.
        in_order: a folder before those in it; else after them.
        topdown: the same, by its newer name.
        onerror: asked with the error where a folder cannot be read.
    """
    first = in_order if topdown is None else topdown
    for folder, folders, files in os.walk(local_path(top), first, onerror):
        folders.sort()
        yield folder, folders, sorted(files)


def copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        AlreadyExistsError: there is one, and `overwrite` is False.
    """
    old, new = local_path(oldpath), local_path(newpath)
    _check_free(new, overwrite)
    with as_tensorflow_errors(old):
        shutil.copyfile(old, new)


def rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Give a file or a folder another name.

    Raises:
        AlreadyExistsError: there is one, and `overwrite` is False.
    """
    old, new = local_path(oldname), local_path(newname)
    _check_free(new, overwrite)
    with as_tensorflow_errors(old):
        os.replace(old, new)


def remove(filename: Any) -> None:
    """Remove a file.

    Raises:
        NotFoundError: there is none.
    """
    with as_tensorflow_errors(local_path(filename)):
        os.remove(local_path(filename))


def delete_recursively(dirname: Any) -> None:
    """Remove a folder with all that is in it.

    Raises:
        NotFoundError: there is none.
    """
    name = local_path(dirname)
    with as_tensorflow_errors(name):
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name)
        else:
            os.remove(name)


def stat(filename: Any) -> FileStatistics:
    """Ask the system for length, time of the last change, and kind of a file.

    Raises:
        NotFoundError: there is none.
    """
    name = local_path(filename)
    with as_tensorflow_errors(name):
        status = os.stat(name)
    return FileStatistics(status.st_size, status.st_mtime_ns, os.path.isdir(name))


def _check_free(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {path}")
