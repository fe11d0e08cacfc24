"""Reads zip archives that may be damaged, or made to do harm.

`zipfile` raises errors of ten types on damaged archives, and lets two entries share bytes.
Here every number of the directory is checked before it is used: each entry has bytes of the file to
itself, and unpacks to as many bytes as it says, at most 1032 times as many as are packed (deflate
cannot do more).  Whatever is wrong is a `FormatError` with the byte of the file.  Taken: entries
that are stored or deflated, with 32- or 64-bit numbers.  Not taken: encryption, several disks,
bytes before the archive.  Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

import struct
import zlib
from typing import IO, Any, NamedTuple

from byparts_graph_ir import FormatError

_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _UTF8 = 0x1, 0x800
_FLAGS = _UTF8 | 0xE  # 0xE: the level of deflate, and sizes that stand behind the entry
_MAX_RATIO = 1032  # bytes unpacked of one packed byte: the most that deflate reaches
_MAX_DIRECTORY_BYTES = 16 << 20  # some 100 000 entries
_CHUNK_BYTES = 1 << 16

_END, _ENTRY = struct.Struct("<4s4H2LH"), struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_END64, _LOCATOR64 = struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")


class Entry(NamedTuple):
    """An entry of the directory of an archive.

    Attributes:
        name: a key; never used as a path.
        start: the byte of the file where the entry begins.
        limit: the byte where the next entry begins, or the directory.
        flags: bits that say how the entry is packed and how its name is encoded.
        method: 0 stored, 8 deflated.
        crc: the checksum of what it unpacks to.
        packed_bytes: size in the file.
        size_bytes: size unpacked.
        comment: any bytes; `npz.py` marks bf16 and i4 with them.
    """

    name: str
    start: int
    limit: int
    flags: int
    method: int
    crc: int
    packed_bytes: int
    size_bytes: int
    comment: bytes


class Source(NamedTuple):
    """An open file, and the path that error messages name."""

    file: IO[bytes]
    path: str

    def take(self, at: int, count: int) -> bytes:
        """`count` bytes of the file, from byte `at` on.

        Raises:
            FormatError: the file has fewer.
        """
        self.file.seek(at)
        data = self.file.read(count)
        if len(data) < count:
            raise self.fault(at + len(data), "the file ends here")
        return data

    def fault(self, at: int, what: str) -> FormatError:
        """The error that says what is wrong at byte `at` of the file."""
        return FormatError(f"{self.path} is no .npz of arrays: byte {at}: {what}")


class Content:
    """The bytes of an entry, unpacked as they are asked for.

    Raises:
        FormatError: the header of the entry contradicts the directory.
    """

    def __init__(self, source: Source, entry: Entry) -> None:
        self._source, self._entry = source, entry
        self._at = entry.start
        self._at = self._start()
        self._left, self._crc, self._pending = entry.packed_bytes, 0, b""
        self._inflate: Any = zlib.decompressobj(-15) if entry.method == _DEFLATED else None

    def take(self, count: int) -> bytes:
        """The next `count` bytes.

        Raises:
            FormatError: there are fewer, or they are damaged.
        """
        if count > self._entry.size_bytes:
            raise self.fault(f"{self._entry.size_bytes} bytes; expected {count} more")
        piece = bytearray(count)
        self.read_into(memoryview(piece))
        return bytes(piece)

    def read_into(self, view: memoryview) -> None:
        """Fill `view` with the next bytes.

        Raises:
            FormatError: there are fewer, or they are damaged.
        """
        done = 0
        while done < len(view):
            count = self._read_some(view[done : done + (_CHUNK_BYTES << 4)])
            if count == 0:
                raise self.fault("ends too early")
            done += count

    def finish(self) -> None:
        """Check that all bytes have been read and have the checksum of the directory.

        Raises:
            FormatError: some bytes are left, or the checksum differs.
        """
        extra = bytearray(1)
        if self._read_some(memoryview(extra)) or self._left or self._pending:
            raise self.fault(f"goes on after its {self._entry.size_bytes} bytes")
        if self._crc != self._entry.crc:
            raise self.fault(f"checksum {self._crc:08x}; expected {self._entry.crc:08x}")

    def fault(self, what: str) -> FormatError:
        """The error that says what is wrong at the byte read next."""
        return self._source.fault(self._at, f"entry {self._entry.name!r}: {what}")

    def _read_some(self, view: memoryview) -> int:
        """Fill the beginning of `view`.  Returns how many bytes; 0 where none are left."""
        piece = self._packed(len(view)) if self._inflate is None else self._inflated(len(view))
        view[: len(piece)] = piece
        self._crc = zlib.crc32(piece, self._crc)
        return len(piece)

    def _inflated(self, most: int) -> bytes:
        while not self._inflate.eof:
            packed = self._pending or self._packed(_CHUNK_BYTES)
            try:
                piece: bytes = self._inflate.decompress(packed, most)
            except zlib.error as error:
                raise self.fault(str(error)) from error
            self._pending = self._inflate.unconsumed_tail or self._inflate.unused_data
            if piece or not packed:
                return piece
        return b""

    def _packed(self, most: int) -> bytes:
        piece = self._source.take(self._at, min(most, self._left))
        self._at += len(piece)
        self._left -= len(piece)
        return piece

    def _start(self) -> int:
        """The byte where the content begins: behind the entry's own header, which is checked."""
        entry, source = self._entry, self._source
        fields = _LOCAL.unpack(source.take(entry.start, _LOCAL.size))
        name_bytes, extra_bytes = fields[9:]
        start: int = entry.start + _LOCAL.size + name_bytes + extra_bytes
        if fields[0] != b"PK\3\4":
            raise self.fault(f"does not begin as an entry, but with {fields[0]!r}")
        if start + entry.packed_bytes > entry.limit:
            raise self.fault(f"reaches byte {start + entry.packed_bytes}, which is not its own")
        name = _name(source.take(entry.start + _LOCAL.size, name_bytes), fields[2])
        if (fields[2], fields[3], name) != (entry.flags, entry.method, entry.name):
            raise self.fault("begins with another name or way of packing than its directory has")
        return start


