"""Softmax, cross entropies, and what is among the best classes."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.broadcast_to import broadcast_to
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.elementwise import FLOATS, check_dtype, second
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.math.unary import absolute, exp, log1p
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, broadcast_dims, same
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import bool_, int32
from byparts_tf_files.shape import Dims, fits, merged


def _axis(axis: Any, dim: Any) -> int:
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'")
    given = dim if axis is None else axis
    return -1 if given is None else int(given)


def _of_axis(inputs: Any, axis: int) -> Dims:
    dims: Dims = inputs[0].dims
    if dims is not None:
        if not dims:
            raise ValueError("Shape must be at least rank 1 but is rank 0 for 'Softmax'")
        axis_of(axis, len(dims), "Dimension")
    return dims


_SOFTMAX = Kind("Softmax", lambda x, axis: ops.softmax(x, axis), shape=_of_axis)
_LOG_SOFTMAX = Kind("LogSoftmax", lambda x, axis: ops.log_softmax(x, axis), shape=_of_axis)


@symbol("nn.softmax", "math.softmax")
def softmax(
    logits: TensorLike, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """exp(logits) scaled to a sum of 1 along the axis, the last by default."""
    x = check_dtype(convert_to_tensor(logits, name="logits"), FLOATS, "logits")
    return _SOFTMAX(x, name=name, axis=_axis(axis, dim))


@symbol("nn.log_softmax", "math.log_softmax")
def log_softmax(
    logits: TensorLike, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """The logarithm of `softmax`."""
    x = check_dtype(convert_to_tensor(logits, name="logits"), FLOATS, "logits")
    return _LOG_SOFTMAX(x, name=name, axis=_axis(axis, dim))


def _without_last(inputs: Any, **_: Any) -> Any:
    dims = inputs[0].dims
    return None if dims is None else dims[:-1]


def _cross_entropy(logits: Value, labels: Value) -> Value:
    """TensorFlow's gradient, softmax - labels, takes labels to sum to 1 where they do not."""
    return ops.SoftmaxCrossEntropy(sums_to_one=True).outputs_of(logits, labels)[0]


_CROSS_ENTROPY = Kind("SoftmaxCrossEntropyWithLogits", _cross_entropy, shape=_without_last)
_SPARSE = Kind(
    "SparseSoftmaxCrossEntropyWithLogits",
    ops.sparse_softmax_cross_entropy,
    shape=lambda inputs: merged(_without_last(inputs), inputs[1].dims),
)


def _only_named(sentinel: Any, labels: Any, logits: Any, function: str) -> None:
    if sentinel is not None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
        )
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


