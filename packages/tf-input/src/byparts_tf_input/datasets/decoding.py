"""Strings as numbers: `decode_raw` and `decode_csv`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.shape import count_of


def _wrong(what: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, what)


def _raw(texts: Any, out_type: DType, little_endian: bool) -> Any:
    flat = np.asarray(texts, object).reshape(-1).tolist()
    kind = np.dtype(out_type.as_numpy_dtype)
    size = len(flat[0]) if flat else 0
    for i, text in enumerate(flat):
        if len(text) != size:
            raise _wrong(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {size} != {len(text)}"
            )
    if size % kind.itemsize:
        raise _wrong(
            f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, the "
            f"size of {out_type.name}"
        )
    whole = np.frombuffer(bytearray(b"".join(flat)), kind)
    if not little_endian:
        whole = whole.byteswap()
    return whole.reshape((*np.shape(texts), size // kind.itemsize))


DECODE_RAW = Kind(
    "DecodeRaw",
    host=_raw,
    shape=lambda i, **_: None if i[0].dims is None else (*i[0].dims, None),
    dtype=lambda i, out_type, **_: out_type,
    gradient=False,
)


@symbol("decode_raw", "io.decode_raw")
def decode_raw(
    input_bytes: TensorLike = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: Optional[str] = None,
    bytes: Any = None,
) -> Tensor:
    """The bytes of strings as numbers: [..., n].

    Raises at run time:
        InvalidArgumentError: the strings differ in length, or are no whole numbers.
    """
    given = convert_to_tensor(input_bytes if bytes is None else bytes, string, "bytes")
    kind = as_dtype(out_type)
    return DECODE_RAW(given, name=name, out_type=kind, little_endian=little_endian)


def fields_of(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """The fields of a line of comma-separated values (RFC 4180).

    Raises:
        InvalidArgumentError: quotes stand where there may be none.
    """
    if not quotes or b'"' not in record:
        return record.split(delimiter) if record else []
    fields: list[bytes] = []
    at = 0
    while True:
        if record[at : at + 1] != b'"':
            end = record.find(delimiter, at)
            end = len(record) if end < 0 else end
            if b'"' in record[at:end]:
                raise _wrong("Unquoted fields cannot have quotes/CRLFs inside")
            fields.append(record[at:end])
        else:
            field, end = _quoted(record, at + 1)
            fields.append(field)
            if end < len(record) and record[end : end + 1] != delimiter:
                raise _wrong("Quote inside a string has to be escaped by another quote")
        if end >= len(record):
            return fields
        at = end + 1


def _quoted(record: bytes, at: int) -> tuple[bytes, int]:
    """A field whose quote stands in front of byte `at`, and the byte behind it."""
    parts = b""
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise _wrong("Quoted field has to end with quote followed by delim or end")
        parts += record[at:end]
        if record[end + 1 : end + 2] != b'"':
            return parts, end + 1
        parts, at = parts + b'"', end + 2


class Columns:
    """The columns that are read of lines.

    Args:
        defaults: an array for each: what stands for an empty field; empty: nothing does.
        dtypes: of the columns.
        delimiter: between fields.
        quotes: whether fields may be quoted.
        missing: a text that counts as an empty field.
        select: the numbers of the columns; `None`: all.
    """

    def __init__(
        self,
        defaults: Sequence[Any],
        dtypes: Sequence[DType],
        delimiter: str,
        quotes: bool,
        missing: str,
        select: Optional[Sequence[int]],
    ) -> None:
        self._defaults, self._dtypes, self._quotes = defaults, dtypes, quotes
        self._delimiter, self._missing, self._select = delimiter.encode(), missing.encode(), select

    def read(self, record: bytes, number: int) -> list[Any]:
        """The values of one line; `number` for errors.

        Raises:
            InvalidArgumentError: a field is missing, or no number.
        """
        fields = fields_of(record, self._delimiter, self._quotes)
        if self._select is not None:
            if max(self._select, default=-1) >= len(fields):
                raise _wrong(
                    f"Expect {len(self._dtypes)} fields but have {len(fields)} in record {number}"
                )
            fields = [fields[i] for i in self._select]
        if len(fields) != len(self._dtypes):
            raise _wrong(
                f"Expect {len(self._dtypes)} fields but have {len(fields)} in record {number}"
            )
        return [self._value(f, i, number) for i, f in enumerate(fields)]

    def _value(self, field: bytes, column: int, number: int) -> Any:
        dtype = self._dtypes[column]
        if not field or field == self._missing:
            default = self._defaults[column]
            if not default.size:
                raise _wrong(f"Field {column} is required but missing in record {number}!")
            return default.item()
        if dtype is string:
            return field
        try:
            return dtype.as_numpy_dtype(int(field) if dtype.is_integer else float(field))
        except (ValueError, OverflowError):
            text = field.decode(errors="replace")
            raise _wrong(
                f"Field {column} in record {number} is not a valid {dtype.name}: {text}"
            ) from None


def _csv(records: Any, *defaults: Any, dtypes: Sequence[DType], given: dict[str, Any]) -> Any:
    columns = Columns(defaults, dtypes, **given)
    flat = np.asarray(records, object).reshape(-1).tolist()
    rows = [columns.read(r, i) for i, r in enumerate(flat)]
    made = []
    for i, dtype in enumerate(dtypes):
        array = np.empty(len(rows), dtype.as_numpy_dtype)
        array[:] = [row[i] for row in rows]
        made.append(array.reshape(np.shape(records)))
    return made[0] if len(made) == 1 else made


DECODE_CSV = Kind(
    "DecodeCSV",
    host=_csv,
    shape=lambda i, dtypes, given: [i[0].dims] * len(dtypes),
    dtype=lambda i, dtypes, given: list(dtypes),
    gradient=False,
)


def defaults_of(record_defaults: Sequence[Any]) -> list[Tensor]:
    """The default of each column as a tensor: empty where a dtype says that there is none.

    Raises:
        ValueError: one has several values.
    """
    made = []
    for i, value in enumerate(record_defaults):
        if isinstance(value, DType) or (isinstance(value, type) and issubclass(value, np.generic)):
            value = np.empty(0, as_dtype(value).as_numpy_dtype)
        tensor = convert_to_tensor(value, name=f"record_defaults_{i}")
        if (count_of(tensor.dims) or 0) > 1:
            raise ValueError(
                f"Shape of a default must be a length-0 or length-1 vector, or a scalar: {value!r}"
            )
        made.append(tensor)
    return made


@symbol("decode_csv", "io.decode_csv")
def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: Optional[str] = None,
    na_value: str = "",
    select_cols: Optional[Sequence[int]] = None,
) -> list[Tensor]:
    """The columns of lines of comma-separated values: a tensor for each, of the shape of `records`.

    Args:
        records: strings, each a line.
        record_defaults: for each column a value for empty fields, of the column's dtype; an
            empty list: a field is required.
        field_delim: between fields.
        use_quote_delim: whether `"` may stand around a field.
        name: of the operation.
        na_value: a text that counts as an empty field.
        select_cols: the numbers of the columns to be read, ascending.

    Raises:
        ValueError: the numbers do not ascend, or are not as many as the defaults.
    """
    check_select(select_cols, len(record_defaults))
    defaults = defaults_of(record_defaults)
    given = {
        "delimiter": field_delim,
        "quotes": use_quote_delim,
        "missing": na_value,
        "select": select_cols,
    }
    dtypes = [t.dtype.base_dtype for t in defaults]
    inputs = [convert_to_tensor(records, string, "records"), *defaults]
    return list(DECODE_CSV.outputs(*inputs, name=name, dtypes=dtypes, given=given))


def check_select(select_cols: Optional[Sequence[int]], columns: int) -> None:
    """Raise ValueError unless the numbers of columns ascend and are so many."""
    if select_cols is None:
        return
    if any(a >= b for a, b in pairwise(select_cols)):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if len(select_cols) != columns:
        raise ValueError("Length of select_cols and record_defaults do not match.")
