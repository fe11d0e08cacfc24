"""Crossed categories: each combination of values is one, hashed as TensorFlow does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Optional, Union

import numpy as np

from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.categorical import HashedColumn
from byparts_tf_estimator.columns.column import Batch, CategoricalColumn, Ids
from byparts_tf_files.dtypes import int64, string
from byparts_tf_files.fingerprint import fingerprint64

_KEY = 0xDECAFCAFFE
_MASK, _MULTIPLIER = (1 << 64) - 1, 0xC6A4A7935BD1E995


@dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """See `crossed_column`."""

    keys: tuple[Union[str, CategoricalColumn], ...]
    hash_bucket_size: int
    hash_key: Optional[int] = None

    @property
    def name(self) -> str:
        """The names of the features, sorted, with _X_ between them."""
        leaves = [leaf if isinstance(leaf, str) else leaf.name for leaf in self.leaves()]
        return "_X_".join(sorted(leaves))

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.hash_bucket_size

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Specs of all crossed features."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            if isinstance(key, str):
                spec[key] = named("VarLenFeature")(string)
            else:
                spec.update(key.parse_example_spec)
        return spec

    def leaves(self) -> list[Any]:
        """Features and columns, those of crossed columns by themselves."""
        found: list[Any] = []
        for key in self.keys:
            found += key.leaves() if isinstance(key, CrossedColumn) else [key]
        return found

    def ids(self, batch: Batch) -> Ids:
        """The hash of each combination of values."""
        sparse, dense = [], []
        for leaf in self.leaves():
            if not isinstance(leaf, str):
                sparse.append(batch.ids(leaf).ids)
            elif hasattr(batch.raw(leaf), "dense_shape"):
                sparse.append(batch.filled(leaf))
            else:
                dense.append(batch.raw(leaf))
        return Ids(
            _CROSS(
                *sparse,
                *dense,
                sparse=len(sparse),
                buckets=self.hash_bucket_size,
                key=self.hash_key or _KEY,
            )
        )


def _crossed(*columns: Any, sparse: int, buckets: int, key: int) -> Any:
    """The hashes [examples, most of one example], -1 where there are fewer."""
    rows = [
        [_hash(key, values) % buckets for values in product(*parts)]
        for parts in zip(*_parts(columns, sparse), strict=True)
    ]
    width = max([len(row) for row in rows], default=0)
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int64).reshape(-1, width)


def _parts(columns: Sequence[Any], sparse: int) -> Iterator[list[list[int]]]:
    """The numbers of the values of each example, for each column; without those that are none."""
    for i, column in enumerate(columns):
        text = column.dtype == object
        nothing: Any = b"" if text else -1
        yield [
            [fingerprint64(v) if text else int(v) for v in row if i >= sparse or v != nothing]
            for row in column.reshape(len(column), -1).tolist()
        ]


def _hash(key: int, values: Sequence[int]) -> int:
    """TensorFlow's FingerprintCat64, value after value."""
    found = key
    for value in values:
        found ^= _MULTIPLIER
        found ^= _mixed(value * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
        found = _mixed(found * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
        found = _mixed(found)
    return found


def _mixed(x: int) -> int:
    return x ^ x >> 47


_CROSS = Kind(
    "SparseCross",
    host=_crossed,
    shape=lambda inputs, **_: (inputs[0].dims[0] if inputs[0].dims else None, None),
    dtype=int64,
    gradient=False,
)


@symbol("feature_column.crossed_column")
def crossed_column(
    keys: Sequence[Any], hash_bucket_size: int, hash_key: Optional[int] = None
) -> CrossedColumn:
    """Categories that are hashes of combinations of values.

    Args:
        keys: features, or columns of categories that are not hashed.
        hash_bucket_size: how many categories there are.
        hash_key: of the hash.

    Raises:
        ValueError: there are fewer than two keys, one is hashed or no column; the size is below 1.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                "crossing will increase probability of collision. Instead, use the feature name as "
                f"a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
