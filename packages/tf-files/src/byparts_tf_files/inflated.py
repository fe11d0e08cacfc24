"""Reads a file that zlib or gzip has compressed as a whole, piece by piece."""

from __future__ import annotations

import zlib
from typing import IO, Any

from byparts_tf_files.errors import DataLossError

_PIECE_BYTES = 1 << 16


class Inflated:
    """The unpacked bytes of an open file.

    Args:
        file: the packed bytes, from where the file stands.
        window_bits: zlib's: 31 for gzip, which may have several parts; 15 for zlib.
    """

    def __init__(self, file: IO[bytes], window_bits: int) -> None:
        self._file, self._bits = file, window_bits
        self._inflate: Any = zlib.decompressobj(window_bits)
        self._packed = b""
        self._at = 0

    def read(self, count: int) -> bytes:
        """The next `count` bytes, or fewer at the end.

        Raises:
            DataLossError: it is damaged, or ends too early.
        """
        parts, left = [], count
        while left and (part := self._some(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _some(self, most: int) -> bytes:
        while True:
            if self._inflate.eof:
                self._packed = self._inflate.unused_data or self._next()
                if not self._packed or self._bits == 15:
                    return b""
                self._inflate = zlib.decompressobj(self._bits)
            packed = self._packed or self._next()
            try:
                part: bytes = self._inflate.decompress(packed, most)
            except zlib.error as error:
                raise self._fault(str(error)) from error
            self._packed = self._inflate.unconsumed_tail
            if part:
                return part
            if not packed and not self._inflate.eof:
                if not self._at:
                    return b""  # an empty file
                raise self._fault("it ends too early")

    def _next(self) -> bytes:
        data = self._file.read(_PIECE_BYTES)
        self._at += len(data)
        return data

    def _fault(self, what: str) -> DataLossError:
        return DataLossError(None, None, f"inflate() failed near byte {self._at}: {what}")
