"""Cross entropies, each as one op."""

from __future__ import annotations

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import FLOATS, Value

_NONE, _MEAN = 0, 1


@rules.on("aten.cross_entropy_loss.default")
def cross_entropy(
    logits: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = _MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Value:
    """logits: [n, classes, ...]; target: [n, ...], or probabilities like the logits."""
    if weight is not None or label_smoothing:
        raise UnsupportedOp("cross entropy with weights of classes or smoothed labels")
    probable = target.type.dtype in FLOATS
    last = _classes_last(logits)
    if probable:
        losses = ops.softmax_cross_entropy(last, _classes_last(target))
        return _reduced(losses, reduction, ops.count_like(losses))
    kept = ops.not_equal(target, ignore_index)
    labels = ops.where(kept, target, 0)
    losses = ops.where(kept, ops.sparse_softmax_cross_entropy(last, labels), 0.0)
    return _reduced(losses, reduction, ops.sum(ops.cast(kept, losses.type.dtype)))


@rules.on("aten.binary_cross_entropy.default")
def binary_cross_entropy(
    p: Value, target: Value, weight: Value | None = None, reduction: int = _MEAN
) -> Value:
    """The binary cross-entropy of probabilities; torch has it, and its gradient, as one op."""
    losses = ops.binary_cross_entropy(p, target)
    losses = losses if weight is None else losses * weight
    return _reduced(losses, reduction, ops.count_like(losses))


def _reduced(losses: Value, reduction: int, count: Value) -> Value:
    if reduction == _NONE:
        return losses
    total = ops.sum(losses)
    return total / count if reduction == _MEAN else total


def _classes_last(x: Value) -> Value:
    rank = rank_of(x)
    return ops.transpose(x, [0, *range(2, rank), 1]) if rank > 2 else x
