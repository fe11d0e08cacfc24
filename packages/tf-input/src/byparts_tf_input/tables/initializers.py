"""Sources of the keys and values of tables: tensors, and lines of a file."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, int64, string
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.gfile import GFile
from byparts_tf_input.tables.content import Content


def _effect(type: str, host: Any) -> Kind:
    return Kind(
        type, host=host, shape=lambda inputs, **_: [], dtype=(), gradient=False, effect=True
    )


_FROM_TENSORS = _effect(
    "InitializeTableV2", lambda table, keys, values: table.initialize(keys, values)
)


@symbol("lookup.KeyValueTensorInitializer", "contrib.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer:
    """Keys and values that are tensors.

    Args:
        keys: [n].
        values: [n].
        key_dtype: by default that of the keys.
        value_dtype: by default that of the values.
        name: of the operation.
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: Optional[str] = None,
    ) -> None:
        with name_scope(name, "key_value_init", [keys, values]) as scope:
            self._keys = convert_to_tensor(keys, key_dtype, "keys")
            self._values = convert_to_tensor(values, value_dtype, "values")
            self._name = scope

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._keys.dtype.base_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._values.dtype.base_dtype

    def initialize(self, table: Any) -> Operation:
        """An operation that fills a table."""
        inputs = table.resource_handle, self._keys, self._values
        op = _FROM_TENSORS.operation(inputs, self._name.rstrip("/") or None)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


@symbol("lookup.TextFileIndex", "contrib.lookup.TextFileIndex")
class TextFileIndex:
    """Numbers that stand for a whole line or its number, where a column is asked for."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


def _fill(
    table: Content,
    filename: Any,
    key_index: int,
    value_index: int,
    types: tuple[DType, DType],
    vocab_size: int,
    delimiter: bytes,
) -> None:
    with GFile(bytes(np.asarray(filename, object)[()]).decode(), "rb") as file:
        lines = file.read().split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    if 0 <= vocab_size < len(lines):
        lines = lines[:vocab_size]
    elif vocab_size > len(lines):
        raise InvalidArgumentError(
            None, None, f"Invalid vocab_size in {filename}: expected {vocab_size}"
        )
    pairs = [
        [_of_line(i, line, at, kind, delimiter) for at, kind in zip(indices, types, strict=True)]
        for i, line in enumerate(lines)
        for indices in [(key_index, value_index)]
    ]
    columns = list(zip(*pairs, strict=True)) if pairs else [(), ()]
    table.initialize(*[_array(c, kind) for c, kind in zip(columns, types, strict=True)])


def _array(column: Any, kind: DType) -> Any:
    made = np.empty(len(column), kind.as_numpy_dtype)
    made[:] = column
    return made


def _of_line(number: int, line: bytes, at: int, kind: DType, delimiter: bytes) -> Any:
    if at == TextFileIndex.LINE_NUMBER:
        return number
    line = line.removesuffix(b"\r")
    if at == TextFileIndex.WHOLE_LINE:
        found = line
    else:
        columns = line.split(delimiter)
        if at >= len(columns):
            raise InvalidArgumentError(
                None,
                None,
                f"Invalid number of columns in line {number} ({line.decode(errors='replace')}) : "
                f"expected at least {at + 1} got {len(columns)}",
            )
        found = columns[at]
    if kind is string:
        return found
    return int(found) if kind.is_integer else float(found)


_FROM_FILE = _effect("InitializeTableFromTextFileV2", _fill)


@symbol("lookup.TextFileInitializer", "contrib.lookup.TextFileInitializer")
class TextFileInitializer:
    """Keys and values in the lines of a file: columns, whole lines, numbers of lines.

    Args:
        filename: of the file.
        key_dtype: of keys.
        key_index: the column they are in, or one of `TextFileIndex`.
        value_dtype: of values.
        value_index: likewise.
        vocab_size: how many lines are used; by default all.
        delimiter: between columns.
        name: of the operation.

    Raises:
        ValueError: columns that cannot be, or do not fit the dtypes.
    """

    def __init__(
        self,
        filename: TensorLike,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: Optional[int] = None,
        delimiter: str = "\t",
        name: Optional[str] = None,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("Filename required")
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for at, kind, what in (
            (key_index, self.key_dtype, "key"),
            (value_index, self.value_dtype, "value"),
        ):
            if at < -2:
                raise ValueError(f"Invalid {what} index {at}.")
            if at == TextFileIndex.LINE_NUMBER and kind is not int64:
                raise ValueError(f"Signature mismatch. {what} must be int64, got {kind.name}.")
            if at == TextFileIndex.WHOLE_LINE and not (kind.is_integer or kind is string):
                raise ValueError(f"Signature mismatch. {what} must be integer or string.")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._filename, self._name = filename, name
        self._how: dict[str, Any] = {
            "key_index": key_index,
            "value_index": value_index,
            "types": (self.key_dtype, self.value_dtype),
            "vocab_size": -1 if vocab_size is None else vocab_size,
            "delimiter": delimiter.encode(),
        }

    @property
    def shared_name(self) -> str:
        """A name that all tables made of this file in this way share."""
        how = self._how
        return (
            f"hash_table_{self._filename}_{how['vocab_size']}_{how['key_index']}_"
            f"{how['value_index']}"
        )

    def initialize(self, table: Any) -> Operation:
        """An operation that fills a table."""
        with name_scope(self._name, "text_file_init", []):
            filename = convert_to_tensor(self._filename, string, "asset_filepath")
            inputs = table.resource_handle, filename
            op = _FROM_FILE.operation(inputs, **self._how)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return op


@symbol("contrib.lookup.TextFileStringTableInitializer")
class TextFileStringTableInitializer(TextFileInitializer):
    """The lines of a file, by their numbers."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: Optional[int] = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename, int64, key_column_index, string, value_column_index, vocab_size, delimiter,
            name,
        )  # fmt: skip


@symbol("contrib.lookup.TextFileIdTableInitializer")
class TextFileIdTableInitializer(TextFileInitializer):
    """The numbers of a file's lines, by what is in them."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: Optional[int] = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: Any = string,
    ) -> None:
        super().__init__(
            filename, key_dtype, key_column_index, int64, value_column_index, vocab_size,
            delimiter, name,
        )  # fmt: skip
