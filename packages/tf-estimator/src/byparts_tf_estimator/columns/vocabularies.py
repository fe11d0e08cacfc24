"""Columns of categories that are the words of a list or a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.categorical import OfOneFeature, check_key, text_or_integer
from byparts_tf_estimator.columns.column import Batch, Ids
from byparts_tf_files.dtypes import as_dtype, int64, string


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

    def ids(self, batch: Batch) -> Ids:
        """The place of each word."""
        given = batch.filled(self.key)
        if self.dtype.is_integer != given.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column "
                f"dtype: {self.dtype}, tensor dtype: {given.dtype}"
            )
        default = -2 if self.num_oov_buckets else self.default_value
        found = _PLACES(given, name="LookupTableFindV2", words=self.words, default=default)
        if not self.num_oov_buckets:
            return Ids(found)
        texts = given if given.dtype is string else named("as_string")(given)
        others = named("string_to_hash_bucket_fast")(texts, self.num_oov_buckets)
        return Ids(
            where(named("equal")(found, np.int64(-2)), others + np.int64(len(self.words)), found)
        )


@lru_cache(maxsize=64)
def _numbered(words: tuple[Any, ...]) -> dict[Any, int]:
    return {word: i for i, word in enumerate(words)}


def _places(given: Any, words: tuple[Any, ...], default: int) -> Any:
    """The places of words; the default (or -2, to be hashed) for others, -1 for none."""
    nothing, places = b"" if given.dtype == object else -1, _numbered(words)
    found = [places.get(w, -1 if w == nothing else default) for w in given.reshape(-1).tolist()]
    return np.array(found, np.int64).reshape(given.shape)


_PLACES = Kind("VocabularyPlaces", host=_places, shape=like_first, dtype=int64, gradient=False)


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
    kind = text_or_integer(listed if dtype is None else dtype, key)
    if kind.is_integer != listed.is_integer:
        raise ValueError(
            f"dtype {kind} and vocabulary dtype {listed} do not match, column_name: {key}"
        )
    check_key(key)
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
    check_key(key)
    other = -1 if default_value is None else default_value
    kind = text_or_integer(dtype, key)
    return FileColumn(key, vocabulary_file, vocabulary_size, num_oov_buckets, kind, other)
