"""`tf.contrib.sparsemax` (Martins and Astudillo 2016): shares of which some are zero."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.math.cumsum import cumsum
from byparts_frontend_tf.api.math.reduce import reduce_mean, reduce_sum
from byparts_frontend_tf.api.nn.softmax import top_k
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("contrib.sparsemax.sparsemax")
def sparsemax(logits: TensorLike, name: Optional[str] = None) -> Any:
    """The point of the simplex that is nearest to each row of logits [batch, classes]."""
    with name_scope(name, "sparsemax"):
        z = convert_to_tensor(logits, name="logits")
        sorted_z, _ = top_k(z, shape(z)[1])
        sums = cumsum(sorted_z, axis=1)
        counts = cast(range_of(1, shape(z)[1] + 1), z.dtype)
        kept = cast(1 + counts * sorted_z > sums, z.dtype)  # a prefix of each row
        support = reduce_sum(kept, axis=1, keepdims=True)
        threshold = (reduce_sum(kept * sorted_z, axis=1, keepdims=True) - 1) / support
        return maximum(z - threshold, zeros_like(z))


@symbol("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(
    logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: Optional[str] = None
) -> Any:
    """The loss [batch] whose gradient is sparsemax minus labels."""
    with name_scope(name, "sparsemax_loss"):
        z, shares = convert_to_tensor(logits), convert_to_tensor(sparsemax)
        q = convert_to_tensor(labels)
        z = z - reduce_mean(z, axis=1, keepdims=True)
        kept = where(shares > 0, shares * (z - 0.5 * shares), zeros_like(shares))
        return reduce_sum(kept + q * (0.5 * q - z), axis=1)
