"""Rows of tables by categories, those of one example combined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.binary import div_no_nan
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import sqrt, square
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_estimator.columns.column import Ids, at_least_zero, known
from byparts_tf_files.dtypes import float32


def combined(lookup: Callable[[Tensor], Any], found: Ids, combiner: str) -> Tensor:
    """The rows of the categories of each example together; 0 where it has none.

    Args:
        lookup: gives a row for each category.
        found: the categories.
        combiner: "sum", "mean" (by weights) or "sqrtn" (by the root of their squares' sum).

    Raises:
        ValueError: `combiner` is none of these.
    """
    if combiner not in ("sum", "mean", "sqrtn"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    weights: Any = cast(known(found.ids), float32)
    if found.weights is not None:
        weights = weights * found.weights
    rows = lookup(at_least_zero(found.ids)) * expand_dims(weights, -1)
    total = reduce_sum(rows, [-2])
    if combiner == "sum":
        return total
    if combiner == "mean":
        return div_no_nan(total, reduce_sum(weights, [-1], True))
    return div_no_nan(total, sqrt(reduce_sum(square(weights), [-1], True)))
