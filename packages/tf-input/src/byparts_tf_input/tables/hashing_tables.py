"""Tables that give keys which they do not know numbers by hashing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.api.identity import no_op
from byparts_frontend_tf.api.math.binary import add, not_equal_tensors
from byparts_frontend_tf.api.strings.to_number import (
    as_string,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype, int64, string
from byparts_tf_input.tables.tables import LookupInterface, StaticHashTable


@symbol("contrib.lookup.HasherSpec")
class HasherSpec(NamedTuple):
    """A hash function, by name, that puts strings in buckets; and its key."""

    hasher: str
    key: Any


FAST = HasherSpec("fasthash", None)


@symbol("contrib.lookup.StrongHashSpec")
def StrongHashSpec(key: Sequence[int]) -> HasherSpec:  # noqa: N802  # TensorFlow's name
    """By SipHash under a key of two numbers."""
    if len(key) != 2:
        raise ValueError(f"key must have size 2, the number of elements in key is {len(key)}.")
    return HasherSpec("stronghash", tuple(key))


@symbol("contrib.lookup.IdTableWithHashBuckets")
class IdTableWithHashBuckets(LookupInterface):
    """A table of ids; keys that are not there are put in buckets behind them.

    Args:
        table: strings or integers -> ids, or `None`: only buckets.
        num_oov_buckets: how many buckets.
        hasher_spec: how they are chosen.
        name: of operations.
        key_dtype: of keys, by default that of the table.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FAST,
        name: Optional[str] = None,
        key_dtype: Any = None,
    ) -> None:
        self._table, self._count, self._spec = table, num_oov_buckets, hasher_spec
        usual = string if table is None else table.key_dtype
        self.key_dtype = usual if key_dtype is None else as_dtype(key_dtype)
        self.value_dtype = int64
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        if table is not None:
            self.resource_handle, self._default_value = table.resource_handle, table.default_value
        self.initializer = no_op() if table is None else table.initializer

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        made: Operation = self.initializer
        return made

    def size(self, name: Optional[str] = None) -> Any:
        """The number of ids, those of the buckets too."""
        known = np.int64(0) if self._table is None else self._table.size()
        return add(known, np.int64(self._count), name=name)

    def lookup(self, keys: Any, name: Optional[str] = None) -> Any:
        """The id of each key."""
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values, name), keys.dense_shape)
        given = convert_to_tensor(keys, None if hasattr(keys, "dtype") else self.key_dtype)
        if given.dtype.base_dtype is not self.key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self.key_dtype!r}, got {given.dtype!r}."
            )
        if self._count == 0:
            return self._table.lookup(given, name)
        text = given if given.dtype.base_dtype is string else as_string(given)
        if self._spec.hasher == "fasthash":
            buckets: Any = string_to_hash_bucket_fast(text, self._count)
        else:
            buckets = string_to_hash_bucket_strong(text, self._count, self._spec.key)
        if self._table is None:
            return buckets
        ids = self._table.lookup(given, name)
        behind = add(buckets, self._table.size())
        return where(not_equal_tensors(ids, self._table.default_value), ids, behind)


@symbol("lookup.StaticVocabularyTable")
class StaticVocabularyTable(IdTableWithHashBuckets):
    """The ids of `initializer`; keys that are not there are put in buckets behind them.

    Args:
        initializer: says keys and ids.
        num_oov_buckets: how many buckets, at least 1.
        lookup_key_dtype: of keys.
        name: of the table.
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: Optional[str] = None,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        table = None if initializer is None else StaticHashTable(initializer, -1, name=name)
        super().__init__(table, num_oov_buckets, FAST, name, lookup_key_dtype)


SYMBOLS = {"contrib.lookup.FastHashSpec": "FAST"}
