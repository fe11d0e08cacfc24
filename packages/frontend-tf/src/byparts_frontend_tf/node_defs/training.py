"""Operations that TensorFlow's training adds to a graph: gradients, and updates.

`tf.gradients` builds those of operations with much inside (convolutions, pools, norms).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import byparts_frontend_tf as tf
import byparts_opset as ops
from byparts_frontend_tf.graph.kind import KINDS, Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.node_defs.node import Node
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32

Made = Any  # a tensor, an operation, or a list of them: what the operation of the node gives


def _summed_axes(a: Any, b: Any) -> tuple[Value, Value]:
    """Axes along which each of two shapes is repeated: its gradient is summed along them."""
    shapes = [[int(d) for d in s] for s in (a, b)]
    rank = max(len(s) for s in shapes)
    full = [[1] * (rank - len(s)) + s for s in shapes]
    given = [
        [i for i in range(rank) if mine[i] == 1 and (i < rank - len(s) or other[i] != 1)]
        for s, mine, other in zip(shapes, full, full[::-1], strict=True)
    ]
    first, second = (ops.constant(np.array(g, np.int32)) for g in given)
    return first, second


_ARGUMENTS = Kind(
    "BroadcastGradientArgs",
    _summed_axes,
    values=(0, 1),
    shape=lambda inputs: [(None,), (None,)],
    dtype=[int32, int32],
    gradient=False,
)


def _broadcast_axes(node: Node) -> Made:
    return list(_ARGUMENTS.outputs(*node.inputs, name=node.name))


def _of_two(rule: Callable[[Any, Any], Any]) -> Callable[[Node], Made]:
    """The gradient of an elementwise function, of TensorFlow's two inputs."""
    return lambda node: rule(*node.inputs[:2])


def _bias(node: Node) -> Made:
    (dy,) = node.inputs
    first = node.attribute("data_format", "NHWC") == "NCHW"
    rank = dy.get_shape().with_rank_at_least(2).ndims or 4
    axes = [i for i in range(rank) if i != (1 if first else rank - 1)]
    return tf.reduce_sum(dy, axes, name=node.name)


def _window(node: Node) -> dict[str, Any]:
    names = ("strides", "padding", "data_format", "ksize", "dilations")
    return {n: node.attribute(n) for n in names if n in node.definition.attr}


def _filters(node: Node) -> Made:
    """Conv2DBackpropFilter: of images, the sizes of filters, and the gradient of the result."""
    x, sizes, dy = node.inputs
    w = tf.zeros(sizes, x.dtype)
    return tf.gradients(tf.nn.conv2d(x, w, **_window(node)), w, dy)[0]


def _max_pool(node: Node) -> Made:
    x, _, dy = node.inputs
    return tf.gradients(tf.nn.max_pool(x, **_window(node)), x, dy)[0]


def _average_pool(node: Node) -> Made:
    sizes, dy = node.inputs
    x = tf.zeros(sizes, dy.dtype)
    return tf.gradients(tf.nn.avg_pool(x, **_window(node)), x, dy)[0]


def _fused_norm(node: Node) -> Made:
    dy, x, scale = node.inputs[:3]
    offset = tf.zeros_like(scale)
    y = tf.nn.fused_batch_norm(
        x,
        scale,
        offset,
        epsilon=float(node.attribute("epsilon", 1e-4)),
        data_format=node.attribute("data_format", "NHWC"),
    )[0]
    return tf.gradients(y, [x, scale, offset], dy)


def _slice(node: Node) -> Made:
    """StridedSliceGrad: of the shape of what was sliced, the key, and the gradient of the slice."""
    shape, begin, end, strides, dy = node.inputs
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    bits = {m: int(node.attribute(m, 0)) for m in masks}
    x = tf.zeros(shape, dy.dtype)
    return tf.gradients(tf.strided_slice(x, begin, end, strides, **bits), x, dy)[0]


def _cross_entropy(node: Node) -> Made:
    """The losses, and their gradients with respect to the logits where something reads these."""
    logits, labels = node.inputs
    made = KINDS[node.type](logits, labels, name=node.name)
    if node.outputs < 2:
        return made
    if node.type.startswith("Sparse"):
        labels = tf.one_hot(labels, tf.shape(logits)[1], dtype=logits.dtype)
    return [made, tf.nn.softmax(logits) - labels]


