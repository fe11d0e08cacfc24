"""`tf.TFRecordReader` and its kin: records of the files whose names come from a queue."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64, string
from byparts_tf_files.file_system import make_directories
from byparts_tf_files.gfile import read_file_to_string, write_string_to_file
from byparts_tf_files.paths import local_path
from byparts_tf_files.records import TFRecordOptions
from byparts_tf_input.queues.kinds import kept_kind
from byparts_tf_input.queues.records import (
    ReaderState,
    fixed_length,
    itself,
    lines,
    tf_records,
    whole_file,
)
from byparts_tf_input.queues.storage import Storage


class ReaderReadV2(NamedTuple):
    """A record."""

    key: Tensor
    value: Tensor


class ReaderReadUpToV2(NamedTuple):
    """Records."""

    keys: Tensor
    values: Tensor


def _reader(type: str, open_file: Callable[..., Any], *attributes: str) -> Kind:
    def make(name: str, op: Operation) -> ReaderState:
        return ReaderState(partial(open_file, **{a: op.attributes[a] for a in attributes}))

    return kept_kind(type, make)


_WHOLE = _reader("WholeFileReaderV2", whole_file)
_IDENTITY = _reader("IdentityReaderV2", itself)
_LINES = _reader("TextLineReaderV2", lines, "skip")
_RECORDS = _reader("TFRecordReaderV2", tf_records, "compression")
_FIXED = _reader("FixedLengthRecordReaderV2", fixed_length, "record", "header", "footer", "hop")


def _strings(values: list[bytes]) -> Any:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _read(reader: ReaderState, queue: Storage) -> Any:
    ((key, value),) = reader.read(queue, 1)
    return np.array(key, object), np.array(value, object)


def _read_up_to(reader: ReaderState, queue: Storage, count: Any) -> Any:
    found = reader.read(queue, int(count))
    return _strings([key for key, _ in found]), _strings([value for _, value in found])


def _kind(type: str, host: Callable[..., Any], dims: Any, dtypes: Any) -> Kind:
    return Kind(
        type, host=host, shape=lambda inputs: dims, dtype=dtypes, gradient=False, effect=True
    )


_READ = _kind("ReaderReadV2", _read, (), [string, string])
_READ_UP_TO = _kind("ReaderReadUpToV2", _read_up_to, (None,), [string, string])
_RESET = _kind("ReaderResetV2", lambda reader: reader.reset(), [], ())
_PRODUCED = _kind("ReaderNumRecordsProducedV2", lambda r: np.int64(r.records), (), int64)
_COMPLETED = _kind("ReaderNumWorkUnitsCompletedV2", lambda r: np.int64(r.files), (), int64)


@symbol("ReaderBase")
class ReaderBase:
    """A reader of the graph; each session reads for itself.

    Args:
        reader_ref: the tensor that stands for it.
        supports_serialize: accepted.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The tensor that stands for it."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader's state can be serialized: in TensorFlow that of few, here of none."""
        return self._supports_serialize

    def read(self, queue: Any, name: Optional[str] = None) -> ReaderReadV2:
        """The next record, as (key, value); files are taken from the queue when needed.

        Raises at run time:
            OutOfRangeError: the queue is closed and empty.
        """
        return ReaderReadV2(*_READ.outputs(self._reader_ref, _ref(queue), name=name))

    def read_up_to(
        self, queue: Any, num_records: TensorLike, name: Optional[str] = None
    ) -> ReaderReadUpToV2:
        """The next records, as (keys, values): fewer at the end of a file, but one at least.

        Raises at run time:
            OutOfRangeError: the queue is closed and empty.
        """
        count = convert_to_tensor(num_records, int64)
        return ReaderReadUpToV2(
            *_READ_UP_TO.outputs(self._reader_ref, _ref(queue), count, name=name)
        )

    def num_records_produced(self, name: Optional[str] = None) -> Tensor:
        """The number of records that the reader has read."""
        return _PRODUCED(self._reader_ref, name=name)

    def num_work_units_completed(self, name: Optional[str] = None) -> Tensor:
        """The number of files that the reader has finished."""
        return _COMPLETED(self._reader_ref, name=name)

    def reset(self, name: Optional[str] = None) -> Operation:
        """An operation after which it begins anew."""
        return _RESET.operation([self._reader_ref], name)


def _ref(queue: Any) -> Tensor:
    found: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
    return found


@symbol("WholeFileReader")
class WholeFileReader(ReaderBase):
    """Each file is a record, whose key is its name."""

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__(_WHOLE(name=name), supports_serialize=True)


@symbol("IdentityReader")
class IdentityReader(ReaderBase):
    """A reader without files: what comes from the queue is a record, and its key."""

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__(_IDENTITY(name=name), supports_serialize=True)


@symbol("TextLineReader")
class TextLineReader(ReaderBase):
    """Each line is a record; `skip_header_lines` at the top of each file are left out."""

    def __init__(self, skip_header_lines: Optional[int] = None, name: Optional[str] = None) -> None:
        super().__init__(_LINES(name=name, skip=int(skip_header_lines or 0)))


@symbol("TFRecordReader")
class TFRecordReader(ReaderBase):
    """The records of TFRecord files; `options` says how they are compressed."""

    def __init__(self, name: Optional[str] = None, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(_RECORDS(name=name, compression=compression))


@symbol("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Pieces of files, of one size.

    Args:
        record_bytes: bytes of a record.
        header_bytes, footer_bytes: bytes that are left out at both ends of a file.
        hop_bytes: from the begin of a record to the begin of the next; by default `record_bytes`.
        name: of the operation.
        encoding: only `None`: the files are not compressed.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: Optional[int] = None,
        footer_bytes: Optional[int] = None,
        hop_bytes: Optional[int] = None,
        name: Optional[str] = None,
        encoding: Optional[str] = None,
    ) -> None:
        if encoding:
            raise NotImplementedError(f"encoding={encoding!r}: decompress the files first")
        sizes = {"header": header_bytes, "footer": footer_bytes, "hop": hop_bytes}
        given = {key: int(size or 0) for key, size in sizes.items()}
        super().__init__(_FIXED(name=name, record=int(record_bytes), **given))


_READ_FILE = Kind(
    "ReadFile",
    host=lambda name: np.array(read_file_to_string(_text(name), binary_mode=True), object),
    shape=like_first,
    dtype=string,
    gradient=False,
    effect=True,
)
_WRITE_FILE = Kind(
    "WriteFile",
    host=lambda name, data: _write(_text(name), data),
    shape=lambda inputs: [],
    dtype=(),
    gradient=False,
    effect=True,
)


def _text(given: Any) -> str:
    return bytes(np.asarray(given, object)[()]).decode()


def _write(name: str, data: Any) -> None:
    make_directories(os.path.dirname(local_path(name)) or ".")
    write_string_to_file(name, bytes(np.asarray(data, object)[()]))


@symbol("read_file", "io.read_file")
def read_file(filename: TensorLike, name: Optional[str] = None) -> Tensor:
    """The content of a file.

    Raises at run time:
        NotFoundError: there is none.
    """
    return _READ_FILE(convert_to_tensor(filename, dtype=string, name="filename"), name=name)


@symbol("write_file", "io.write_file")
def write_file(filename: TensorLike, contents: TensorLike, name: Optional[str] = None) -> Operation:
    """An operation that writes a file, in a folder that is made."""
    given = [convert_to_tensor(v, dtype=string) for v in (filename, contents)]
    return _WRITE_FILE.operation(given, name)
