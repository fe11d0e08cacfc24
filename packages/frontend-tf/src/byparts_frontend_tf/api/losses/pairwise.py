"""A loss of pairs: how far differences within a row are from those of its labels."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import ones_like
from byparts_frontend_tf.api.losses.reduction import add_loss
from byparts_frontend_tf.api.math.binary import div_no_nan, multiply
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import square
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32


@symbol("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
) -> Tensor:
    """The mean square of (x_i - x_j) - (y_i - y_j) over the pairs of each row; of rows the sum.

    Raises:
        ValueError: the shapes differ.
    """
    with name_scope(scope, "mean_pairwise_squared_error"):
        y, x = (cast(convert_to_tensor(t), float32) for t in (labels, predictions))
        x.shape.assert_is_compatible_with(y.shape)
        w = cast(convert_to_tensor(weights), float32)
        rows = shape(x)[0] if x.dims is None or x.dims[0] is None else x.dims[0]
        away = reshape(x - y, [rows, -1])
        count = reduce_sum(ones_like(away), 1)
        squares = div_no_nan(reduce_sum(square(away), 1), count - 1.0)
        sums = div_no_nan(square(reduce_sum(away, 1)), count * (count - 1.0))
        w = reshape(w, [-1]) if w.shape.ndims != 0 else w
        loss = reduce_sum(multiply(2.0 * (squares - sums), w))
        add_loss(loss, loss_collection)
        return loss


@symbol("contrib.losses.mean_pairwise_squared_error")
def old_mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Optional[str] = None
) -> Tensor:
    """Compute `losses.mean_pairwise_squared_error`; the predictions come first."""
    return mean_pairwise_squared_error(labels, predictions, weights, scope)
