"""`tf.contrib.losses.metric_learning`: losses of distances between the rows of a batch.

Rows of one label are near, others far.  Rows of all triples (anchor, positive, negative) are looked
at: memory is the cube of the batch, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.cast import to_float
from byparts_frontend_tf.api.constant import eye, zeros_like
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.binary import equal, greater, maximum
from byparts_frontend_tf.api.math.reduce import reduce_any, reduce_max, reduce_mean, reduce_sum
from byparts_frontend_tf.api.math.unary import exp, log, sqrt, square
from byparts_frontend_tf.api.nn.softmax import softmax_cross_entropy_with_logits_v2
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol

_PLACES = tuple(
    f"contrib.losses.{place}"
    for place in (
        "metric_learning",
        "python.metric_learning",
        "python.metric_learning.metric_loss_ops",
    )
)


def _loss(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return symbol(*(f"{place}.{function.__name__}" for place in _PLACES))(function)


@_loss
def pairwise_distance(feature: Any, squared: bool = False) -> Tensor:
    """The distances between the rows of [n, m]: [n, n], on the diagonal 0."""
    x = convert_to_tensor(feature)
    norms = reduce_sum(square(x), 1, keepdims=True)
    squares = maximum(norms + transpose(norms) - 2.0 * matmul(x, x, transpose_b=True), 0.0)
    same = to_float(squares <= 0.0)
    far = squares if squared else sqrt(squares + same * 1e-16)
    distances: Tensor = far * (1.0 - same) * (1.0 - eye(shape(x)[0]))
    return distances


def _alike(labels: Any) -> Tensor:
    """Whether two rows have one label: bool [n, n]."""
    column = reshape(convert_to_tensor(labels), [-1, 1])
    alike: Tensor = equal(column, transpose(column))
    return alike


@_loss
def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Tensor:
    """Schroff et al. 2015: of each pair of one label, against the nearest row that is farther.

    Where none is farther, against the farthest of another label.
    """
    far, alike = pairwise_distance(embeddings, squared=True), _alike(labels)
    others = 1.0 - to_float(alike)
    beyond = to_float(greater(far[:, None, :], far[:, :, None])) * others[:, None, :]
    most = reduce_max(far, 1, keepdims=True)
    least = -reduce_max(-far, 1, keepdims=True)
    nearest = most - reduce_max((most[:, :, None] - far[:, None, :]) * beyond, 2)
    farthest = reduce_max((far - least) * others, 1, keepdims=True) + least
    negative = where(reduce_any(beyond > 0.0, 2), nearest, farthest + zeros_like(far))
    pairs = to_float(alike) - eye(shape(far)[0])
    loss: Tensor = reduce_sum(maximum((margin + far - negative) * pairs, 0.0)) / reduce_sum(pairs)
    return loss


@_loss
def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Tensor:
    """Song et al. 2016: of each pair of one label, against all rows of others."""
    far, alike = pairwise_distance(embeddings), to_float(_alike(labels))
    gaps, others = margin - far, 1.0 - alike
    least = -reduce_max(-gaps, 1, keepdims=True)
    most = reduce_max((gaps - least) * others, 1, keepdims=True) + least
    most = maximum(most, transpose(most))
    sums = reduce_sum(exp(gaps[:, None, :] - most[:, :, None]) * others[:, None, :], 2)
    pairs = alike - eye(shape(far)[0])
    each = (most + log(sums + transpose(sums)) + far) * pairs
    loss: Tensor = 0.25 * reduce_sum(square(maximum(each, 0.0))) / (reduce_sum(pairs) / 2.0)
    return loss


@_loss
def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Sohn 2016: cross entropies of the products of anchors with all positives, and their norms."""
    del print_losses
    anchor, positive = convert_to_tensor(embeddings_anchor), convert_to_tensor(embeddings_positive)
    sizes = [reduce_mean(reduce_sum(square(x), 1)) for x in (anchor, positive)]
    alike = to_float(_alike(labels))
    wanted = alike / reduce_sum(alike, 1, keepdims=True)
    logits = matmul(anchor, positive, transpose_b=True)
    entropies = softmax_cross_entropy_with_logits_v2(labels=wanted, logits=logits)
    loss: Tensor = 0.25 * reg_lambda * (sizes[0] + sizes[1]) + reduce_mean(entropies)
    return loss


@_loss
def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Tensor:
    """Hadsell et al. 2006: pairs of label 1 are near, pairs of label 0 at least `margin` apart."""
    away = convert_to_tensor(embeddings_anchor) - embeddings_positive
    far, near = sqrt(reduce_sum(square(away), 1)), to_float(convert_to_tensor(labels))
    each = near * square(far) + (1.0 - near) * square(maximum(margin - far, 0.0))
    return reduce_mean(each, name="contrastive_loss")