@symbol("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """The loss of each example for labels that are distributions; gradients reach labels, too.

    Raises:
        ValueError: the shapes differ.
    """
    at = _axis(axis, dim)
    with name_scope(name, "softmax_cross_entropy_with_logits") as scope:
        x = convert_to_tensor(logits, name="logits")
        y = cast(convert_to_tensor(labels, name="labels"), x.dtype.base_dtype)
        if not x.shape.is_compatible_with(y.shape):
            try:
                dims = broadcast_dims(x.dims, y.dims)
            except ValueError:
                raise ValueError(
                    f"logits and labels must be the same size: logits_size={x.shape} "
                    f"labels_size={y.shape}"
                ) from None
            x, y = (broadcast_to(t, dims) for t in (x, y))
        rank = None if x.dims is None else len(x.dims)
        if at != -1 and rank is not None and at % rank != rank - 1:
            order = [a for a in range(rank) if a != at % rank]
            x, y = (transpose(t, [*order, at % rank]) for t in (x, y))
        return _CROSS_ENTROPY(x, y, name=scope)


@symbol("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: Optional[str] = None,
    axis: Any = None,
) -> Tensor:
    """Cross entropy as `softmax_cross_entropy_with_logits_v2`; no gradient reaches the labels."""
    _only_named(_sentinel, labels, logits, "softmax_cross_entropy_with_logits")
    with name_scope(name, "softmax_cross_entropy_with_logits_sg"):
        y = stop_gradient(convert_to_tensor(labels), name="labels_stop_gradient")
    if axis is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'")
    return softmax_cross_entropy_with_logits_v2(y, logits, dim, name)


@symbol("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None
) -> Tensor:
    """The loss of each example for labels that are numbers of classes.

    Raises:
        ValueError: not called with named arguments, or the ranks do not fit.
    """
    _only_named(_sentinel, labels, logits, "sparse_softmax_cross_entropy_with_logits")
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits") as scope:
        x, y = convert_to_tensor(logits), convert_to_tensor(labels)
        check_dtype(y, ("int32", "int64"), "labels")
        if x.dims is not None and y.dims is not None:
            if len(x.dims) == 0:
                raise ValueError(f"Logits cannot be scalars - received shape {x.shape}.")
            if len(y.dims) != len(x.dims) - 1:
                raise ValueError(
                    f"Rank mismatch: Rank of labels (received {len(y.dims)}) should equal rank of "
                    f"logits minus 1 (received {len(x.dims)})."
                )
            if not fits(y.dims, x.dims[:-1]):
                raise ValueError(
                    f"Shape mismatch: The shape of labels (received {y.shape}) should equal the "
                    f"shape of logits except for the last dimension (received {x.shape})."
                )
        return _SPARSE(x, y, name=scope)


def _sigmoid_cross_entropy(x: Value, z: Value) -> Value:
    return ops.relu(x) - x * z + ops.log1p(ops.exp(-ops.abs(x)))


_SIGMOID = Kind("SigmoidCrossEntropy", _sigmoid_cross_entropy, shape=same)


@symbol("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None
) -> Tensor:
    """-labels log(sigmoid(logits)) - (1 - labels) log(1 - sigmoid(logits)), for each element.

    Raises:
        ValueError: not called with named arguments, or the shapes differ.
    """
    _only_named(_sentinel, labels, logits, "sigmoid_cross_entropy_with_logits")
    with name_scope(name, "logistic_loss") as scope:
        x = convert_to_tensor(logits, name="logits")
        z = second(labels, x.dtype.base_dtype, "Mul")
        if not x.shape.is_compatible_with(z.shape):
            raise ValueError(f"logits and labels must have the same shape ({x.shape} vs {z.shape})")
        return _SIGMOID(x, z, name=scope)


@symbol("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: Optional[str] = None,
    targets: Any = None,
) -> Tensor:
    """Compute `sigmoid_cross_entropy_with_logits` with the first part times `pos_weight`."""
    with name_scope(name, "logistic_loss"):
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(labels if targets is None else targets, x.dtype.base_dtype)
        weight = 1 + (convert_to_tensor(pos_weight, x.dtype.base_dtype) - 1) * z
        made: Tensor = (1 - z) * x + weight * (log1p(exp(-absolute(x))) + relu(-x))
        return made


class TopKV2(NamedTuple):
    """The greatest values along the last axis, and where they are."""

    values: Tensor
    indices: Tensor


def _top(x: Value, k: Any) -> tuple[Value, Value]:
    values, indices = ops.top_k(x, int(k))
    return values, ops.cast(indices, "i32")


def _top_shapes(inputs: Any) -> list[Dims]:
    dims, k = inputs[0].dims, static_value(inputs[1])
    if dims is None:
        return [None, None]
    if k is not None and int(k) < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {k}"
        )
    if k is not None and dims[-1] is not None and dims[-1] < int(k):
        raise ValueError(f"input must have last dimension >= k = {k} but is {dims[-1]}")
    return [(*dims[:-1], None if k is None else int(k))] * 2


_TOP_K = Kind(
    "TopKV2",
    _top,
    values=(1,),
    shape=_top_shapes,
    dtype=lambda inputs, **_: [inputs[0].dtype, int32],
)


@symbol("nn.top_k", "math.top_k")
def top_k(input: TensorLike, k: Any = 1, sorted: bool = True, name: Optional[str] = None) -> TopKV2:
    """The k greatest along the last axis, the greatest first."""
    return TopKV2(*_TOP_K.outputs(convert_to_tensor(input), convert_to_tensor(k, int32), name=name))


def _in_top(predictions: Value, targets: Value, k: Any) -> Value:
    """Mask of the rows in which fewer than k classes are above the target's."""
    _, classes = predictions.type.dims
    hot = ops.one_hot(targets, classes, predictions.type.dtype)
    mine = ops.sum(predictions * hot, 1, True)
    above = ops.cast(ops.greater(predictions, mine), "i32")
    return ops.less(ops.sum(above, 1, False), ops.constant(k.astype("int32").reshape(())))


_IN_TOP_K = Kind(
    "InTopKV2",
    _in_top,
    values=(2,),
    shape=lambda inputs: merged(inputs[1].dims, (None,)),
    dtype=bool_,
    gradient=False,
)


@symbol("nn.in_top_k", "math.in_top_k")
def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: Any, name: Optional[str] = None
) -> Tensor:
    """Whether the target is among the k greatest predictions of its row."""
    with name_scope(name, "in_top_k"):
        given = convert_to_tensor(predictions), convert_to_tensor(targets)
        return _IN_TOP_K(*given, convert_to_tensor(k, int32))
