"""Files on disk that cost time to make: private to the user, whole or absent, bounded.

A file appears by rename, with a sum that is checked when it is read, so processes may share the
directory.  Where it cannot be written, or others could write it, a temporary one serves until the
process ends, and a warning says so.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from shutil import rmtree
from warnings import warn

from byparts_tensor_ir.private import (
    check_private,
    move,
    new_folder,
    private_content,
    remove_left_behind,
    working_folder,
)

CACHE_BYTES = 256 << 20
EVERY = 16  # files that a process keeps until it looks again how large all are: there may be many
_kept = count(os.getpid())  # most processes keep a few files, and end before they look
_OUR_NAMES = re.compile(  # of files that may be removed; others in the folder are the user's
    r"[0-9a-f]{16,64}\.(so|cubin|json|h\.gch)|fastest-[\w.-]*\.json|byparts-[\w.-]*\.(cc|cu)"
)


def cache_directory() -> Path:
    """The directory of compiled files: `BYPARTS_CACHE`, or one in the user's cache directory.

    Raises:
        OSError: there is no place at all that can be written.
    """
    told = os.environ.get("BYPARTS_CACHE")
    if told:
        return _writable(Path(told))
    base = os.environ.get("XDG_CACHE_HOME")
    return _writable((Path(base) if base else Path.home() / ".cache") / "byparts")


@lru_cache(maxsize=8)
def _writable(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_private(directory)
        if not os.access(directory, os.W_OK):
            raise PermissionError(f"{directory} is read-only")
    except OSError as error:
        remove_left_behind(Path(tempfile.gettempdir()))
        folder, _ = new_folder(
            Path(tempfile.gettempdir())
        )  # locked and kept while the process lives
        atexit.register(_remove, folder, os.getpid())
        how = "set BYPARTS_CACHE to a directory of yours, to compile once and not in each process"
        warn(f"compiled code is kept in {folder}: {error}; {how}", RuntimeWarning, stacklevel=2)
        return folder
    return directory


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child ends before its parent
        rmtree(folder, ignore_errors=True)


def kept(path: Path) -> bytes | None:
    """Read a cached file and mark it as used now; `None` where it is damaged or another user's.

    Raises nothing: what cannot be read is made anew.
    """
    try:
        content, total = private_content(path), private_content(path.with_suffix(".sum"))
        if total != hashlib.sha256(content).hexdigest().encode():
            return None
        os.utime(path)
    except OSError:
        return None
    return content


def put(file: Path, target: Path) -> None:
    """Move a file of the same file system there, with its sum; make room now and then."""
    total = file.with_suffix(".sum")
    total.write_text(hashlib.sha256(file.read_bytes()).hexdigest())
    move(file, target)
    move(total, target.with_suffix(".sum"))
    if next(_kept) % EVERY == 0:
        trim(target.parent)


def kept_text(name: str) -> str | None:
    """A text that was kept under this name, and counts as used now; `None` where there is none."""
    try:
        path = cache_directory() / name
        total, _, text = private_content(path).decode().partition("\n")
        os.utime(path)
    except (OSError, UnicodeDecodeError):
        return None
    return text if total == hashlib.sha256(text.encode()).hexdigest() else None


def keep_text(name: str, text: str) -> None:
    """Keep a text; where there is no room it is made again in the next process."""
    whole = f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}"
    with suppress(OSError), working_folder(cache_directory()) as work:
        file = work / "text"
        file.write_bytes(whole.encode())  # as it is read: no other ends of lines
        move(file, cache_directory() / name)


def keep_source(name: str, text: str) -> Path:
    """Keep a source that a compiler refused, for who wants to look at it; its path.

    Raises:
        OSError: there is no place at all that can be written.
    """
    target = cache_directory() / name
    with working_folder(target.parent) as work:
        file = work / "source"
        file.write_text(text, encoding="utf-8")
        move(file, target)
    return target


def files_of(folder: Path) -> Iterator[str]:
    """A line for each Python file below a folder, that changes when the file does."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            stat = entry.stat()
            yield f"{entry.name} {stat.st_size} {stat.st_mtime_ns}"
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from files_of(Path(entry.path))


def trim(directory: Path) -> None:
    """Remove what was not used for the longest time, down to `CACHE_BYTES`.

    Compiled headers are of 40 MB, one for each set of flags.
    """
    files = []
    for entry in os.scandir(directory):  # 17,000 files take 70 ms, and 130 as `Path`s
        if _OUR_NAMES.fullmatch(entry.name):
            with suppress(OSError):  # another process removes it at the same time
                stat = entry.stat()
                files.append((stat.st_mtime, stat.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= CACHE_BYTES:
            return
        for one in (Path(path), Path(path).with_suffix(".sum")):
            with suppress(OSError):  # it is no file, or not ours
                one.unlink()
        total -= size
