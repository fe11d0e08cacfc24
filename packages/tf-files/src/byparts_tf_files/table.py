"""Sorted tables of keys and values, in which TensorFlow keeps checkpoints: reads and writes them.

Source: "Leveldb file format" (google/leveldb, `doc/table_format.md`).  Blocks of entries whose keys
share their beginnings, each block with a checksum and perhaps packed by snappy; an index block with
the last key and the place of each; a footer with the place of the index.  Damage is a
`DataLossError` with the byte of the file.

What a small file can ask for is bounded, far above what writers do: no two blocks share bytes, and
of a block of n bytes in the file come at most n / 4 + 1024 entries and 128 n + 65536 bytes of keys
(a key may repeat the one before it at the cost of a byte).
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import pairwise
from threading import Lock
from typing import IO

from byparts_tf_files.crc32c import masked_crc32c
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.snappy import unpacked
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_files.wire import DecodeError, fault, read_varint, varint

MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER_BYTES, _TRAILER_BYTES = 48, 5
_BLOCK_BYTES, _RESTART_INTERVAL = 1 << 16, 16
_PLAIN, _SNAPPY = 0, 1
_KEPT_BYTES = 1 << 20  # of blocks that were read last, as they stand in the file

Entry = tuple[bytes, bytes]
Place = tuple[int, int]  # of a block: its first byte and its size in bytes


class Table:
    """A table in a file, opened for each block that is read.

    Raises:
        OpError: the file cannot be read.
        DataLossError: it is no table.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with as_tensorflow_errors(path), open(path, "rb") as file:
            self.size_bytes = file.seek(0, os.SEEK_END)
            file.seek(max(0, self.size_bytes - _FOOTER_BYTES))
            footer = file.read()
        if len(footer) < _FOOTER_BYTES or footer[-8:] != MAGIC:
            raise self.fault(max(0, self.size_bytes - 8), "not an sstable (bad magic number)")
        try:
            at = _place(footer, 0)[1]  # behind that of the metaindex, which is not used
            place = _place(footer, at)[0]
        except DecodeError as error:
            raise self.fault(self.size_bytes - _FOOTER_BYTES, str(error)) from error
        self._index = [(key, self._place_in(value)) for key, value in self._block(place)]
        self._last_keys = [key for key, _ in self._index]
        self._kept: dict[Place, dict[bytes, bytes]] = {}
        self._lock = Lock()
        self._check_places(place)

    def items(self) -> Iterator[Entry]:
        """All entries, in the order of their keys."""
        for _, place in self._index:
            yield from self._block(place)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or `None`."""
        i = bisect_left(self._last_keys, key)
        if i == len(self._index):
            return None
        with self._lock:
            return self._entries_of(self._index[i][1]).get(key)

    def _entries_of(self, place: Place) -> dict[bytes, bytes]:
        """The entries of a block, kept for the next question, which is often for the same."""
        found = self._kept.pop(place, None)
        if found is None:
            found = dict(self._block(place))
            while self._kept and sum(s for _, s in self._kept) + place[1] > _KEPT_BYTES:
                del self._kept[next(iter(self._kept))]
        self._kept[place] = found
        return found

    def fault(self, at: int, what: str) -> DataLossError:
        """The error that says what is wrong at a byte of the file."""
        return DataLossError(None, None, f"{self.path}: byte {at}: {what}")

    def _check_places(self, index: Place) -> None:
        """Refuse blocks in the same bytes: a small file would be read many times over."""
        places = sorted([*[place for _, place in self._index], index])
        for (start, size), (following, _) in pairwise(places):
            if start + size > following:
                raise self.fault(following, "two blocks have this byte")

    def _place_in(self, value: bytes) -> Place:
        try:
            return _place(value, 0)[0]
        except DecodeError as error:
            raise self.fault(self.size_bytes, f"the index: {error}") from error

    def _block(self, place: Place) -> list[Entry]:
        start, size = place
        if start + size + _TRAILER_BYTES > self.size_bytes:
            raise self.fault(start, f"a block of {size} bytes in a file of {self.size_bytes}")
        with as_tensorflow_errors(self.path), open(self.path, "rb") as file:
            file.seek(start)
            data = file.read(size + _TRAILER_BYTES)
        kind = data[size] if len(data) == size + _TRAILER_BYTES else -1
        if masked_crc32c(data[: size + 1]).to_bytes(4, "little") != data[size + 1 :]:
            raise self.fault(start, "block checksum mismatch")
        if kind not in (_PLAIN, _SNAPPY):
            raise self.fault(start, f"a block packed in way {kind}; expected 0 or 1")
        try:
            return _entries(unpacked(data[:size]) if kind == _SNAPPY else data[:size], size)
        except DecodeError as error:
            raise self.fault(start, f"in the block that begins here: {error}") from error


def is_table(path: str) -> bool:
    """Whether a file ends as a table does.

    Raises:
        OSError: it cannot be read.
    """
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _FOOTER_BYTES))
        footer = file.read()
    return len(footer) == _FOOTER_BYTES and footer.endswith(MAGIC)


def _place(data: bytes, at: int) -> tuple[Place, int]:
    """The place of a block that stands at byte `at`, and the byte behind it."""
    start, at = read_varint(data, at, len(data))
    size, at = read_varint(data, at, len(data))
    return (start, size), at


def _entries(data: bytes, size_bytes: int) -> list[Entry]:
    """The entries of a block, which has `size_bytes` in the file; keys must grow."""
    most, key_bytes = size_bytes // 4 + 1024, 128 * size_bytes + (1 << 16)
    restarts = int.from_bytes(data[-4:], "little")
    end = len(data) - 4 * (restarts + 1)
    if len(data) < 4 or end < 0:
        raise fault(len(data), f"a block of {len(data)} bytes with {restarts} restarts")
    entries: list[Entry] = []
    at, key = 0, b""
    while at < end:
        start = at
        shared, at = read_varint(data, at, end)
        own, at = read_varint(data, at, end)
        size, at = read_varint(data, at, end)
        if shared > len(key) or own + size > end - at:
            raise fault(start, f"an entry with {shared} shared, {own} own and {size} value bytes")
        key_bytes -= shared + own
        if key_bytes < 0 or len(entries) == most:
            raise fault(start, f"more entries or longer keys than {size_bytes} bytes should have")
        before, key = key, key[:shared] + data[at : at + own]
        if entries and key <= before:
            raise fault(start, f"the key {key[:40]!r} behind {before[:40]!r}")
        entries.append((key, data[at + own : at + own + size]))
        at += own + size
    return entries


def write_table(file: IO[bytes], entries: Mapping[bytes, bytes]) -> None:
    """Write a table to an open file, from its first byte on."""
    index: list[Entry] = []
    at, waiting, size = 0, [], 0
    for key in sorted(entries):
        waiting.append((key, entries[key]))
        size += len(key) + len(entries[key])
        if size >= _BLOCK_BYTES:
            at, size = _written(file, at, waiting, index), 0
            waiting = []
    if waiting or not index:
        at = _written(file, at, waiting, index)
    places: list[Entry] = []
    at = _written(file, at, [], places)
    _written(file, at, index, places)
    footer = b"".join([place for _, place in places])
    file.write(footer.ljust(_FOOTER_BYTES - 8, b"\0") + MAGIC)


def _written(file: IO[bytes], at: int, entries: list[Entry], index: list[Entry]) -> int:
    """Write a block at byte `at` and add its last key and place to `index`; the byte behind it."""
    data, before, restarts = bytearray(), b"", []
    for i, (key, value) in enumerate(entries):
        if i % _RESTART_INTERVAL == 0:
            restarts.append(len(data))
            before = b""
        shared = _shared(before, key)
        data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        data += key[shared:] + value
        before = key
    for number in (*(restarts or [0]), max(1, len(restarts))):
        data += number.to_bytes(4, "little")
    place = varint(at) + varint(len(data))
    data.append(_PLAIN)
    data += masked_crc32c(data).to_bytes(4, "little")
    file.write(data)
    index.append((before, place))
    return at + len(data)


def _shared(a: bytes, b: bytes) -> int:
    """Length of the prefix that two keys share."""
    shortest = min(len(a), len(b))
    return next((i for i in range(shortest) if a[i] != b[i]), shortest)
