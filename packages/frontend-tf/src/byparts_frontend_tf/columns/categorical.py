"""Columns of categories: numbers, hashed texts, words of a vocabulary, weighted ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.assertions import assert_greater_equal, assert_less
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.indexing import where
from byparts_frontend_tf.columns.column import Batch, CategoricalColumn, Ids
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.dtypes import as_dtype, float32, int64, string
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import named, symbol


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
        """How many categories there are."""
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
    _check_key(key)
    return IdentityColumn(key, num_buckets, default_value)


def _check_key(key: Any) -> None:
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
        """How many categories there are."""
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
    _check_key(key)
    return HashedColumn(key, hash_bucket_size, _text_or_integer(dtype, key))


def _text_or_integer(dtype: Any, key: str) -> Any:
    kind = as_dtype(dtype)
    if kind is not string and not kind.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {kind}, column_name: {key}")
    return kind


class Vocabulary(OfOneFeature):
    """Categories that are the places of words in a list; others are hashed, or one number."""

    num_oov_buckets: int
    default_value: int

    @property
    def words(self) -> tuple[Any, ...]:
        """The words, in order."""
        raise NotImplementedError

    @property
    def num_buckets(self) -> int:
        """Words, and buckets of others."""
        return len(self.words) + self.num_oov_buckets

    @cached_property
    def places(self) -> dict[Any, int]:
        """Word -> place."""
        return {word: i for i, word in enumerate(self.words)}

    def ids(self, batch: Batch) -> Ids:
        """The place of each word."""
        given = batch.filled(self.key)
        if self.dtype.is_integer != given.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column "
                f"dtype: {self.dtype}, tensor dtype: {given.dtype}"
            )
        found = _PLACES(given, vocabulary=self)
        if not self.num_oov_buckets:
            return Ids(found)
        texts = given if given.dtype is string else named("as_string")(given)
        others = named("string_to_hash_bucket_fast")(texts, self.num_oov_buckets)
        return Ids(
            where(named("equal")(found, np.int64(-2)), others + np.int64(len(self.words)), found)
        )


def _places(given: Any, vocabulary: Vocabulary) -> Any:
    """The places of words; the default (or -2, to be hashed) for others, -1 for none."""
    nothing = b"" if given.dtype == object else -1
    other = -2 if vocabulary.num_oov_buckets else vocabulary.default_value
    places = vocabulary.places
    found = [places.get(w, -1 if w == nothing else other) for w in given.reshape(-1).tolist()]
    return np.array(found, np.int64).reshape(given.shape)


_PLACES = Kind("LookupTableFindV2", host=_places, shape=like_first, dtype=int64, gradient=False)


@dataclass(frozen=True)
class ListColumn(Vocabulary):
    """See `categorical_column_with_vocabulary_list`."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: Any
    default_value: int = -1
    num_oov_buckets: int = 0

    @property
    def words(self) -> tuple[Any, ...]:
        """The words as they are in arrays of TensorFlow."""
        return tuple([w.encode() if isinstance(w, str) else w for w in self.vocabulary_list])


@symbol("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> ListColumn:
    """Categories that are the places of words in a list.

    Args:
        key: the feature.
        vocabulary_list: texts or integers, each once.
        dtype: of the feature; by default that of the list.
        default_value: of other words.
        num_oov_buckets: other words are hashed into so many categories more.

    Raises:
        ValueError: the list is empty or has a word twice; both of the last two are given.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    words = np.array(vocabulary_list)
    listed = string if words.dtype.kind in "USO" else as_dtype(words.dtype)
    _check_others(key, default_value, num_oov_buckets)
    kind = _text_or_integer(listed if dtype is None else dtype, key)
    if kind.is_integer != listed.is_integer:
        raise ValueError(
            f"dtype {kind} and vocabulary dtype {listed} do not match, column_name: {key}"
        )
    _check_key(key)
    listing = tuple([w.item() if isinstance(w, np.generic) else w for w in vocabulary_list])
    return ListColumn(key, listing, kind, default_value, num_oov_buckets)


def _check_others(key: str, default_value: Any, num_oov_buckets: Any) -> None:
    if num_oov_buckets and default_value not in (-1, None):
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets is not None and num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


@dataclass(frozen=True)
class FileColumn(Vocabulary):
    """See `categorical_column_with_vocabulary_file`."""

    key: str
    vocabulary_file: str
    vocabulary_size: Optional[int] = None
    num_oov_buckets: int = 0
    dtype: Any = string
    default_value: int = -1

    @cached_property
    def _lines(self) -> tuple[Any, ...]:
        with open(self.vocabulary_file, "rb") as file:
            lines = file.read().splitlines()[: self.vocabulary_size]
        return tuple(lines if self.dtype is string else map(int, lines))

    @property
    def words(self) -> tuple[Any, ...]:
        """The lines of the file."""
        return self._lines


@symbol("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: Optional[int] = None,
    num_oov_buckets: int = 0,
    default_value: Optional[int] = None,
    dtype: Any = string,
) -> FileColumn:
    """Categories that are the numbers of the lines of a file, one word in each.

    Raises:
        ValueError: there is no file, or a number is wrong.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is not None and vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_others(key, default_value, num_oov_buckets)
    _check_key(key)
    other = -1 if default_value is None else default_value
    kind = _text_or_integer(dtype, key)
    return FileColumn(key, vocabulary_file, vocabulary_size, num_oov_buckets, kind, other)


@dataclass(frozen=True)
class WeightedColumn(CategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: Any = float32

    @property
    def name(self) -> str:
        """Those of both."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Those of the column, and the weights."""
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
