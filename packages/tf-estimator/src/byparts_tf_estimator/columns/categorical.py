"""Columns of categories: numbers, hashed texts, words of a vocabulary, weighted ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.debugging.asserts import assert_greater_equal, assert_less
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.column import Batch, CategoricalColumn, Ids
from byparts_tf_files.dtypes import as_dtype, float32, int64, string


class OfOneFeature(CategoricalColumn):
    """The categories of one feature."""

    key: str
    dtype: Any

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Any number of values."""
        return {self.key: named("VarLenFeature")(self.dtype)}


@dataclass(frozen=True)
class IdentityColumn(OfOneFeature):
    """See `categorical_column_with_identity`."""

    key: str
    number_buckets: int
    default_value: Optional[int] = None
    dtype: Any = int64

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.number_buckets

    def ids(self, batch: Batch) -> Ids:
        """The feature, checked."""
        given = batch.filled(self.key)
        if not given.dtype.is_integer:
            raise ValueError(
                f"Invalid input, not integer. key: {self.key} dtype: {given.dtype.name}"
            )
        found = cast(given, int64)
        if self.default_value is None:
            sparse = hasattr(batch.raw(self.key), "dense_shape")
            checks = [assert_less(found, np.int64(self.num_buckets))]
            if not sparse:
                checks.append(assert_greater_equal(found, np.int64(-1)))
            with control_dependencies(checks):
                return Ids(found + np.int64(0))
        fits = (found >= -1) & (found < self.num_buckets)
        return Ids(where(fits, found, 0 * found + np.int64(self.default_value)))


@symbol("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: Optional[int] = None
) -> IdentityColumn:
    """Categories that are numbers in [0, num_buckets).

    Args:
        key: the feature.
        num_buckets: how many there are.
        default_value: for other numbers; without it they are an error of the run.

    Raises:
        ValueError: `num_buckets` is below 1, or the default is none of them.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    check_key(key)
    return IdentityColumn(key, num_buckets, default_value)


def check_key(key: Any) -> None:
    """Raise `ValueError` if a name of a feature is no text."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string: {key!r}")


@dataclass(frozen=True)
class HashedColumn(OfOneFeature):
    """See `categorical_column_with_hash_bucket`."""

    key: str
    hash_bucket_size: int
    dtype: Any = string

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.hash_bucket_size

    def ids(self, batch: Batch) -> Ids:
        """The hash of each text."""
        given = batch.filled(self.key)
        if given.dtype.is_floating:
            raise ValueError(f"The feature (key: {self.key}) must be a string or integer tensor")
        texts = given if given.dtype is string else named("as_string")(given)
        found = named("string_to_hash_bucket_fast")(texts, self.hash_bucket_size)
        nothing: Any = named("equal")(given, "" if given.dtype is string else -1)
        return Ids(where(nothing, 0 * found - np.int64(1), found))


@symbol("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = string
) -> HashedColumn:
    """Categories that are hashes of texts or integers, in [0, hash_bucket_size).

    Raises:
        ValueError: `hash_bucket_size` is missing or below 1, or the dtype is no text or integer.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    return HashedColumn(key, hash_bucket_size, text_or_integer(dtype, key))


def text_or_integer(dtype: Any, key: str) -> Any:
    """The dtype of a feature; `ValueError` if it is neither of texts nor of integers."""
    kind = as_dtype(dtype)
    if kind is not string and not kind.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {kind}, column_name: {key}")
    return kind


@dataclass(frozen=True)
class WeightedColumn(CategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: Any = float32

    @property
    def name(self) -> str:
        """The names of the categories and of the weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Specs of the features of the column, and of the weights."""
        spec = self.categorical_column.parse_example_spec
        return {**spec, self.weight_feature_key: named("VarLenFeature")(self.dtype)}

    def ids(self, batch: Batch) -> Ids:
        """The categories, and a weight for each."""
        given: Any = batch.raw(self.weight_feature_key)
        if hasattr(given, "dense_shape"):
            given = named("sparse_tensor_to_dense")(given, validate_indices=False)
        weights: Tensor = cast(convert_to_tensor(given), float32)
        return Ids(batch.ids(self.categorical_column).ids, weights)


@symbol("feature_column.weighted_categorical_column")
def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: Any = float32
) -> WeightedColumn:
    """Categories with a weight for each, which is another feature.

    Raises:
        ValueError: the dtype is no number.
    """
    kind = as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype {kind} is not convertible to float.")
    return WeightedColumn(categorical_column, weight_feature_key, kind)