def directory(source: Source) -> list[Entry]:
    """The entries of an archive, each with bytes of the file to itself.  O(n log n).

    Raises:
        FormatError: it is no zip archive, or damaged.
    """
    start, size_bytes, count = _extent(source)
    data = source.take(start, size_bytes)
    entries, at = [], 0
    for _ in range(count):
        entry, at = _entry(source, data, at, start)
        entries.append(entry)
    if at != len(data):
        raise source.fault(start + at, f"the directory goes on after its {count} entries")
    order = sorted(range(count), key=lambda k: entries[k].start)
    limits = [*[entries[k].start for k in order[1:]], start]
    for k, limit in zip(order, limits, strict=False):
        entries[k] = entries[k]._replace(limit=limit)
    return entries


def _extent(source: Source) -> tuple[int, int, int]:
    """The byte where the directory begins, its size in bytes and its number of entries."""
    size = source.file.seek(0, 2)
    first = max(0, size - _END.size - 0xFFFF)
    tail = source.take(first, size - first)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise source.fault(size, "no zip archive: it does not end with a directory")
    end = first + at
    _, disk, disks, here, count, size_bytes, start, comment_bytes = _END.unpack_from(tail, at)
    if len(tail) - at != _END.size + comment_bytes:
        raise source.fault(end, "the archive does not end where it says")
    wide = tail[max(0, at - _LOCATOR64.size) : at].startswith(b"PK\6\7")
    if wide or 0xFFFF in (here, count) or 0xFFFFFFFF in (size_bytes, start):
        end, disk, disks, here, count, size_bytes, start = _extent64(source, end)
    if (disk, disks) != (0, 0) or here != count:
        raise source.fault(end, "the archive is one of several; expected all of it in one file")
    if start + size_bytes != end or size_bytes > _MAX_DIRECTORY_BYTES or count * _ENTRY.size > end:
        what = f"a directory of {count} entries in {size_bytes} bytes at byte {start}"
        raise source.fault(end, f"{what}; expected it to end here")
    return start, size_bytes, count


def _extent64(source: Source, end: int) -> tuple[int, ...]:
    """The record of 64-bit numbers, which ends at byte `end`.

    Returns the byte where it begins, then its fields from the number of this disk on.
    """
    at = end - _LOCATOR64.size - _END64.size
    data = source.take(at, end - at) if at >= 0 else b""
    if data[:4] != b"PK\6\6" or data[_END64.size :] != _LOCATOR64.pack(b"PK\6\7", 0, at, 1):
        raise source.fault(end, "the archive lacks its 64-bit numbers")
    return (at, *_END64.unpack_from(data)[4:])


def _entry(source: Source, data: bytes, at: int, start: int) -> tuple[Entry, int]:
    """The entry at byte `at` of the directory, and the byte of the next one.

    `data` is the directory, which begins at byte `start` of the file.
    """
    here = start + at
    if len(data) - at < _ENTRY.size or data[at : at + 4] != b"PK\1\2":
        raise source.fault(here, "expected an entry of the directory")
    fields = _ENTRY.unpack_from(data, at)
    flags, method, crc, packed, size, names, extras, comments = (*fields[3:5], *fields[7:13])
    at += _ENTRY.size
    behind = at + names + extras + comments
    if behind > len(data):
        raise source.fault(here, "an entry of the directory reaches beyond its end")
    name = _name(data[at : at + names], flags)
    if flags & ~_FLAGS or method not in (_STORED, _DEFLATED) or name is None:
        how = "encrypted" if flags & _ENCRYPTED else f"of method {method} and flags {flags:#x}"
        raise source.fault(here, f"entry {name!r} is {how}; expected it stored or deflated")
    extra, comment = data[at + names : behind - comments], data[behind - comments : behind]
    size, packed, offset = _wide(extra, [size, packed, fields[16]])
    most = packed * _MAX_RATIO + _CHUNK_BYTES if method == _DEFLATED else packed
    if packed > start or size > most or offset >= start or (method == _STORED and size != packed):
        what = f"{size} bytes packed into {packed} at byte {offset}"
        raise source.fault(here, f"entry {name!r} has {what}, which cannot be")
    return Entry(name, offset, start, flags, method, crc, packed, size, comment), behind


def _wide(extra: bytes, numbers: list[int]) -> list[int]:
    """The numbers; those of 0xFFFFFFFF stand with 64 bits in the extra field, in this order."""
    at = 0
    while len(extra) - at >= 4:
        kind, length = struct.unpack_from("<2H", extra, at)
        at += 4
        field = extra[at : at + length] if kind == 1 else b""
        for k, number in enumerate(numbers):
            if number == 0xFFFFFFFF and len(field) >= 8:
                numbers[k], field = int.from_bytes(field[:8], "little"), field[8:]
        at += length
    return numbers


def _name(data: bytes, flags: int) -> str | None:
    """The name as text; `None` if its bytes are no text."""
    try:
        return data.decode("utf-8" if flags & _UTF8 else "cp437")
    except UnicodeDecodeError:
        return None
