"""Softmax, and the losses of logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import renamed
from byparts_frontend_tf.api.arithmetic import add_v2, multiply, subtract
from byparts_frontend_tf.api.families import FLOATS, check_dtype, mismatch
from byparts_frontend_tf.api.passing import stop_gradient
from byparts_frontend_tf.api.unary import absolute, exp, log1p, relu
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, broadcast
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.shape import Dims, fits, merged, shown
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _checked_axis(inputs: Sequence[Tensor], *, axis: int) -> Dims:
    dims = inputs[0].dims
    if dims is not None:
        axis_of(axis, len(dims), "dim")
    return dims


SOFTMAX = Kind("Softmax", lambda x, axis: ops.softmax(x, axis), shape=_checked_axis)
LOG_SOFTMAX = Kind("LogSoftmax", lambda x, axis: ops.log_softmax(x, axis), shape=_checked_axis)


@symbol("nn.softmax", "math.softmax")
def softmax(
    logits: TensorLike, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """e^x by the sum of these along an axis, by default the last."""
    x = check_dtype(convert_to_tensor(logits, name="logits"), FLOATS, "logits")
    axis = renamed(axis, dim, "axis", "dim")
    return SOFTMAX(x, name=name, axis=-1 if axis is None else int(axis))


@symbol("nn.log_softmax", "math.log_softmax")
def log_softmax(
    logits: TensorLike, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """The logarithm of the softmax."""
    x = check_dtype(convert_to_tensor(logits, name="logits"), FLOATS, "logits")
    axis = renamed(axis, dim, "axis", "dim")
    return LOG_SOFTMAX(x, name=name, axis=-1 if axis is None else int(axis))


def _cross_entropy(logits: Value, labels: Value, axis: int) -> Value:
    dims = logits.type.dims
    labels = ops.broadcast_to(labels, dims) if labels.type.dims != dims else labels
    last = axis_of(axis, len(dims))
    if last != len(dims) - 1:
        order = [i for i in range(len(dims)) if i != last] + [last]
        logits, labels = ops.transpose(logits, order), ops.transpose(labels, order)
    return ops.softmax_cross_entropy(logits, labels)


def _losses(inputs: Sequence[Tensor], *, axis: int) -> Dims:
    dims = broadcast(inputs)
    if dims is None:
        known = inputs[0].dims or inputs[1].dims
        return None if known is None else (None,) * (len(known) - 1)
    at = axis_of(axis, len(dims))
    return (*dims[:at], *dims[at + 1 :])


CROSS_ENTROPY = Kind("SoftmaxCrossEntropyWithLogits", _cross_entropy, shape=_losses)


def _pair(labels: Any, logits: Any, what: str) -> tuple[Tensor, Tensor]:
    """Labels and logits as tensors of one dtype.

    Raises:
        ValueError: one is not given by name.
    """
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    x = convert_to_tensor(logits, name="logits")
    y = convert_to_tensor(labels, name="labels")
    if y.dtype.base_dtype is not x.dtype.base_dtype:
        from byparts_frontend_tf.api.casting import cast

        y = cast(y, x.dtype)
    return y, check_dtype(x, FLOATS, what)


def _only_named(sentinel: Any, function: str) -> None:
    if sentinel is not None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
        )


@symbol("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """-sum(labels * log softmax(logits)) of each example; a gradient passes to the labels, too."""
    axis = renamed(axis, dim, "axis", "dim")
    y, x = _pair(labels, logits, "logits")
    return CROSS_ENTROPY(
        x, y, name=name or "softmax_cross_entropy_with_logits", axis=-1 if axis is None else axis
    )


@symbol("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: Optional[str] = None,
    axis: Any = None,
) -> Tensor:
    """-sum(labels * log softmax(logits)) of each example; no gradient passes to the labels.

    Raises:
        ValueError: arguments are not given by name.
    """
    _only_named(_sentinel, "softmax_cross_entropy_with_logits")
    y, x = _pair(labels, logits, "logits")
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [x, y]) as scope:
        at = dim if axis is None else axis
        return CROSS_ENTROPY(x, stop_gradient(y, name="labels_stop_gradient"), name=scope, axis=at)


def _sparse_losses(inputs: Sequence[Tensor]) -> Dims:
    logits, labels = inputs[0].dims, inputs[1].dims
    if logits is None or labels is None:
        return labels
    if not logits or len(labels) != len(logits) - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {len(labels)}) should equal rank of logits "
            f"minus 1 (received {len(logits)})."
        )
    if not fits(labels, logits[:-1]):
        raise ValueError(f"Shape mismatch: labels {shown(labels)} and logits {shown(logits)}")
    return merged(labels, logits[:-1])


SPARSE = Kind(
    "SparseSoftmaxCrossEntropyWithLogits",
    lambda logits, labels: ops.sparse_softmax_cross_entropy(logits, labels),
    shape=_sparse_losses,
)


@symbol("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None
) -> Tensor:
    """-log softmax(logits)[label] of each example.

    Raises:
        ValueError: arguments are not given by name, or shapes do not fit.
    """
    _only_named(_sentinel, "sparse_softmax_cross_entropy_with_logits")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    x = check_dtype(convert_to_tensor(logits, name="logits"), FLOATS, "features")
    y = check_dtype(convert_to_tensor(labels, name="labels"), ("int32", "int64"), "labels")
    return SPARSE(x, y, name=name or "SparseSoftmaxCrossEntropyWithLogits")


@symbol("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None
) -> Tensor:
    """-labels * log sigmoid(x) - (1 - labels) * log(1 - sigmoid(x)), element by element.

    Raises:
        ValueError: arguments are not given by name, or shapes differ.
    """
    _only_named(_sentinel, "sigmoid_cross_entropy_with_logits")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x, y = _same_shapes(logits, labels, "logits and labels")
        big = subtract(relu(x, name="Relu"), multiply(x, y))
        return add_v2(big, log1p(exp(-absolute(x))), name=scope)


def _same_shapes(logits: Any, labels: Any, what: str) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(logits, name="logits")
    y = convert_to_tensor(labels, None if hasattr(labels, "dtype") else x.dtype, "labels")
    if y.dtype.base_dtype is not x.dtype.base_dtype:
        raise mismatch("logistic_loss", x.dtype, y.dtype)
    if not fits(x.dims, y.dims):
        raise ValueError(f"{what} must have the same shape ({shown(x.dims)} vs {shown(y.dims)})")
    return x, y


@symbol("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: Optional[str] = None,
    targets: Any = None,
) -> Tensor:
    """As `sigmoid_cross_entropy_with_logits`, where the first term counts `pos_weight` times."""
    labels = renamed(labels, targets, "labels", "targets")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x, y = _same_shapes(logits, labels, "logits and targets")
        weight = 1 + (pos_weight - 1) * y
        small = log1p(exp(-absolute(x))) + relu(-x)
        return add_v2((1 - y) * x, weight * small, name=scope)
