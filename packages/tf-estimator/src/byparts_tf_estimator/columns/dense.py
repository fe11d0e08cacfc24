"""Columns of numbers: numeric, one-hot for ranges and categories, and embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.column import (
    Batch,
    CategoricalColumn,
    DenseColumn,
    Ids,
)
from byparts_tf_files.dtypes import as_dtype, float32, int64


@dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """See `numeric_column`."""

    key: str
    shape: tuple[int, ...] = (1,)
    default_value: Any = None
    dtype: Any = float32
    normalizer_fn: Optional[Callable[..., Any]] = None

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.key

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The shape of one example."""
        return self.shape

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The spec of the feature: numbers of a fixed shape."""
        make = named("FixedLenFeature")
        return {self.key: make(self.shape, self.dtype, self.default_value)}

    def dense(self, batch: Batch, trainable: bool, collections: Any) -> Tensor:
        """The feature as f32, through the normalizer."""
        given = batch.raw(self.key)
        if hasattr(given, "dense_shape"):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is "
                f"not supported. key: {self.key}"
            )
        found = given if self.normalizer_fn is None else self.normalizer_fn(given)
        made: Tensor = cast(found, float32)
        return made


@symbol("feature_column.numeric_column")
def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = float32,
    normalizer_fn: Optional[Callable[..., Any]] = None,
) -> NumericColumn:
    """Numbers of a feature.

    Args:
        key: the feature.
        shape: of one example.
        default_value: where an `Example` has none.
        dtype: of the feature in an `Example`.
        normalizer_fn: of the tensor.

    Raises:
        TypeError: the shape is none, the normalizer no function.
        ValueError: a dimension is not positive, the dtype no number.
    """
    given = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
    for d in given:
        if not isinstance(d, (int, np.integer)):
            raise TypeError(f"shape dimensions must be integer. shape: {given}, key: {key}")
        if d < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {given}, key: {key}")
    kind = as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {kind}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    if not isinstance(key, str):
        raise ValueError(f"key must be a string: {key!r}")
    dims = tuple([int(d) for d in given])
    return NumericColumn(key, dims, _filled(default_value, dims), kind, normalizer_fn)


def _filled(value: Any, dims: tuple[int, ...]) -> Any:
    """A default value for each number, as nested tuples."""
    if value is None:
        return None
    array: Any = np.broadcast_to(np.asarray(value), dims)
    return _nested(array.tolist())


def _nested(value: Any) -> Any:
    return tuple([_nested(v) for v in value]) if isinstance(value, list) else value


@dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """See `bucketized_column`."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        """The name of the numbers, and _bucketized."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Specs of the features of the numbers."""
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """Shape of the one-hot rows: a row for each number."""
        return (*self.source_column.shape, len(self.boundaries) + 1)

    @property
    def num_buckets(self) -> int:
        """The ranges of all numbers of an example."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def _ranges(self, batch: Batch) -> Tensor:
        """The number of the range that each number is in."""
        x = self.source_column.dense(batch, True, None)
        above = expand_dims(x, -1) >= constant(np.array(self.boundaries, np.float32))
        return reduce_sum(cast(above, int64), [-1])

    def dense(self, batch: Batch, trainable: bool, collections: Any) -> Tensor:
        """A one-hot row for each number, of the range that it is in."""
        return one_hot(self._ranges(batch), len(self.boundaries) + 1, 1.0, 0.0)

    def ids(self, batch: Batch) -> Ids:
        """The ranges, numbered through all numbers of an example."""
        count = self.source_column.shape[0]
        first = np.arange(count, dtype=np.int64) * (len(self.boundaries) + 1)
        return Ids(reshape(self._ranges(batch), [-1, count]) + constant(first))


@symbol("feature_column.bucketized_column")
def bucketized_column(
    source_column: NumericColumn, boundaries: Sequence[float]
) -> BucketizedColumn:
    """The range that a number is in: below the first boundary, ..., from the last one on.

    Raises:
        ValueError: the column is not numeric, or has several axes; boundaries are not sorted.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). Given: "
            f"{source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    bounds = tuple(boundaries or ())
    if not bounds or any(a >= b for a, b in pairwise(bounds)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, bounds)


@dataclass(frozen=True)
class IndicatorColumn(DenseColumn):
    """See `indicator_column`."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        """The name of the categories, and _indicator."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Specs of the features of the categories."""
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """A number for each category."""
        return (self.categorical_column.num_buckets,)

    def dense(self, batch: Batch, trainable: bool, collections: Any) -> Tensor:
        """The number of times that an example has each category, or the sum of its weights."""
        found = batch.ids(self.categorical_column)
        rows: Any = one_hot(found.ids, self.categorical_column.num_buckets, 1.0, 0.0)
        if found.weights is not None:
            rows = rows * expand_dims(found.weights, -1)
        return reduce_sum(rows, [-2])


@symbol("feature_column.indicator_column")
def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """A column that counts how often an example has each category."""
    return IndicatorColumn(categorical(categorical_column))


def categorical(given: Any) -> CategoricalColumn:
    """The column; `TypeError` if it is not one of categories."""
    if not isinstance(given, CategoricalColumn):
        raise TypeError(f"categorical_column must be a categorical column. Given: {given}")
    return given
