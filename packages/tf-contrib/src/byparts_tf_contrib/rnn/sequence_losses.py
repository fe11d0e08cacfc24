"""Cross entropies of sequences: `contrib.seq2seq.sequence_loss`, and those of `legacy_seq2seq`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.binary import add_n, div_no_nan, greater
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.nn.softmax import sparse_softmax_cross_entropy_with_logits
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol

Loss = Optional[Callable[..., Any]]


@symbol("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Loss = None,
    name: Optional[str] = None,
) -> Tensor:
    """Weighted cross entropy of [batch, time, classes], averaged or summed as is said.

    Args:
        logits: [batch, time, classes].
        targets: integers [batch, time].
        weights: [batch, time].
        average_across_timesteps: divide by the sum of the weights along time.
        average_across_batch: the same, along the batch.
        sum_over_timesteps: divide by how many weights are not 0, instead.
        sum_over_batch: the same, along the batch.
        softmax_loss_function: in place of the cross entropy; takes `labels` and `logits`.
        name: of the scope.

    Raises:
        ValueError: ranks are others; both averages and sums are wanted.
    """
    scores, labels, shares = (convert_to_tensor(t) for t in (logits, targets, weights))
    for tensor, rank in ((scores, 3), (labels, 2), (shares, 2)):
        if tensor.get_shape().ndims not in (None, rank):
            raise ValueError(f"sequence_loss: {tensor} is to have {rank} axes")
    averages = average_across_timesteps or average_across_batch
    if averages and (sum_over_timesteps or sum_over_batch):
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot both be set.")
    with name_scope(name, "sequence_loss", [scores, labels, shares]):
        losses = _losses(scores, labels, softmax_loss_function) * reshape(shares, [-1])
        across = (
            average_across_batch or sum_over_batch,
            average_across_timesteps or sum_over_timesteps,
        )
        losses = reshape(losses, shape(scores)[0:2])
        if not any(across):
            return losses
        axes = [axis for axis, wanted in enumerate(across) if wanted]
        counted = shares if averages else cast(greater(shares, 0), losses.dtype)
        return div_no_nan(reduce_sum(losses, axes), reduce_sum(counted, axes))


def _losses(scores: Tensor, labels: Tensor, function: Loss) -> Any:
    flat = reshape(scores, [-1, shape(scores)[2]])
    flat.set_shape([None, scores.get_shape()[2]])
    if function is None:
        return sparse_softmax_cross_entropy_with_logits(labels=reshape(labels, [-1]), logits=flat)
    return function(labels=reshape(labels, [-1]), logits=flat)


@symbol("contrib.legacy_seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Loss = None,
    name: Optional[str] = None,
) -> Any:
    """Weighted cross entropy of each example, of lists over time: [batch].

    Args:
        logits: for each step [batch, classes].
        targets: for each step integers [batch].
        weights: for each step [batch].
        average_across_timesteps: divide by the sum of the weights.
        softmax_loss_function: in place of the cross entropy; takes `labels` and `logits`.
        name: of the scope.

    Raises:
        ValueError: the lists have other lengths.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for scores, labels, share in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                flat = reshape(labels, [-1])
                loss = sparse_softmax_cross_entropy_with_logits(labels=flat, logits=scores)
            else:
                loss = softmax_loss_function(labels=labels, logits=scores)
            losses.append(loss * share)
        total = add_n(losses)
        return total / (add_n(list(weights)) + 1e-12) if average_across_timesteps else total


@symbol("contrib.legacy_seq2seq.sequence_loss")
def legacy_sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Loss = None,
    name: Optional[str] = None,
) -> Any:
    """The sum of `sequence_loss_by_example`, or its mean over the batch."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps, softmax_loss_function
            )
        )
        if not average_across_batch:
            return cost
        return cost / cast(shape(targets[0])[0], cost.dtype)
