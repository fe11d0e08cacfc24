"""Saves and loads named arrays: .npz or .safetensors, without pickle, so that loading runs no code.

An .npz is written with `zipfile` and `numpy.lib.format` rather than `numpy.savez`, which cannot
store an array called "file", and which writes bf16 and i4 as untyped bytes.  bf16 is stored as the
u16 of its bits, i4 as i8, and the comment of the entry says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EINVAL
from os import PathLike
from stat import S_ISREG
from typing import IO, Union
from zipfile import ZipFile, ZipInfo

import numpy as np

from byparts_graph_ir import FormatError, GraphError
from byparts_weights.array_file import ArrayFile
from byparts_weights.dtypes import Array, type_of
from byparts_weights.npz import STORED_AS, NpzFile
from byparts_weights.replace import replacing

Path = Union[str, PathLike[str]]


def save(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a file, which is replaced as a whole or not at all.

    That holds also if the process is killed meanwhile: the new content is written to a second file
    beside it (`replace.py`) and renamed when it is complete and on the disk.  A path
    that ends in .safetensors gets that format, any other path .npz, which `numpy.load` opens.

    Raises:
        GraphError: a name cannot be stored in a file.
        ShapeError: graph-ir has no such dtype.
        ImportError: the path ends in .safetensors, and the library is not installed.
        OSError: the file cannot be written, or the path is no regular file.
    """
    for name in arrays:
        _check_name(name)
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    if os.path.exists(path) and not os.path.isfile(path):  # a folder; a device would be replaced
        raise OSError(EINVAL, "expected the name of a file", os.fspath(path))
    with replacing(os.fspath(path)) as file:
        if _is_safetensors(os.fspath(path)):
            from byparts_weights.safetensors_file import to_safetensors  # an optional extra

            file.write(to_safetensors(arrays))
        else:
            _write_npz(file, arrays)


def load(path: Path) -> dict[str, Array]:
    """All arrays of a file, by name.

    Raises:
        OSError: there is no such file, or it cannot be read.
        FormatError: it is damaged; where.
        ImportError: the path ends in .safetensors, and the library is not installed.
    """
    with open_file(path) as file:
        return {name: file.read(name) for name in file.names}


@contextmanager
def open_file(path: Path) -> Iterator[ArrayFile]:
    """A file, open for reading: .safetensors if its name ends so, else .npz.

        with open_file("w.npz") as file:
            print({name: file.type(name) for name in file.names})  # before any array is read

    Raises:
        OSError: there is no such file, or it cannot be read.
        FormatError: it is damaged; where.
        ImportError: the path ends in .safetensors, and the library is not installed.
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FormatError(f"{name} is no file of arrays, but a pipe or a device")
        if _is_safetensors(name):
            from byparts_weights.safetensors_file import SafetensorsFile  # an optional extra

            yield SafetensorsFile(file, name)
        else:
            yield NpzFile(file, name)


def _is_safetensors(name: str) -> bool:
    return name.endswith(".safetensors")


def _check_name(name: object) -> None:
    """Refuse a name that would not come back from a file as it was."""
    if not isinstance(name, str):
        raise GraphError(f"array {name!r:.60} cannot be saved: its name is no text")
    if "\0" in name or any(0xD800 <= ord(letter) <= 0xDFFF for letter in name):
        what = "its name has a zero byte or half a surrogate pair"
        raise GraphError(f"array {name!r} cannot be saved: {what}; rename it")


def _write_npz(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry = ZipInfo(f"{name}.npy")
            dtype = type_of(array).dtype
            if dtype in STORED_AS:
                entry.comment, array = dtype.encode(), array.view(STORED_AS[dtype])
            if dtype == "i4":  # NumPy has these in four bits of a byte
                array = np.asarray(((array & 15) ^ 8) - 8)
            with archive.open(entry, "w", force_zip64=True) as content:
                np.lib.format.write_array(content, array, allow_pickle=False)
