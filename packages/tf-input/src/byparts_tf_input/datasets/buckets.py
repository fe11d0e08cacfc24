"""Batches of elements that are alike: by a key, by their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64
from byparts_tf_input.datasets import mapping
from byparts_tf_input.datasets.dataset import Dataset

Transformation = Callable[[Dataset], Dataset]


@symbol("data.experimental.group_by_window", "contrib.data.group_by_window")
def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Optional[Callable[..., Any]] = None,
) -> Transformation:
    """The elements of datasets that a function makes of windows of elements with equal keys.

    Raises:
        ValueError: there is not exactly one of `window_size` and `window_size_func`.
    """
    if (window_size is not None) == (window_size_func is not None):
        raise ValueError("Must pass either window_size or window_size_func, but not both.")
    size = window_size_func or (lambda key: np.int64(window_size))

    def apply(dataset: Dataset) -> Dataset:
        given = (key_func, reduce_func, size, Dataset)
        return Dataset(mapping.grouped(dataset._pipeline, *given))

    return apply


@symbol("data.experimental.bucket_by_sequence_length", "contrib.data.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements whose lengths lie in the same range.

    Args:
        element_length_func: gives the length of an element, int32.
        bucket_boundaries: the upper ends of the ranges, exclusive.
        bucket_batch_sizes: of each range, and of what is longer.
        padded_shapes: as of `padded_batch`; by default those of the elements.
        padding_values: likewise.
        pad_to_bucket_boundary: fill up to one less than the upper end.
        no_padding: the elements of a batch are of one shape.
        drop_remainder: leave out last batches that are smaller.

    Raises:
        ValueError: there is not one batch size more than ends.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    sizes = np.array(bucket_batch_sizes, np.int64)
    ends = np.array([*bucket_boundaries, np.iinfo(np.int32).max], np.int64)

    def bucket_of(*element: Any) -> Any:
        length = cast(element_length_func(*element), int64)
        return reduce_sum(cast(length >= ends[:-1], int64))

    def batches(key: Any, window: Dataset) -> Dataset:
        size = gather(sizes, key)
        if no_padding:
            return window.batch(size, drop_remainder)
        shapes = window.output_shapes if padded_shapes is None else padded_shapes
        if pad_to_bucket_boundary:
            shapes = _up_to(shapes, gather(ends, key) - 1)
        return window.padded_batch(size, shapes, padding_values, drop_remainder)

    return group_by_window(bucket_of, batches, window_size_func=lambda key: gather(sizes, key))


def _up_to(shapes: Any, length: Any) -> Any:
    """The shapes with a length in place of what is not known."""

    def filled(shape: Any) -> Any:
        dims = shape.as_list() if hasattr(shape, "as_list") else list(shape)
        if None not in dims:
            return shape
        parts = [length if d is None else np.int64(d) for d in dims]
        return stack(parts)

    if isinstance(shapes, (list, type(None))) or hasattr(shapes, "as_list"):
        return filled(shapes)
    if isinstance(shapes, dict):
        return {k: _up_to(v, length) for k, v in shapes.items()}
    if shapes and not any(s is None or isinstance(s, int) for s in shapes):
        return tuple([_up_to(s, length) for s in shapes])
    return filled(shapes)
