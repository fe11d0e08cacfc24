"""TFRecord files: records of bytes with checksums, plain or compressed as a whole.

Source: "TFRecords format details" of TensorFlow's guide (`python_io`).  A record is its length in
8 bytes, the masked CRC-32C of these in 4, its data, and the masked CRC-32C of the data in 4.  A
checksum that differs, or a file that ends inside a record, is a `DataLossError` with the byte.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, Any, Union

from byparts_tf_files.crc32c import masked_crc32c
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.inflated import Inflated
from byparts_tf_files.paths import path_of
from byparts_tf_files.system_errors import as_tensorflow_errors

_WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}
_PIECE_BYTES = 1 << 20


class TFRecordCompressionType:
    """Ways to compress a file, by their numbers."""

    NONE, ZLIB, GZIP = 0, 1, 2


_NAMES = {0: "", 1: "ZLIB", 2: "GZIP", None: ""}


class TFRecordOptions:
    """Compression of a file; the other arguments are zlib's, and by default what zlib takes.

    Raises:
        ValueError: a compression that is not known.
    """

    compression_type_map = _NAMES

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: Any = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:
        self.compression_type = self.get_compression_type_string(compression_type)
        self.compression_level = -1 if compression_level is None else int(compression_level)
        self.mem_level = zlib.DEF_MEM_LEVEL if mem_level is None else int(mem_level)
        self.compression_strategy = compression_strategy or zlib.Z_DEFAULT_STRATEGY

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression, of options, a number or a name: "", "ZLIB" or "GZIP".

        Raises:
            ValueError: it is none of these.
        """
        if isinstance(options, TFRecordOptions):
            return options.compression_type
        name = options if isinstance(options, str) else _NAMES.get(options)
        if name not in ("", "ZLIB", "GZIP"):
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name


class TFRecordWriter:
    """A file of records that is written.

    Args:
        path: of the file, which is replaced.
        options: `TFRecordOptions`, or the compression's number or name.

    Raises:
        OpError: the file cannot be written.
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._path = path_of(path)
        self._deflate: Any = None
        if options.compression_type:
            self._deflate = zlib.compressobj(
                options.compression_level,
                zlib.DEFLATED,
                _WINDOW_BITS[options.compression_type],
                options.mem_level,
                options.compression_strategy,
            )
        with as_tensorflow_errors(self._path):
            self._file: IO[bytes] = open(self._path, "wb")  # noqa: SIM115 - `close` closes it

    def write(self, record: Union[bytes, str]) -> None:
        """Write a record behind the others.

        Raises:
            TypeError: it is no bytes.
        """
        data = record.encode() if isinstance(record, str) else bytes(memoryview(record))
        framed = b"".join((_head(len(data)), data, masked_crc32c(data).to_bytes(4, "little")))
        with as_tensorflow_errors(self._path):
            self._file.write(self._deflate.compress(framed) if self._deflate else framed)

    def flush(self) -> None:
        """Hand to the system what was written."""
        with as_tensorflow_errors(self._path):
            if self._deflate:
                self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def close(self) -> None:
        """Write what is left and close the file."""
        if self._file.closed:
            return
        with as_tensorflow_errors(self._path):
            if self._deflate:
                self._file.write(self._deflate.flush())
            self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file.

    Raises:
        OpError: the file cannot be read.
        DataLossError: it is damaged; at which byte.
    """
    name = path_of(path)
    compression = TFRecordOptions.get_compression_type_string(options)
    with as_tensorflow_errors(name), open(name, "rb") as file:
        yield from records_of(Inflated(file, _WINDOW_BITS[compression]) if compression else file)


def records_of(source: Any) -> Iterator[bytes]:
    """The records of an open file.

    Raises:
        DataLossError: it is damaged; at which byte of what is read.
    """
    at = 0
    while head := _taken(source, 12):
        if len(head) < 12:
            raise _damaged("truncated", at)
        length = int.from_bytes(head[:8], "little")
        if _head(length) != head:
            raise _damaged("corrupted", at)
        data = _taken(source, length + 4)
        if len(data) < length + 4:
            raise _damaged("truncated", at)
        record = data[:length]
        if masked_crc32c(record).to_bytes(4, "little") != data[length:]:
            raise _damaged("corrupted", at)
        at += 16 + length
        yield record


@lru_cache(1024)
def _head(length: int) -> bytes:
    """Make the bytes in front of a record of `length` bytes: its length, and a checksum of that."""
    size = length.to_bytes(8, "little")
    return size + masked_crc32c(size).to_bytes(4, "little")


def _taken(source: Any, count: int) -> bytes:
    """The next `count` bytes, or fewer at the end; no more memory than there are bytes."""
    if count <= _PIECE_BYTES:
        return bytes(source.read(count))
    parts = []
    while count and (part := source.read(min(count, _PIECE_BYTES))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _damaged(how: str, at: int) -> DataLossError:
    return DataLossError(None, None, f"{how} record at {at}")
