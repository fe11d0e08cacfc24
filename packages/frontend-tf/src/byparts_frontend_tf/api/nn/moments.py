"""`tf.nn.moments`: means and variances, also by their parts: sums, counts, weights."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.math.binary import subtract
from byparts_frontend_tf.api.math.reduce import reduce_mean, reduce_prod, reduce_sum
from byparts_frontend_tf.api.math.unary import square
from byparts_frontend_tf.api.reshape import squeeze
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("nn.moments")
def moments(
    x: TensorLike,
    axes: Any,
    shift: Any = None,
    name: Optional[str] = None,
    keep_dims: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance along axes; computed in float32 for halves."""
    kept = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "moments"):
        given = convert_to_tensor(x, name="x")
        dtype = given.dtype.base_dtype
        y = cast(given, "float32") if dtype.name in ("float16", "bfloat16") else given
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        distance = square(subtract(y, stop_gradient(mean)))
        variance = reduce_mean(distance, axes, keepdims=True, name="variance")
        if not kept:
            listed = [axes] if isinstance(axes, int) else list(axes)
            mean, variance = squeeze(mean, listed), squeeze(variance, listed)
        if y is not given:
            mean, variance = cast(mean, dtype), cast(variance, dtype)
        return mean, variance


@symbol("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike,
    axes: Any,
    shift: Any = None,
    keep_dims: Any = None,
    name: Optional[str] = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor, Tensor, Optional[Tensor]]:
    """Count of elements along axes, their sums and the sums of squares, and the shift."""
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
