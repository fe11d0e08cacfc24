"""Files on disk that cost time to make: private to the user, whole or absent, bounded.

A file appears by rename, with a sum that is checked when it is read, so processes may share the
directory.  Where it cannot be written, or others could write it, a temporary one serves until the
process ends, and a warning says so.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from warnings import warn

CACHE_BYTES = 256 << 20
EVERY = 16  # files that a process keeps until it looks again how large all are: there may be many
_kept = count()
_PATTERNS = ("*.so", "*.gch", "*.json", "*.cubin")


def cache_directory() -> Path:
    """Where files are kept: `BYPARTS_CACHE`, or below the user's cache directory.

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
        stat = os.stat(directory)
        if stat.st_uid != os.getuid() or stat.st_mode & 0o002:  # somebody's code would run
            raise PermissionError(f"others may write {directory}")
        if not os.access(directory, os.W_OK):
            raise PermissionError(f"{directory} is read-only")
    except OSError as error:
        made = tempfile.TemporaryDirectory(prefix="byparts-")  # removed when the process ends
        _temporary.append(made)
        how = "set BYPARTS_CACHE to a directory of yours, to compile once and not in each process"
        warn(f"compiled code is kept in {made.name}: {error}; {how}", RuntimeWarning, stacklevel=2)
        return Path(made.name)
    return directory


_temporary: list[tempfile.TemporaryDirectory[str]] = []


def kept(path: Path) -> bytes | None:
    """What was put there, and counts as used now; `None` where it is not whole.

    Raises nothing: what cannot be read is made anew.
    """
    try:
        content = path.read_bytes()
        if path.with_suffix(".sum").read_text() != hashlib.sha256(content).hexdigest():
            return None
        os.utime(path)
    except OSError:
        return None
    return content


def put(made: Path, target: Path) -> None:
    """Move a file of the same file system there, with its sum; make room now and then."""
    total = made.with_suffix(".sum")
    total.write_text(hashlib.sha256(made.read_bytes()).hexdigest())
    os.replace(made, target)
    os.replace(total, target.with_suffix(".sum"))
    if next(_kept) % EVERY == 0:
        trim(target.parent)


def kept_text(name: str) -> str | None:
    """A text that was kept under this name, and counts as used now; `None` where there is none."""
    try:
        path = cache_directory() / name
        total, _, text = path.read_text(encoding="utf-8").partition("\n")
        os.utime(path)
    except OSError:
        return None
    return text if total == hashlib.sha256(text.encode()).hexdigest() else None


def keep_text(name: str, text: str) -> None:
    """Keep a text; where there is no room it is made again in the next process."""
    whole = f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}"
    with suppress(OSError), tempfile.TemporaryDirectory(dir=cache_directory()) as work:
        made = Path(work) / "text"
        made.write_text(whole, encoding="utf-8")
        os.replace(made, cache_directory() / name)


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
    for p in [p for pattern in _PATTERNS for p in directory.glob(pattern)]:
        try:
            stat = p.stat()
            files.append((stat.st_mtime, stat.st_size, p))
        except OSError:
            continue
    total = sum(size for _, size, _ in files)
    for _, size, p in sorted(files):
        if total <= CACHE_BYTES:
            return
        for one in (p, p.with_suffix(".sum")):
            one.unlink(missing_ok=True)
        total -= size
