"""The layers of `tf.nn.*`.  A layer that is not given its parameters makes variables for them.

Their shapes may be partly unknown until `infer_variable_shapes` has seen the data: the weight of
`linear(x, num_hidden=10)` is [10, ?].  They are called `<name>_weight`, `<name>_bias` and carry
nothing else of the layer (TinyFlow copied all its attributes on them: fact T12).  Layouts are NCHW
and OIHW; `padding="SAME"` means (k - 1) // 2 zeros on both sides, which is not TensorFlow's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.nn.conv import Pair, padding_of, spatial
from byparts_frontend_tf.api.nn.pool import MAX_POOL
from byparts_frontend_tf.api.nn.window_shapes import pool_shape
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first, scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_graph_ir import GraphError, ShapeError, Value
from byparts_tf_files.errors import raises_graph_errors
from byparts_tinyflow import functions
from byparts_tinyflow.state import automatic, made_by_layer

exp, log, sqrt, tanh = functions.exp, functions.log, functions.sqrt, functions.tanh
relu, softmax, matmul, pad = functions.relu, functions.softmax, functions.matmul, functions.pad
Sizes = Sequence[int]


@raises_graph_errors
def linear(
    data: TensorLike,
    weight: Any = None,
    bias: Any = None,
    *,
    num_hidden: int = 0,
    no_bias: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """X w^T + b.  data: [batch, k], weight: [num_hidden, k], bias: [num_hidden].

    Raises:
        GraphError: neither a weight nor `num_hidden` is given.
    """
    name = automatic("linear") if name is None else name
    weight, *biases = _parameters(name, weight, bias, ("num_hidden", num_hidden), (), no_bias)
    y: Tensor = matmul(data, weight, transpose_b=True, name=name)
    return y + biases[0] if biases else y


def _convolution(x: Value, w: Value, *bias: Value, strides: Pair, padding: Any) -> Value:
    y = ops.conv2d(x, w, strides=strides, padding=padding)
    return y + ops.expand_dims(bias[0], (1, 2)) if bias else y


_CONV2D = Kind("ConvolutionOIHW", _convolution)


@raises_graph_errors
def conv2d(
    data: TensorLike,
    weight: Any = None,
    strides: Sizes = (1, 1, 1, 1),
    padding: str = "VALID",
    data_format: str = "NCHW",
    *,
    bias: Any = None,
    num_filter: int = 0,
    ksize: Sizes = (1, 1, 1, 1),
    no_bias: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """Cross-correlation.  data: [n, c, h, w], weight: [num_filter, c, kh, kw], bias: [num_filter].

    Raises:
        GraphError: neither a weight nor `num_filter` is given, or another layout than NCHW.
        ShapeError: `ksize` or `strides` are not of the form (1, h, w, 1).
    """
    name = automatic("conv2d") if name is None else name
    kernel, count = spatial(ksize, "NHWC", "ksize"), ("num_filter", num_filter)
    weight, *biases = _parameters(name, weight, bias, count, kernel, no_bias)
    if weight.dims is None or len(weight.dims) != 4 or None in weight.dims[2:]:
        raise ShapeError(f"conv2d: weight is {weight!r}; give [num_filter, c, kh, kw]")
    windows = _windows(weight.dims[2:], strides, padding, data_format)
    return _CONV2D(convert_to_tensor(data), weight, *biases, name=name, **windows)


def _pooling(function: str, kind: Kind, doc: str) -> Callable[..., Tensor]:
    @raises_graph_errors
    def pool(
        data: TensorLike,
        strides: Sizes = (1, 1, 1, 1),
        padding: str = "VALID",
        data_format: str = "NCHW",
        *,
        ksize: Sizes = (1, 1, 1, 1),
        name: Optional[str] = None,
    ) -> Tensor:
        kernel = spatial(ksize, "NHWC", "ksize")
        windows = _windows(kernel, strides, padding, data_format)
        return kind(convert_to_tensor(data), name=name, ksize=kernel, layout="NCHW", **windows)

    pool.__name__, pool.__doc__ = function, doc
    return pool


def _average(x: Value, ksize: Pair, strides: Pair, padding: Any, layout: str) -> Value:
    return ops.average_pool(x, ksize, strides, padding, layout, count_include_pad=True)


max_pool = _pooling("max_pool", MAX_POOL, "The largest of each window, and never of the padding.")
avg_pool = _pooling(
    "avg_pool",
    Kind("AveragePoolCountingZeros", _average, shape=pool_shape),
    "The mean of each window, counting the zeros padded on.",
)
_NORMALIZED = Kind(
    "BatchNormalizationOfChannels",
    lambda x, gamma, beta: ops.batch_norm(x, gamma, beta, axis=1, epsilon=1e-5)[0],
    shape=like_first,
)


@raises_graph_errors
def batch_normalization(
    data: TensorLike, gamma: Any = None, beta: Any = None, *, name: Optional[str] = None
) -> Tensor:
    """Each channel of data: [n, c, h, w] made mean 0 and variance 1, times gamma, plus beta.

    Always with the statistics of the batch, as there; TensorFlow's `tf.layers.batch_normalization`
    has the other mode.
    """
    name = automatic("batch_normalization") if name is None else name
    gamma = made_by_layer(f"{name}_gamma", None) if gamma is None else gamma
    beta = made_by_layer(f"{name}_beta", None) if beta is None else beta
    return _NORMALIZED(*[convert_to_tensor(t) for t in (data, gamma, beta)], name=name)


_FLATTEN = Kind("FlattenLayer", ops.flatten)
_LOSS = Kind(
    "MeanSparseSoftmaxCrossEntropy",
    lambda x, label: ops.mean(ops.sparse_softmax_cross_entropy(x, ops.cast(label, "i64"))),
    shape=scalar,
)


@raises_graph_errors
def flatten_layer(data: TensorLike, name: Optional[str] = None) -> Tensor:
    """data: [n, ...] -> [n, everything else]."""
    return _FLATTEN(convert_to_tensor(data), name=name)


@raises_graph_errors
def mean_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, label: TensorLike, name: Optional[str] = None
) -> Tensor:
    """-log softmax(logits)[label], the mean over the batch.  logits: [n, classes], label: [n]."""
    return _LOSS(convert_to_tensor(logits), convert_to_tensor(label), name=name)


def _parameters(
    name: str, weight: Any, bias: Any, count: tuple[str, int], kernel: Sizes, without: bool
) -> list[Tensor]:
    """The weight and, if there is to be one, the bias: those given, or new variables."""
    if weight is None:
        field, rows = count
        if rows < 1:
            raise GraphError(f"{name}: {field} is {rows}; give a weight, or {field}= above zero")
        weight = made_by_layer(f"{name}_weight", rows, None, *kernel)
    made = [convert_to_tensor(weight)]
    if bias is None and not without:
        bias = made_by_layer(f"{name}_bias", made[0].dims[0] if made[0].dims else None)
    return made if bias is None else [*made, convert_to_tensor(bias)]


def _windows(kernel: Sequence[Any], strides: Sizes, padding: str, layout: str) -> dict[str, Any]:
    """The steps of windows, and the zeros around images."""
    if layout != "NCHW":
        raise ValueError(f"data_format is {layout!r}; this dialect has only 'NCHW'")
    around = padding_of(padding, layout)
    if isinstance(around, str):
        both = [(k - 1) // 2 if around == "SAME" else 0 for k in kernel]
        around = tuple(zip(both, both, strict=True))
    return {"strides": spatial(strides, "NHWC", "strides"), "padding": around}
