"""`tf.contrib.nn.deprecated_flipped_*`: cross entropies whose logits come first."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.nn.softmax import (
    sigmoid_cross_entropy_with_logits as of_sigmoid,
    softmax_cross_entropy_with_logits as of_softmax,
    sparse_softmax_cross_entropy_with_logits as of_sparse,
)
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol

_PREFIX = "contrib.nn.deprecated_flipped_"


@symbol(f"{_PREFIX}softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: Optional[str] = None
) -> Tensor:
    """See `tf.nn.softmax_cross_entropy_with_logits`."""
    return of_softmax(labels=labels, logits=logits, dim=dim, name=name)


@symbol(f"{_PREFIX}sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: Optional[str] = None
) -> Tensor:
    """See `tf.nn.sparse_softmax_cross_entropy_with_logits`."""
    return of_sparse(labels=labels, logits=logits, name=name)


@symbol(f"{_PREFIX}sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: Optional[str] = None
) -> Tensor:
    """See `tf.nn.sigmoid_cross_entropy_with_logits`."""
    return of_sigmoid(labels=targets, logits=logits, name=name)
