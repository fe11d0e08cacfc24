"""Named arrays in one file: NumPy's .npz, without pickle, so that loading never runs code.

Written with `zipfile` and `numpy.lib.format` rather than `numpy.savez`, which cannot store an array
called "file", and which writes bf16 as untyped bytes.  bf16 is stored as the u16 of its bits, and
the comment of its entry says so.
"""

from __future__ import annotations

import os
from _thread import get_ident
from collections.abc import Container, Mapping
from contextlib import suppress
from os import PathLike
from typing import Optional, Union
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from byparts_graph_ir import FormatError
from byparts_runtime.arrays import Array, carrier, type_of

Path = Union[str, PathLike[str]]

_BF16 = b"bf16"


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """Write them all, or leave the file as it was: also if the process is killed meanwhile.

    What is written stands beside it, under a name with the process in it, until it is whole and on
    the disk.
    """
    _remove_left_behind(path)
    beside = f"{os.fspath(path)}.{os.getpid()}.{get_ident()}.part"
    try:
        with open(beside, "wb") as file:
            with ZipFile(file, "w") as archive:
                for name, array in tensors.items():
                    _write(archive, name, array)
            file.flush()
            os.fsync(file.fileno())  # before the name is its own, or a power cut leaves it empty
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def _remove_left_behind(path: Path) -> None:
    """What processes that were killed while they wrote this file have left."""
    folder, name = os.path.split(os.fspath(path))
    if os.name != "posix":  # elsewhere one cannot ask for a process without a signal
        return
    for found in os.listdir(folder or "."):
        mark = found.removeprefix(f"{name}.").removesuffix(".part").partition(".")[0]
        mine = found.startswith(f"{name}.") and found.endswith(".part") and mark.isdigit()
        if mine and not _lives(int(mark)):
            with suppress(FileNotFoundError):  # another process removes it, too
                os.remove(os.path.join(folder, found))


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # as another user's
    return True


def read_tensors(path: Path, only: Optional[Container[str]] = None) -> dict[str, Array]:
    """The arrays of a file by name, all or `only` those.

    Raises:
        FormatError: it is no archive of arrays, or one of them is damaged or pickled.
    """
    try:
        with ZipFile(path) as archive:
            named = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            wanted = [name for name in named if only is None or name in only]
            return {name: _read(archive, named[name]) for name in wanted}
    except (BadZipFile, ValueError, EOFError) as error:
        raise FormatError(f"{os.fspath(path)} is no .npz of arrays: {error}") from error


def _write(archive: ZipFile, name: str, array: Array) -> None:
    entry = ZipInfo(f"{name}.npy")
    if type_of(array).dtype == "bf16":
        entry.comment, array = _BF16, array.view(np.uint16)
    with archive.open(entry, "w", force_zip64=True) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def _read(archive: ZipFile, entry: ZipInfo) -> Array:
    with archive.open(entry) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
    return array.view(carrier("bf16")) if entry.comment == _BF16 else array
