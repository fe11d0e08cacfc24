"""Means and variances by their parts: sums, counts, weights."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.constants import zeros_like
from byparts_frontend_tf.api.indexing import gather
from byparts_frontend_tf.api.reductions import reduce_mean, reduce_prod, reduce_sum
from byparts_frontend_tf.api.shaping import shape as shape_of, squeeze
from byparts_frontend_tf.api.unary import sqrt, square
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike,
    axes: Any,
    shift: Any = None,
    keep_dims: Any = None,
    name: Optional[str] = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor, Tensor, Optional[Tensor]]:
    """How many elements there are along axes, their sums and the sums of squares, and the shift."""
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "sufficient_statistics"):
        given = convert_to_tensor(x, name="x")
        along = numbers(axes, "the axes")
        known: Any = None if given.dims is None else [given.dims[a] for a in along]
        if known is not None and None not in known:
            count: Any = convert_to_tensor(
                given.dtype.base_dtype.as_numpy_dtype(np.prod(known, dtype=np.float64)),
                name="count",
            )
        else:
            sizes = gather(shape_of(given), convert_to_tensor(np.array(along, np.int32)))
            count = cast(reduce_prod(sizes), given.dtype.base_dtype)
        moved = None if shift is None else convert_to_tensor(shift, given.dtype.base_dtype)
        away = given if moved is None else given - moved
        mean = reduce_sum(away, along, kept, name="mean_ss")
        return count, mean, reduce_sum(square(away), along, kept, name="var_ss"), moved


@symbol("nn.normalize_moments")
def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: Any,
    name: Optional[str] = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of what `sufficient_statistics` gives."""
    with name_scope(name, "normalize"):
        sums, squares = convert_to_tensor(mean_ss), convert_to_tensor(variance_ss)
        away = sums / convert_to_tensor(counts)
        mean: Tensor = away if shift is None else away + convert_to_tensor(shift)
        variance: Tensor = squares / convert_to_tensor(counts) - square(away)
        return mean, variance


@symbol("nn.weighted_moments")
def weighted_moments(
    x: TensorLike,
    axes: Any,
    frequency_weights: TensorLike,
    name: Optional[str] = None,
    keep_dims: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance along axes, each element as often as its weight says."""
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "weighted_moments"):
        given = convert_to_tensor(x, name="x")
        along = numbers(axes, "the axes")
        w = cast(convert_to_tensor(frequency_weights), given.dtype.base_dtype) + zeros_like(given)
        total = reduce_sum(w, along, True)
        mean = reduce_sum(w * given, along, True) / total
        variance = reduce_sum(w * square(given - mean), along, True) / total
        if kept:
            return mean, variance
        return squeeze(mean, list(along)), squeeze(variance, list(along))


@symbol("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: Optional[str] = None
) -> Tensor:
    """The variance along axes, by default of all elements."""
    with name_scope(name, "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        return reduce_mean(square(x - reduce_mean(x, axis, True)), axis, keepdims)


@symbol("math.reduce_std")
def reduce_std(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: Optional[str] = None
) -> Tensor:
    """The standard deviation along axes, by default of all elements."""
    with name_scope(name, "reduce_std"):
        return sqrt(reduce_variance(input_tensor, axis, keepdims))


@symbol("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: Optional[str] = None
) -> Tensor:
    """The root of the sum of squares along axes."""
    with name_scope(name, "euclidean_norm"):
        return sqrt(reduce_sum(square(convert_to_tensor(input_tensor)), axis, keepdims))


@symbol("AggregationMethod")
class AggregationMethod:
    """How gradients are added up; here always in one way."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2
