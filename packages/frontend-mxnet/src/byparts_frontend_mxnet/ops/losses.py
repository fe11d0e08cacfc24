"""Output layers: ops whose gradient is that of a loss, whatever gradient comes from behind."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_mxnet.ops.entry import Dims, op
from byparts_graph_ir import Node, Op, ShapeError, TensorType, Types, Value


class OwnGradient(Op):
    """y, and the gradient by x is dx: what is known of a loss that nobody computes."""

    pattern = "injective"
    ignores = (1, 2)

    def infer(self, y: TensorType, dx: TensorType, x: TensorType) -> Types:
        if dx.shape != x.shape:
            raise ShapeError(f"own_gradient: x is {x}, and its gradient {dx}")
        return (y,)

    def views(self, *types: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)

    def evaluate(self, y: Any, dx: Any, x: Any) -> tuple[Any, ...]:
        return (np.array(y),)

    def decompose(self, y: Value, dx: Value, x: Value) -> tuple[Value, ...]:
        return (y,)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None, None, node.inputs[1])


def _own(y: Any, dx: Any, x: Any) -> Any:
    stop = ops.stop_gradient
    return OwnGradient()(stop(y), stop(dx), x)


def _label_shape(dims: Dims, p: Any) -> dict[str, Dims]:
    if p["multi_output"]:
        return {"label": (dims[0], *dims[2:])}
    return {"label": dims[:-1] if p["preserve_shape"] else dims[:1]}


@op("SoftmaxOutput", "Softmax", shapes=_label_shape)
def softmax_output(
    data: Any, label: Any, *, grad_scale: float = 1.0, ignore_label: float = -1.0,
    multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False,
    normalization: str = "null", out_grad: bool = False, smooth_alpha: float = 0.0,
) -> Any:  # fmt: skip
    """Softmax; its gradient is that of the cross entropy with label: softmax - one_hot(label).

    Along the axis 1 (`multi_output`), the last one (`preserve_shape`), or all but the first.
    """
    dims = data.type.dims
    x = data if multi_output or preserve_shape else ops.reshape(data, (dims[0], -1))
    rank = len(x.type.dims)
    axis = 1 if multi_output else rank - 1
    p = ops.softmax(x, axis)
    if label.type.size == data.type.size:  # probabilities
        return _own(ops.reshape(p, dims), ops.reshape(p, dims) - ops.reshape(label, dims), data)
    places = [d for a, d in enumerate(x.type.dims) if a != axis]
    label = ops.reshape(label, places)
    depth = x.type.dims[axis]
    off = smooth_alpha / max(depth - 1, 1)
    known = ops.minimum(ops.maximum(ops.cast(label, "i32"), 0), depth - 1)
    hot = ops.one_hot(known, depth, x.type.dtype, 1 - smooth_alpha, off)
    if axis == 1 < rank - 1:
        hot = ops.transpose(hot, (0, rank - 1, *range(1, rank - 1)))
    dx, scale = p - hot, grad_scale
    counted = ops.cast(ops.not_equal(label, ignore_label), x.type.dtype)
    if use_ignore:
        dx = dx * ops.expand_dims(counted, axis)
    if multi_output and normalization != "valid":
        scale /= prod(dims[2:])
    if normalization == "valid":
        dx = dx / ops.maximum(ops.sum(counted), 1.0) if use_ignore else dx / label.type.size
    elif normalization == "batch":
        scale /= dims[0]
    dx = dx if scale == 1 else dx * scale
    return _own(ops.reshape(p, dims), ops.reshape(dx, dims), data)


def _regression(name: str, link: Callable[[Any], Any], slope: Callable[[Any], Any]) -> None:
    def output(data: Any, label: Any, *, grad_scale: float = 1.0) -> Any:
        y, dims = link(data), data.type.dims
        each = max(label.type.size // max(label.type.dims[0], 1), 1)
        dx = slope(y - ops.reshape(label, dims)) * (grad_scale / each)
        return _own(y, dx, data)

    def label_shape(dims: Dims, p: Any) -> dict[str, Dims]:
        return {"label": dims[:1] if dims[1:] == (1,) else dims}

    op(name, shapes=label_shape)(output)


_regression("LinearRegressionOutput", ops.identity, ops.identity)
_regression("LogisticRegressionOutput", ops.sigmoid, ops.identity)
_regression("MAERegressionOutput", ops.identity, ops.sign)


@op("SVMOutput", shapes=lambda dims, p: {"label": dims[:1]})
def svm_output(
    data: Any, label: Any, *, margin: float = 1.0, regularization_coefficient: float = 1.0,
    use_linear: bool = False,
) -> Any:  # fmt: skip
    """Data; its gradient is that of the hinge loss, squared unless `use_linear`, of each class."""
    sign = ops.one_hot(ops.cast(label, "i32"), data.type.dims[1]) * 2 - 1
    short = ops.relu(margin - sign * data)
    slope = ops.cast(ops.greater(short, 0), data.type.dtype) if use_linear else short * 2
    return _own(data, sign * slope * -regularization_coefficient, data)


@op("MakeLoss", "make_loss")
def make_loss(
    data: Any, *, grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: str = "null"
) -> Any:
    """Data; its gradient is grad_scale, divided by the batch or by the count above valid_thresh."""
    dx = ops.fill_like(data, grad_scale / (data.type.dims[0] if normalization == "batch" else 1))
    if normalization == "valid":
        valid = ops.cast(ops.greater(data, valid_thresh), data.type.dtype)
        dx = dx / ops.maximum(ops.sum(valid), 1.0)
    return _own(data, dx, data)


@op("softmax_cross_entropy")
def softmax_cross_entropy(data: Any, label: Any) -> Any:
    """The sum of the cross entropies of rows, [1]."""
    hot = ops.one_hot(ops.cast(label, "i32"), data.type.dims[1], data.type.dtype)
    return ops.reshape(-ops.sum(ops.log_softmax(data, -1) * hot), (1,))
