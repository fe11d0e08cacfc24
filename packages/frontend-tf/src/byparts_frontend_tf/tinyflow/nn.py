"""The layers of `tf.nn.*`.  A layer that is not given its parameters makes variables for them.

Their shapes may be partly unknown until `infer_variable_shapes` has seen the data: the weight of
`linear(x, num_hidden=10)` is [10, ?].  They are called `<name>_weight`, `<name>_bias` and carry
nothing else of the layer (TinyFlow copied all its attributes on them: fact T12).  Layouts are NCHW
and OIHW; `padding="SAME"` means (k - 1) // 2 zeros on both sides, which is not TensorFlow's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import byparts_opset as ops
from byparts_frontend_tf.tinyflow.names import automatic
from byparts_frontend_tf.tinyflow.ops import exp, log, matmul, pad, relu, softmax, sqrt, tanh
from byparts_frontend_tf.tinyflow.state import float32, made_by_op
from byparts_graph_ir import GraphError, ShapeError, TensorType, Value
from byparts_graph_ir.contract import checked

__all__ = [
    "avg_pool",
    "batch_normalization",
    "conv2d",
    "exp",
    "flatten_layer",
    "linear",
    "log",
    "matmul",
    "max_pool",
    "mean_sparse_softmax_cross_entropy_with_logits",
    "pad",
    "relu",
    "softmax",
    "sqrt",
    "tanh",
]

Sizes = Sequence[int]
Pads = tuple[tuple[int, int], tuple[int, int]]


@checked
def linear(
    data: Value,
    weight: Optional[Value] = None,
    bias: Optional[Value] = None,
    *,
    num_hidden: int = 0,
    no_bias: bool = True,
    name: Optional[str] = None,
) -> Value:
    """X w^T + b.  data: [batch, k], weight: [num_hidden, k], bias: [num_hidden].

    Raises:
        GraphError: neither a weight nor `num_hidden` is given.
    """
    name = automatic("linear") if name is None else name
    if weight is None:
        weight = _parameter(f"{name}_weight", _positive("linear", "num_hidden", num_hidden), None)
    y = ops.matmul(data, weight, transpose_b=True)
    if bias is None and not no_bias:
        bias = _parameter(f"{name}_bias", num_hidden)
    return y if bias is None else y + bias


@checked
def conv2d(
    data: Value,
    weight: Optional[Value] = None,
    strides: Sizes = (1, 1, 1, 1),
    padding: str = "VALID",
    data_format: str = "NCHW",
    *,
    bias: Optional[Value] = None,
    num_filter: int = 0,
    ksize: Sizes = (1, 1, 1, 1),
    no_bias: bool = True,
    name: Optional[str] = None,
) -> Value:
    """Cross-correlation.  data: [n, c, h, w], weight: [num_filter, c, kh, kw], bias: [num_filter].

    Raises:
        GraphError: neither a weight nor `num_filter` is given, or another layout than NCHW.
        ShapeError: `ksize` or `strides` are not of the form (1, h, w, 1).
    """
    name = automatic("conv2d") if name is None else name
    _check_layout("conv2d", data_format)
    if weight is None:
        kernel = _middle("conv2d", "ksize", ksize)
        weight = _parameter(
            f"{name}_weight", _positive("conv2d", "num_filter", num_filter), None, *kernel
        )
    elif weight.type.rank != 4:
        raise ShapeError(f"conv2d: weight is {weight.type}; give [num_filter, c, kh, kw]")
    else:
        kernel = (weight.type.dims[2], weight.type.dims[3])
    around = _padding("conv2d", padding, kernel)
    y = ops.conv2d(data, weight, strides=_middle("conv2d", "strides", strides), padding=around)
    if bias is None and not no_bias:
        bias = _parameter(f"{name}_bias", weight.type.dims[0] if num_filter == 0 else num_filter)
    return y if bias is None else y + ops.expand_dims(bias, (1, 2))


@checked
def max_pool(
    data: Value,
    strides: Sizes = (1, 1, 1, 1),
    padding: str = "VALID",
    data_format: str = "NCHW",
    *,
    ksize: Sizes = (1, 1, 1, 1),
    name: Optional[str] = None,
) -> Value:
    """The largest of each window; what is padded on is never the largest."""
    _check_layout("max_pool", data_format)
    kernel = _middle("max_pool", "ksize", ksize)
    around = _padding("max_pool", padding, kernel)
    return ops.max_pool(data, kernel, _middle("max_pool", "strides", strides), around)


@checked
def avg_pool(
    data: Value,
    strides: Sizes = (1, 1, 1, 1),
    padding: str = "VALID",
    data_format: str = "NCHW",
    *,
    ksize: Sizes = (1, 1, 1, 1),
    name: Optional[str] = None,
) -> Value:
    """The mean of each window, counting the zeros padded on."""
    _check_layout("avg_pool", data_format)
    kernel = _middle("avg_pool", "ksize", ksize)
    around = _padding("avg_pool", padding, kernel)
    strides = _middle("avg_pool", "strides", strides)
    return ops.average_pool(data, kernel, strides, around, count_include_pad=True)


def batch_normalization(
    data: Value,
    gamma: Optional[Value] = None,
    beta: Optional[Value] = None,
    *,
    name: Optional[str] = None,
) -> Value:
    """Each channel of data: [n, c, h, w] made mean 0 and variance 1, times gamma, plus beta.

    Always with the statistics of the batch, as there; `byparts_opset.batch_norm_inference` and
    `moving_average` are the other mode.
    """
    name = automatic("batch_normalization") if name is None else name
    gamma = _parameter(f"{name}_gamma", None) if gamma is None else gamma
    beta = _parameter(f"{name}_beta", None) if beta is None else beta
    return ops.batch_norm(data, gamma, beta, axis=1, epsilon=1e-5)[0]


def flatten_layer(data: Value, name: Optional[str] = None) -> Value:
    """data: [n, ...] -> [n, everything else]."""
    return ops.flatten(data)


@checked
def mean_sparse_softmax_cross_entropy_with_logits(
    logits: Value, label: Value, name: Optional[str] = None
) -> Value:
    """-log softmax(logits)[label], the mean over the batch.  logits: [n, classes], label: [n]."""
    label = label if label.type.dtype == "i64" else ops.cast(label, "i64")
    return ops.mean(ops.sparse_softmax_cross_entropy(logits, label))


def _parameter(name: str, *shape: Optional[int]) -> Value:
    return made_by_op(TensorType(float32, shape), name)


def _positive(layer: str, field: str, value: int) -> int:
    if value < 1:
        raise GraphError(f"{layer}: {field} is {value}; give a weight, or {field}=... above zero")
    return value


def _middle(layer: str, field: str, sizes: Sizes) -> tuple[int, int]:
    if len(sizes) != 4 or sizes[0] != 1 or sizes[3] != 1:
        raise ShapeError(f"{layer}: {field} is {list(sizes)}, and must be [1, height, width, 1]")
    return (int(sizes[1]), int(sizes[2]))


def _padding(layer: str, padding: str, kernel: Sequence[int]) -> Pads:
    if padding not in ("SAME", "VALID"):
        raise GraphError(f"{layer}: padding is {padding!r}, and must be 'SAME' or 'VALID'")
    h, w = ((k - 1) // 2 if padding == "SAME" else 0 for k in kernel)
    return ((h, h), (w, w))


def _check_layout(layer: str, layout: str) -> None:
    if layout != "NCHW":
        raise GraphError(f"{layer}: data_format is {layout!r}; this dialect has only 'NCHW'")