# -- updates --------------------------------------------------------------------------------------


def _descent(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, rate, dw = inputs
    return tf.assign_sub(w, rate * dw)


def _momentum(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, slot, rate, dw, kept = inputs
    speed = tf.assign(slot, slot * kept + dw)
    return tf.assign_sub(w, rate * (dw + speed * kept) if nesterov else rate * speed)


def _adam(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, mean, square, power1, power2, rate, beta1, beta2, epsilon, dw = inputs
    m = tf.assign(mean, mean * beta1 + dw * (1 - beta1))
    v = tf.assign(square, square * beta2 + dw * dw * (1 - beta2))
    step = rate * tf.sqrt(1 - power2) / (1 - power1)
    return tf.assign_sub(w, step * m / (tf.sqrt(v) + epsilon))


def _adagrad(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, slot, rate, dw = inputs
    return tf.assign_sub(w, rate * dw * tf.rsqrt(tf.assign_add(slot, dw * dw)))


def _rms(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, square, slot, rate, decay, kept, epsilon, dw = inputs
    v = tf.assign(square, square * decay + dw * dw * (1 - decay))
    return tf.assign_sub(w, tf.assign(slot, slot * kept + rate * dw * tf.rsqrt(v + epsilon)))


def _momentum_of_rows(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, slot, rate, dw, at, kept = inputs
    speed = tf.gather(slot, at) * kept + dw
    with tf.control_dependencies([tf.scatter_update(slot, at, speed)]):
        return tf.scatter_sub(w, at, rate * (dw + speed * kept) if nesterov else rate * speed)


def _adagrad_of_rows(inputs: Sequence[Tensor], nesterov: bool) -> Made:
    w, slot, rate, dw, at = inputs
    squares = tf.gather(slot, at) + dw * dw
    with tf.control_dependencies([tf.scatter_update(slot, at, squares)]):
        return tf.scatter_sub(w, at, rate * dw * tf.rsqrt(squares))


def _update(rule: Callable[[Sequence[Tensor], bool], Made]) -> Callable[[Node], Made]:
    return lambda node: rule(node.inputs, bool(node.attribute("use_nesterov", False)))


_UPDATES = {
    "Adagrad": _adagrad,
    "Adam": _adam,
    "GradientDescent": _descent,
    "Momentum": _momentum,
    "RMSProp": _rms,
}
_UPDATES_OF_ROWS = {"Adagrad": _adagrad_of_rows, "Momentum": _momentum_of_rows}
TRAINING: dict[str, Callable[[Node], Made]] = {
    **{f"Apply{name}": _update(rule) for name, rule in _UPDATES.items()},
    **{f"ResourceApply{name}": _update(rule) for name, rule in _UPDATES.items()},
    **{f"SparseApply{name}": _update(rule) for name, rule in _UPDATES_OF_ROWS.items()},
    **{f"ResourceSparseApply{name}": _update(rule) for name, rule in _UPDATES_OF_ROWS.items()},
    "AvgPoolGrad": _average_pool,
    "BiasAddGrad": _bias,
    "BroadcastGradientArgs": _broadcast_axes,
    "Conv2DBackpropFilter": _filters,
    "FusedBatchNormGrad": _fused_norm,
    "FusedBatchNormGradV2": _fused_norm,
    "FusedBatchNormGradV3": _fused_norm,
    "MaxPoolGrad": _max_pool,
    "ReciprocalGrad": _of_two(lambda y, dy: -dy * y * y),
    "ReluGrad": _of_two(lambda dy, y: dy * tf.cast(y > 0, dy.dtype)),
    "Relu6Grad": _of_two(lambda dy, y: dy * tf.cast((y > 0) & (y < 6), dy.dtype)),
    "RsqrtGrad": _of_two(lambda y, dy: dy * (y * y * y * -0.5)),
    "SigmoidGrad": _of_two(lambda y, dy: dy * y * (1 - y)),
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SoftplusGrad": _of_two(lambda dy, x: dy * tf.sigmoid(x)),
    "SparseSoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SqrtGrad": _of_two(lambda y, dy: dy * 0.5 / y),
    "StridedSliceGrad": _slice,
    "TanhGrad": _of_two(lambda y, dy: dy * (1 - y * y)),
}
