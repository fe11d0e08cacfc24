"""Datasets of what is in files: records, lines, rows of fixed length, comma-separated values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import string
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.inflated import Inflated
from byparts_tf_files.paths import local_path
from byparts_tf_files.records import TFRecordOptions, records_of
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_input.datasets.dataset import Dataset
from byparts_tf_input.datasets.elements import Row, Spec
from byparts_tf_input.datasets.mapping import interleaved
from byparts_tf_input.datasets.pipeline import Context, EndOfSequence, Next, Pipeline, number
from byparts_tf_input.datasets.sources import of_slices

_WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}
_PIECE_BYTES = 1 << 16
Read = Callable[[Any, Context], Iterator[Row]]


def _rows(path: str, compression: str, read: Read, context: Context) -> Iterator[Row]:
    """Open a file and yield the rows that `read` finds in it.

    Raises:
        OpError: the file cannot be read.
    """
    name = local_path(path)
    with as_tensorflow_errors(name), open(name, "rb") as file:
        source = Inflated(file, _WINDOW_BITS[compression]) if compression else file
        yield from read(source, context)


def of_files(
    filenames: Any,
    read: Read,
    compression_type: Any,
    element: Any = None,
    parallel: Any = None,
    tensors: Sequence[Tensor] = (),
) -> Pipeline:
    """The rows of one file after the other; of `parallel` files by turns.

    Args:
        filenames: a path, a list of them, a tensor, or a dataset.
        read: gives the rows of an open file.
        compression_type: "", "GZIP" or "ZLIB", or a tensor.
        element: the specs of a row; by default one string.
        parallel: how many files, or `None`.
        tensors: what `read` needs.
    """
    element = Spec(string, ()) if element is None else element
    packed = convert_to_tensor(
        "" if compression_type is None else compression_type, string, "compression_type"
    )

    def of_paths(source: Pipeline) -> Pipeline:
        def start(context: Context) -> Next:
            kind = TFRecordOptions.get_compression_type_string(
                context.value(packed).item().decode()
            )
            return _one_by_one(source.start(context), lambda path: _rows(path, kind, read, context))

        return Pipeline(element, start, (source,), (packed, *tensors))

    paths = filenames._pipeline if isinstance(filenames, Dataset) else _paths(filenames)
    if parallel is None:
        return of_paths(paths)
    return interleaved(paths, lambda path: Dataset(of_paths(_paths(path))), parallel, 1)


def _paths(filenames: Any) -> Pipeline:
    given = convert_to_tensor(filenames, string, "filenames")
    if given.dims == ():
        return _slices_of_scalar(given)
    return of_slices(given)


def _slices_of_scalar(path: Tensor) -> Pipeline:
    def start(context: Context) -> Next:
        rest = [np.asarray(context.value(path), object).reshape(())]

        def following() -> Row:
            if not rest:
                raise EndOfSequence
            return (rest.pop(),)

        return following

    return Pipeline(Spec(string, ()), start, tensors=(path,))


def _one_by_one(paths: Next, rows_of: Callable[[str], Iterator[Row]]) -> Next:
    rows: Iterator[Row] = iter(())

    def following() -> Row:
        nonlocal rows
        while True:
            for row in rows:
                return row
            rows = rows_of(paths()[0].item().decode())

    return following


def text(value: bytes) -> Any:
    """A string as an array without axes."""
    made = np.empty((), object)
    made[()] = value
    return made


def _records(source: Any, context: Context) -> Iterator[Row]:
    for record in records_of(source):
        yield (text(record),)


def lines_of(source: Any) -> Iterator[bytes]:
    """The lines of an open file, without their ends."""
    rest = b""
    while piece := source.read(_PIECE_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.replace(b"\r", b"")
    if rest:
        yield rest.replace(b"\r", b"")


def _lines(source: Any, context: Context) -> Iterator[Row]:
    for line in lines_of(source):
        yield (text(line),)


@symbol("data.TFRecordDataset", "contrib.data.TFRecordDataset")
class TFRecordDataset(Dataset):
    """The records of TFRecord files, as strings.

    Args:
        filenames: a path, a list of them, a tensor, or a dataset.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: accepted.
        num_parallel_reads: how many files are read by turns.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        rows = of_files(filenames, _records, compression_type, parallel=num_parallel_reads)
        super().__init__(rows)


@symbol("data.TextLineDataset", "contrib.data.TextLineDataset")
class TextLineDataset(Dataset):
    """The lines of text files, as strings without their ends.

    Args:
        filenames: a path, a list of them, or a tensor.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: accepted.
        num_parallel_reads: how many files are read by turns.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        super().__init__(of_files(filenames, _lines, compression_type, parallel=num_parallel_reads))


@symbol("data.FixedLengthRecordDataset", "contrib.data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(Dataset):
    """The records of files whose records all have the same length, as strings.

    Args:
        filenames: a path, a list of them, or a tensor.
        record_bytes: of each record.
        header_bytes: in front of the first.
        footer_bytes: behind the last.
        buffer_size: accepted.
        compression_type: "", "GZIP" or "ZLIB".
        num_parallel_reads: how many files are read by turns.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        sizes = [
            number(record_bytes, "record_bytes"),
            number(header_bytes or 0 if _plain(header_bytes) else header_bytes, "header_bytes"),
            number(footer_bytes or 0 if _plain(footer_bytes) else footer_bytes, "footer_bytes"),
        ]

        def read(source: IO[bytes], context: Context) -> Iterator[Row]:
            length, header, footer = [context.number(t) for t in sizes]
            return _fixed(source, length, header, footer)

        given = (None, num_parallel_reads, sizes)
        super().__init__(of_files(filenames, read, compression_type, *given))


def _plain(given: Any) -> bool:
    return given is None or isinstance(given, int)


def _fixed(source: IO[bytes], length: int, header: int, footer: int) -> Iterator[Row]:
    data = source.read(-1) if not isinstance(source, Inflated) else _all(source)
    body = data[header : len(data) - footer]
    if length <= 0:
        raise InvalidArgumentError(None, None, "`record_bytes` must be greater than zero.")
    if len(data) < header + footer or len(body) % length:
        raise InvalidArgumentError(
            None,
            None,
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file has "
            f"body length {len(body)} bytes, which is not an exact multiple of the record length "
            f"({length} bytes).",
        )
    for at in range(0, len(body), length):
        yield (text(body[at : at + length]),)


def _all(source: Inflated) -> bytes:
    parts = []
    while piece := source.read(_PIECE_BYTES):
        parts.append(piece)
    return b"".join(parts)
