"""Partitioners say how a variable is cut between machines; here variables are whole.

They may be given wherever TensorFlow takes them, and answer as TensorFlow's do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, prod
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.shape import TensorShape

Partitioner = Callable[..., list[int]]  # (shape, dtype) -> how many pieces along each axis


def _pieces(rank: int, axis: int, count: int) -> list[int]:
    return [count if i == axis % rank else 1 for i in range(rank)]


@symbol("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Partitioner into `num_shards` pieces along an axis, at most one for each row."""

    def partitioner(shape: Any, **_: Any) -> list[int]:
        dims = [int(d) for d in TensorShape(shape)]
        return _pieces(len(dims), axis, min(num_shards, dims[axis]))

    return partitioner


@symbol("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: Any = None
) -> Partitioner:
    """Pieces of so many bytes at most.

    Raises:
        ValueError: a number is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1 or (max_shards or 1) < 1:
        raise ValueError("max_shard_bytes, bytes_per_string_element and max_shards are positive")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        dims = [int(d) for d in TensorShape(shape)]
        kind = as_dtype(dtype)
        size = bytes_per_string_element if kind.name == "string" else kind.size
        row = max(1, prod(dims) // max(1, dims[axis]) * size)
        count = ceil(dims[axis] / max(1, max_shard_bytes // row))
        return _pieces(len(dims), axis, count if max_shards is None else min(count, max_shards))

    return partitioner


@symbol("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Partitioner into pieces of about `min_slice_size` bytes, at most `max_partitions`."""

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        dims = [int(d) for d in TensorShape(shape)]
        kind = as_dtype(dtype)
        size = bytes_per_string_element if kind.name == "string" else kind.size
        count = ceil(prod(dims) * size / min_slice_size)
        return _pieces(len(dims), axis, max(1, min(dims[axis], max_partitions, count)))

    return partitioner
