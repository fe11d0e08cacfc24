"""Reads `.npy` and `.npz` files of NumPy, and calls nothing that they name.

`numpy.load` allocates what a header claims.  Here an array is allocated when there are as many
bytes, and an archive may unpack to `MOST_RATIO` times its size and `SPARE_BYTES`: images, texts and
weights reach a tenth of that.  Lists in arrays (of dtype object) are read by `plain_objects.py`.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from byparts_graph_ir import FormatError, GraphError
from byparts_tf_files.array_elements import as_shape, elements
from byparts_tf_files.plain_objects import plain_object

MOST_RATIO, SPARE_BYTES = 100, 1 << 20
_DAMAGE = (  # what `zipfile` raises
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, KeyError, IndexError),
    *(RuntimeError, OSError, GraphError),
)
_HEADER = re.compile(
    r"\{'descr': '(?P<dtype>[<>|=]?[a-zA-Z]\d{0,6})', 'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>(\d{1,18},? ?)*)\),? ?\}\s*"
)


def arrays_of(path: Any, lists: bool = False) -> dict[str, Any]:
    """The arrays of an .npz file by name.

    Args:
        path: the file.
        lists: whether an array may have lists, dicts and texts as elements.

    Raises:
        OSError: it cannot be read.
        FormatError: it is damaged, unpacks to too much, or has what is not taken.
    """
    with open(path, "rb") as file:
        try:
            return _unpacked(zipfile.ZipFile(file), os.fstat(file.fileno()).st_size, lists)
        except _DAMAGE as error:
            raise FormatError(f"{path} is no archive of arrays that is read: {error}") from error


def _unpacked(archive: zipfile.ZipFile, size_bytes: int, lists: bool) -> dict[str, Any]:
    left, arrays = MOST_RATIO * size_bytes + SPARE_BYTES, {}
    for entry in archive.infolist():
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(f"{entry.filename} is packed in way {entry.compress_type}")
        with archive.open(entry) as content:
            data = content.read(left + 1)
        left -= len(data)
        if left < 0:
            words = f"{MOST_RATIO} times its size and {SPARE_BYTES} bytes"
            raise FormatError(f"{entry.filename}: unpacked it has more than {words}")
        arrays[entry.filename.removesuffix(".npy")] = array_of(data, lists)
    return arrays


def array_of(data: bytes, lists: bool = False) -> Any:
    """The array of an .npy file; see `arrays_of`.

    Raises:
        FormatError: it is damaged; it has objects other than lists, numbers and texts.
    """
    version, width = data[6:8], 2 if data[6:7] == b"\1" else 4
    start = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    header = _HEADER.fullmatch(data[8 + width : start].decode("latin-1"))
    if data[:6] != b"\x93NUMPY" or version not in (b"\1\0", b"\2\0", b"\3\0") or header is None:
        raise FormatError(f"no array begins with {data[:80]!r}")
    shape = tuple([int(n) for n in header["shape"].replace(",", " ").split()])
    order = "F" if header["fortran"] == "True" else "C"
    if header["dtype"].lstrip("|") == "O":
        if not lists:
            raise FormatError("an array of objects: expected numbers")
        return as_shape(np.ravel(_list_of(plain_object(data[start:]))), shape, order)
    return as_shape(elements(data[start:], header["dtype"]), shape, order)


def _list_of(made: Any) -> Any:
    if not isinstance(made, np.ndarray):
        raise FormatError(f"{made!r:.80} in the place of an array of objects")
    return made
