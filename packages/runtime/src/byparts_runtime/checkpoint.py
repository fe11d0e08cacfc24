"""Named arrays in one file: .npz or .safetensors, without pickle, so that loading runs no code.

An .npz is written with `zipfile` and `numpy.lib.format` rather than `numpy.savez`, which cannot
store an array called "file", and which writes bf16 as untyped bytes.  bf16 is stored as the u16 of
its bits, and the comment of its entry says so.
"""

from __future__ import annotations

import os
from _thread import get_ident
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EINVAL
from os import PathLike
from stat import S_ISREG
from typing import IO, Protocol, Union
from zipfile import ZipFile, ZipInfo

import numpy as np

from byparts_graph_ir import FormatError, GraphError, TensorType
from byparts_runtime.arrays import Array, type_of
from byparts_runtime.npz import BF16, NpzFile

Path = Union[str, PathLike[str]]


class TensorFile(Protocol):
    """An open file of arrays."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the arrays."""

    def type(self, name: str) -> TensorType:
        """Of an array, which is not read for it."""

    def read(self, name: str) -> Array:
        """The array."""


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """Write them all, or leave the file as it was: also if the process is killed meanwhile.

    What is written stands beside it, under a name with the process in it, until it is whole and on
    the disk.  A file called .safetensors is one, any other is .npz.

    Raises:
        GraphError: a name cannot stand in a file.
        ImportError: a .safetensors, and the library is not installed.
        OSError: it cannot be written, or is no regular file.
    """
    for name in tensors:
        _check_name(name)
    if os.path.exists(path) and not os.path.isfile(path):  # a folder; a device would be replaced
        raise OSError(EINVAL, "expected the name of a file", os.fspath(path))
    _remove_left_behind(path)
    beside = f"{os.fspath(path)}.{os.getpid()}.{get_ident()}.part"
    try:
        with open(beside, "wb") as file:
            if _is_safetensors(os.fspath(path)):
                from byparts_runtime.safetensors_file import to_safetensors  # an optional extra

                file.write(to_safetensors(tensors))
            else:
                _write_npz(file, tensors)
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


@contextmanager
def open_tensors(path: Path) -> Iterator[TensorFile]:
    """The file, open for reading: .safetensors if it is called so, else .npz.

    Raises:
        OSError: there is no such file, or it cannot be read.
        FormatError: it is damaged; where.
        ImportError: a .safetensors, and the library is not installed.
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FormatError(f"{name} is no file of arrays, but a pipe or a device")
        if _is_safetensors(name):
            from byparts_runtime.safetensors_file import SafetensorsFile  # an optional extra

            yield SafetensorsFile(file, name)
        else:
            yield NpzFile(file, name)


def read_tensor(file: TensorFile, name: str, path: Path) -> Array:
    """One array of an open file.

    Raises:
        FormatError: it is damaged; where.
    """
    array = file.read(name)
    if array.dtype == bool and array.size:
        greatest = int(array.view(np.uint8).max())
        if greatest > 1:
            what = f"in {name!r} a bool is the byte {greatest}; expected 0 or 1"
            raise FormatError(f"{os.fspath(path)} is damaged: {what}")
    return array


def _is_safetensors(name: str) -> bool:
    return name.endswith(".safetensors")


def _check_name(name: str) -> None:
    """A file could not give it back otherwise."""
    if "\0" in name or any(0xD800 <= ord(letter) <= 0xDFFF for letter in name):
        raise GraphError(f"variable {name!r} cannot be saved: its name is not a text of a file")


def _write_npz(file: IO[bytes], tensors: Mapping[str, Array]) -> None:
    with ZipFile(file, "w") as archive:
        for name, array in tensors.items():
            entry = ZipInfo(f"{name}.npy")
            if type_of(array).dtype == "bf16":
                entry.comment, array = BF16, array.view(np.uint16)
            with archive.open(entry, "w", force_zip64=True) as content:
                np.lib.format.write_array(content, array, allow_pickle=False)
