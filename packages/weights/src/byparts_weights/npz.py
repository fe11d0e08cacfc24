"""Reads .npz files, NumPy's archives of arrays: a zip archive with a .npy file for each array.

`numpy.load` parses a header as Python and allocates what it claims.  Here the header has a fixed
grammar, and an array is allocated when its entry is known to have as many bytes.  Whatever is wrong
is a `FormatError` that names the entry and the byte of the file.  Taken: .npy versions 1 to 3,
either byte order, either order of axes.  Not taken: objects (pickles run code) and structures.

NumPy has no bf16 and no i4: they are stored as others (`STORED_AS`), and the comment of the entry
names them.  Taken as bf16 is also what `numpy.savez` makes of it: two bytes without a type.
"""

from __future__ import annotations

import re
import sys
from typing import IO, NamedTuple

import numpy as np

from byparts_graph_ir import ITEM_BYTES, ShapeError, TensorType
from byparts_weights.array_file import ArrayFile
from byparts_weights.dtypes import Array, claimed_type, numpy_dtype
from byparts_weights.zip_archive import Content, Entry, Source, directory

STORED_AS = {"bf16": "u2", "i4": "i1"}  # the bits of bf16; the numbers of i4
_MAX_HEADER_BYTES = 1 << 16
_DTYPES = {
    **{"f2": "f16", "f4": "f32", "f8": "f64", "V2": "bf16", "b1": "bool"},
    **{"i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"},
    **{"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64"},
}
_FIELD = re.compile(
    r"""\s*(?:'descr'\s*:\s*'(?P<descr>[^'\\]{1,40})'
    |'fortran_order'\s*:\s*(?P<fortran_order>True|False)
    |'shape'\s*:\s*\((?P<shape>(?:\s*\d{1,19}\s*,)*(?:\s*\d{1,19})?)\s*\))\s*(?:,|(?=\}))\s*""",
    re.VERBOSE | re.ASCII,
)
_EXAMPLE = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


class NpzFile(ArrayFile):
    """The arrays of an open .npz.

    Raises:
        FormatError: it is no zip archive, or its directory is damaged.
    """

    def __init__(self, file: IO[bytes], path: str) -> None:
        super().__init__(path)
        self._source = Source(file, path)
        self._entries: dict[str, Entry] = {}
        for entry in directory(self._source):
            name = entry.name.removesuffix(".npy")
            if name in self._entries:
                raise self._source.fault(entry.start, f"a second entry {entry.name!r}")
            self._entries[name] = entry

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def type(self, name: str) -> TensorType:
        return _header(self._entries[name], Content(self._source, self._entries[name])).type

    def _read(self, name: str) -> Array:
        content = Content(self._source, self._entries[name])
        header = _header(self._entries[name], content)
        flat = np.empty(header.type.size_bytes, np.uint8)
        content.read_into(flat.data)
        content.finish()
        if header.type.dtype == "i4":
            numbers = flat.view(np.int8)
            wrong = numbers[(numbers < -8) | (numbers > 7)]
            if wrong.size:
                raise content.fault(f"a number of i4 is {wrong[0]}; expected -8 to 7")
            flat &= 15  # what an array of i4 has in a byte
        return _array(flat, header)


class _Header(NamedTuple):
    """The header of a .npy file: the type and the layout of its array."""

    type: TensorType
    fortran_order: bool
    big_endian: bool


def _header(entry: Entry, content: Content) -> _Header:
    """Read the header of an entry; check that its array has as many bytes as the entry has left."""
    start = content.take(8)
    if start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3) or start[7] != 0:
        raise content.fault(f"begins with {start!r}; expected a .npy file of version 1 to 3")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(content.take(width), "little")
    if length > _MAX_HEADER_BYTES:
        raise content.fault(f"a header of {length} bytes; expected at most {_MAX_HEADER_BYTES}")
    header = _parsed(
        content, content.take(length).decode("latin-1"), entry.comment.decode("latin-1")
    )
    kind, before = header.type, 8 + width + length
    if before + kind.size_bytes != entry.size_bytes:
        takes = f"{kind} takes {kind.size_bytes} bytes after a header of {before}"
        raise content.fault(f"{takes}, the entry has {entry.size_bytes}")
    return header


def _parsed(content: Content, text: str, comment: str) -> _Header:
    """The header whose text this is; `comment` is that of the entry, see `STORED_AS`."""
    fields: dict[str, str] = {}
    at = 1
    while field := _FIELD.match(text, at):
        (key,) = [key for key, value in field.groupdict().items() if value is not None]
        if key in fields:
            break
        fields[key], at = field[key], field.end()
    complete = len(fields) == 3 and text[0] == "{" and text[at:].rstrip() == "}"
    if not complete or fields["shape"].isdigit():  # (3) is a number, (3,) a shape
        raise content.fault(f"its header is {text.rstrip()!r:.120}; expected {_EXAMPLE}")
    dims = tuple([int(number) for number in fields["shape"].replace(",", " ").split()])
    descr = fields["descr"]
    order, code = (descr[0], descr[1:]) if descr[0] in "<>=|" else ("=", descr)
    dtype = comment if STORED_AS.get(comment) == code else _DTYPES.get(code)
    if dtype is None:
        known = ", ".join(_DTYPES)
        raise content.fault(f"its dtype is {descr!r}; expected one of {known}")
    try:
        kind = claimed_type(dtype, dims)
    except ShapeError as error:
        raise content.fault(str(error)) from error
    big_endian = order == ">" or (order != "<" and sys.byteorder == "big")
    return _Header(kind, fields["fortran_order"] == "True", big_endian)


def _array(flat: Array, header: _Header) -> Array:
    """The array whose bytes, as the file has them, are `flat`."""
    dtype, dims = header.type.dtype, header.type.dims
    if header.big_endian != (sys.byteorder == "big"):
        flat = flat.view(f"u{ITEM_BYTES[dtype]}").byteswap().view(np.uint8)
    elements: Array = flat.view(numpy_dtype(dtype))
    if header.fortran_order:
        rows: Array = elements.reshape(dims[::-1]).T.copy()  # ascontiguousarray has no 0-d arrays
        return rows
    return elements.reshape(dims)
