"""`contrib.lookup`: tables from words to ids and back, of a list or of a file."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.shape import size as size_of
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype, int64, string
from byparts_tf_files.shape import count_of
from byparts_tf_input.tables.hashing_tables import FAST, HasherSpec, IdTableWithHashBuckets
from byparts_tf_input.tables.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from byparts_tf_input.tables.tables import StaticHashTable

_LINE, _NUMBER = TextFileIndex.WHOLE_LINE, TextFileIndex.LINE_NUMBER


def _with_buckets(table: Any, buckets: int, spec: HasherSpec, name: Any, dtype: Any) -> Any:
    return IdTableWithHashBuckets(table, buckets, spec, name, dtype) if buckets else table


@symbol("contrib.lookup.index_table_from_file")
def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Optional[int] = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FAST,
    key_dtype: Any = string,
    name: Optional[str] = None,
    key_column_index: int = _LINE,
    value_column_index: int = _NUMBER,
    delimiter: str = "\t",
) -> Any:
    """The ids of words: the numbers of their lines in a file.

    Args:
        vocabulary_file: one word in a line.
        num_oov_buckets: other words are put in as many buckets behind.
        vocab_size: how many lines are used.
        default_value: of other words, where there are no buckets.
        hasher_spec: how buckets are chosen.
        key_dtype: of words: strings or integers.
        name: of the table.
        key_column_index: the column of words.
        value_column_index: of ids.
        delimiter: between columns.

    Raises:
        ValueError: no file; a number that cannot be.
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    _check_buckets(num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_file_size must be greater than 0, got {vocab_size}.")
    dtype = as_dtype(key_dtype)
    with name_scope(name, "string_to_index"):
        read = TextFileIdTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
            key_dtype=int64 if dtype.is_integer else dtype,
        )  # fmt: skip
        table = StaticHashTable(read, default_value, read.shared_name, "hash_table")
        return _with_buckets(table, num_oov_buckets, hasher_spec, None, None)


def _check_buckets(count: int) -> None:
    if count < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {count}.")


@symbol("contrib.lookup.index_table_from_tensor")
def index_table_from_tensor(
    mapping: Any = None,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FAST,
    dtype: Any = string,
    name: Optional[str] = None,
    vocabulary_list: Any = None,
) -> Any:
    """The ids of words: their places in a list; arguments as of `index_table_from_file`.

    Raises:
        ValueError: no list.
    """
    words = vocabulary_list if mapping is None else mapping
    if words is None:
        raise ValueError("mapping must be specified.")
    _check_buckets(num_oov_buckets)
    with name_scope(name, "string_to_index"):
        kind = as_dtype(dtype)
        keys = convert_to_tensor(words, None if hasattr(words, "dtype") else kind)
        if keys.dtype.is_integer != kind.is_integer:
            raise ValueError(f"Expected {kind.name}, got {keys.dtype.name}.")
        keys = cast(keys, int64) if kind.is_integer else keys
        given = KeyValueTensorInitializer(keys, _places(keys), name="table_init")
        table = StaticHashTable(given, default_value, name="hash_table")
        return _with_buckets(table, num_oov_buckets, hasher_spec, None, None)


def _places(keys: Tensor) -> Tensor:
    count = count_of(keys.dims)
    if count is not None:
        return convert_to_tensor(np.arange(count))
    return cast(range_of(size_of(keys)), int64)  # type: ignore[no-any-return]  # a tensor


@symbol("contrib.lookup.index_to_string_table_from_file")
def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: Optional[int] = None,
    default_value: str = "UNK",
    name: Optional[str] = None,
    key_column_index: int = _NUMBER,
    value_column_index: int = _LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """The words of ids; arguments as of `index_table_from_file`."""
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    with name_scope(name, "index_to_string"):
        read = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
        )
        return StaticHashTable(read, default_value, read.shared_name)


@symbol("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(
    mapping: Any = None,
    default_value: str = "UNK",
    name: Optional[str] = None,
    vocabulary_list: Any = None,
) -> StaticHashTable:
    """The words of ids: a list.

    Raises:
        ValueError: no list.
    """
    words = vocabulary_list if mapping is None else mapping
    if words is None:
        raise ValueError("mapping must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(words, string)
        given = KeyValueTensorInitializer(_places(values), values, int64, string, "table_init")
        return StaticHashTable(given, default_value)


@symbol("contrib.lookup.string_to_index")
def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: Optional[str] = None
) -> Any:
    """The places of words in a list."""
    return index_table_from_tensor(mapping, 0, default_value, name=name).lookup(tensor)


@symbol("contrib.lookup.index_to_string")
def index_to_string(
    tensor: Any, mapping: Any, default_value: str = "UNK", name: Optional[str] = None
) -> Any:
    """The words at places in a list."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
