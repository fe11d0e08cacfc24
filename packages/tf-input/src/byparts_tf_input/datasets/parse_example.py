"""From serialized Examples to arrays, feature by feature; all on the host."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import FormatError
from byparts_tf_files.dtypes import string
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_input.datasets.example_bytes import Features, Span, in_example, spans, values_of
from byparts_tf_input.datasets.features import (
    KINDS,
    NAMES,
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
)

Sparse = tuple[Any, Any, Any]  # indices, values, shape


class Record:
    """A serialized Example, or a part of a SequenceExample.

    Args:
        data: its bytes.
        part: 1: the features or the context; 2: the lists.
        index: its number in the batch, for errors; `None`: it is alone.

    Raises:
        InvalidArgumentError: the bytes are no such message.
    """

    def __init__(self, data: bytes, part: int = 1, index: Optional[int] = None) -> None:
        self.data, self.index = data, index
        try:
            self.features: Features = in_example(data, part)
        except FormatError as error:
            raise self._unreadable() from error

    def _unreadable(self) -> InvalidArgumentError:
        return InvalidArgumentError(
            None, None, f"Could not parse example input, value: '{self.data[:60]!r}'"
        )

    def values(self, name: str, dtype: Any, span: Optional[Span] = None) -> Optional[Any]:
        """The values of a feature; `None`: there is none.

        Raises:
            InvalidArgumentError: they are of another dtype.
        """
        span = self.features.get(name) if span is None else span
        if span is None:
            return None
        try:
            kind, values = values_of(self.data, span)
        except FormatError as error:
            raise self._unreadable() from error
        if not kind:
            return None
        if kind != KINDS[dtype.name]:
            raise self.wrong(
                f"{self.key(name)}  Data types don't match. Data type: "
                f"{NAMES[kind]} but expected type: {NAMES[KINDS[dtype.name]]}"
            )
        return values

    def rows(self, name: str, dtype: Any) -> Optional[list[Any]]:
        """The values of each feature of a list; `None`: there is no such list."""
        span = self.features.get(name)
        if span is None:
            return None
        try:
            found = spans(self.data, span, 1)
        except FormatError as error:
            raise self._unreadable() from error
        rows = [self.values(name, dtype, s) for s in found]
        return [empty(dtype) if r is None else r for r in rows]

    def wrong(self, what: str) -> InvalidArgumentError:
        """An error about this record."""
        name = "" if self.index is None else "Name: <unknown>, "
        return InvalidArgumentError(None, None, name + what)

    def key(self, name: str) -> str:
        """A feature, for errors."""
        return f"Key: {name}." if self.index is None else f"Key: {name}, Index: {self.index}."


def empty(dtype: Any) -> Any:
    """No values."""
    return np.empty(0, dtype.as_numpy_dtype)


def fixed(record: Record, name: str, feature: FixedLenFeature) -> Any:
    """A dense feature.

    Raises:
        InvalidArgumentError: it is missing, or of another size.
    """
    values = record.values(name, feature.dtype)
    if values is None:
        if feature.default_value is None:
            raise record.wrong(
                f"Feature: {name} (data type: {_short(feature.dtype)}) is required but could not "
                "be found."
            )
        return feature.default_value
    return _shaped(record, name, values, feature.shape)


def _shaped(record: Record, name: str, values: Any, shape: Sequence[int]) -> Any:
    if values.size != prod(shape):
        raise record.wrong(
            f"{record.key(name)}  Number of {_kind(values)} values != expected.  "
            f"Values size: {values.size} but output shape: [{','.join(map(str, shape))}]"
        )
    return values.reshape(shape)


def _kind(values: Any) -> str:
    return "bytes" if values.dtype == object else "float" if values.dtype.kind == "f" else "int64"


def _short(dtype: Any) -> str:
    return "float" if dtype.name == "float32" else str(dtype.name)


def sequence(record: Record, name: str, feature: FixedLenSequenceFeature) -> Any:
    """A feature that repeats a shape: [n, *shape].

    Raises:
        InvalidArgumentError: its size is no multiple.
    """
    values = record.values(name, feature.dtype)
    values = empty(feature.dtype) if values is None else values
    size = prod(feature.shape)
    if size and values.size % size:
        raise record.wrong(
            f"{record.key(name)}  Number of {_kind(values)} values is not a "
            f"multiple of stride length. Saw {values.size} values but output shape is: "
            f"[{','.join(map(str, feature.shape))}]"
        )
    return values.reshape((-1, *feature.shape)) if size else values.reshape((0, *feature.shape))


def filled(rows: Sequence[Any], default: Any) -> Any:
    """Arrays of different lengths along the first axis, as one, filled up."""
    most = max([len(r) for r in rows], default=0)
    made = np.empty((len(rows), most, *rows[0].shape[1:]), rows[0].dtype)
    made[...] = default
    for i, row in enumerate(rows):
        made[i, : len(row)] = row
    return made


def ragged(rows: Sequence[Any], dtype: Any) -> Sparse:
    """Rows of different lengths as one sparse matrix."""
    sizes = [len(r) for r in rows]
    indices = np.empty((sum(sizes), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), sizes)
    indices[:, 1] = np.concatenate([np.arange(n) for n in sizes]) if sizes else 0
    values = np.concatenate(rows) if rows else empty(dtype)
    return indices, values, np.array([len(rows), max(sizes, default=0)], np.int64)


def variable(record: Record, name: str, feature: VarLenFeature) -> Any:
    """The values of a feature that may be missing."""
    values = record.values(name, feature.dtype)
    return empty(feature.dtype) if values is None else values


def located(record: Record, feature: SparseFeature, int64: Any) -> Sparse:
    """A sparse tensor of indices and values that are two features.

    Raises:
        InvalidArgumentError: their numbers differ, or an index is out of range.
    """
    keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = np.array(np.reshape(feature.size, -1), np.int64)
    found = [record.values(k, int64) for k in keys]
    values = record.values(feature.value_key, feature.dtype)
    values = empty(feature.dtype) if values is None else values
    columns: list[Any] = [empty(int64) if c is None else c for c in found]
    if any(len(c) != len(values) for c in columns):
        raise record.wrong(
            f"Inconsistent number of indices and values: {[len(c) for c in columns]} for "
            f"{len(values)} values of {feature.value_key}"
        )
    indices = np.stack(columns, 1)
    if indices.size and ((indices < 0) | (indices >= sizes)).any():
        raise record.wrong(f"an index of {keys} is out of range: the size is {sizes.tolist()}")
    if not feature.already_sorted:
        order = np.lexsort(indices.T[::-1])
        indices, values = indices[order], values[order]
    return indices, values, sizes


def of_one(data: Any, features: dict[str, Any], int64: Any) -> list[Any]:
    """The arrays of the features of one Example, in order; three for a sparse one."""
    record = Record(data.item())
    made: list[Any] = []
    for name, feature in features.items():
        if isinstance(feature, FixedLenFeature):
            made.append(fixed(record, name, feature))
        elif isinstance(feature, FixedLenSequenceFeature):
            made.append(sequence(record, name, feature))
        elif isinstance(feature, VarLenFeature):
            values = variable(record, name, feature)
            size = np.array([len(values)], np.int64)
            made += [np.arange(len(values), dtype=np.int64)[:, None], values, size]
        else:
            made += located(record, feature, int64)
    return made


def of_many(data: Any, features: dict[str, Any], int64: Any) -> list[Any]:
    """The arrays of the features of a batch of Examples; three for a sparse one."""
    records = [Record(d, 1, i) for i, d in enumerate(data.tolist())]
    made: list[Any] = []
    for name, feature in features.items():
        if isinstance(feature, FixedLenFeature):
            kind = object if feature.dtype is string else feature.dtype.as_numpy_dtype
            whole = np.empty((len(records), *feature.shape), kind)
            for i, r in enumerate(records):
                whole[i, ...] = fixed(r, name, feature)
            made.append(whole)
        elif isinstance(feature, FixedLenSequenceFeature):
            rows = [sequence(r, name, feature) for r in records]
            made.append(filled(rows, feature.default_value) if rows else empty(feature.dtype))
        elif isinstance(feature, VarLenFeature):
            made += ragged([variable(r, name, feature) for r in records], feature.dtype)
        else:
            made += _many_located([located(r, feature, int64) for r in records], feature)
    return made


def _many_located(parts: Sequence[Sparse], feature: SparseFeature) -> Sparse:
    sizes = np.array(np.reshape(feature.size, -1), np.int64)
    indices = [
        np.concatenate([np.full((len(v), 1), i, np.int64), places], 1)
        for i, (places, v, _) in enumerate(parts)
    ]
    none = np.empty((0, len(sizes) + 1), np.int64)
    values = [v for _, v, _ in parts]
    return (
        np.concatenate([none, *indices]),
        np.concatenate([empty(feature.dtype), *values]),
        np.concatenate([[len(parts)], sizes]),
    )


def of_lists(data: Any, features: dict[str, Any]) -> list[Any]:
    """The arrays of the lists of a SequenceExample, in order; three for a sparse one.

    Raises:
        InvalidArgumentError: a list is missing, or a feature in it is of another size.
    """
    record = Record(data.item(), 2, 0)
    made: list[Any] = []
    for name, feature in features.items():
        rows = record.rows(name, feature.dtype)
        if isinstance(feature, VarLenFeature):
            made += ragged(rows or [], feature.dtype)
            continue
        if rows is None and not feature.allow_missing:
            raise record.wrong(
                f"Feature list '{name}' is required but could not be found.  Did you mean to "
                "include it in feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        shaped = [_shaped(record, name, r, feature.shape) for r in rows or []]
        none = np.empty((0, *feature.shape), feature.dtype.as_numpy_dtype)
        made.append(np.stack(shaped) if shaped else none)
    return made
