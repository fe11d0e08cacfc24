"""What networks are made of: biases, dropout, normalization, norms, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number, numbers, renamed
from byparts_frontend_tf.api.arithmetic import add_v2, maximum
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.families import FLOATS, NUMBERS, check_dtype, mismatch
from byparts_frontend_tf.api.passing import identity
from byparts_frontend_tf.api.products import matmul
from byparts_frontend_tf.api.random import UNIFORM
from byparts_frontend_tf.api.reductions import reduce_mean, reduce_sum
from byparts_frontend_tf.api.shaping import reshape, shape as shape_of, squeeze
from byparts_frontend_tf.api.unary import relu, rsqrt, square
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.dtypes import bool_, float32, int32
from byparts_frontend_tf.graph.infer import like_first, scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.shape import Dims, merged, shown
from byparts_frontend_tf.graph.static import static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _bias(x: Value, bias: Value, data_format: str) -> Value:
    if data_format.startswith("NC") and len(x.type.dims) > 2:
        bias = ops.reshape(bias, [bias.type.dims[0], *[1] * (len(x.type.dims) - 2)])
    return x + bias


def _biased(inputs: Sequence[Tensor], *, data_format: str) -> Dims:
    x, bias = inputs[0].dims, inputs[1].dims
    if x is not None and bias is not None:
        axis = 1 if data_format.startswith("NC") else -1
        if len(x) < 2 or len(bias) != 1:
            raise ValueError(f"Shapes {shown(x)} and {shown(bias)} do not fit for 'BiasAdd'")
        if None not in (x[axis], bias[0]) and x[axis] != bias[0]:
            raise ValueError(
                f"Dimensions must be equal, but are {x[axis]} and {bias[0]} for 'BiasAdd'"
            )
    return x


BIAS_ADD = Kind("BiasAdd", _bias, shape=_biased)


@symbol("nn.bias_add")
def bias_add(
    value: TensorLike,
    bias: TensorLike,
    data_format: Optional[str] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Add a number to each channel."""
    x = convert_to_tensor(value, name="input")
    b = convert_to_tensor(bias, x.dtype.base_dtype if not hasattr(bias, "dtype") else None, "bias")
    if x.dtype.base_dtype is not b.dtype.base_dtype:
        raise mismatch("BiasAdd", x.dtype, b.dtype)
    return BIAS_ADD(x, b, name=name or "BiasAdd", data_format=data_format or "NHWC")


L2_LOSS = Kind("L2Loss", lambda x: ops.sum(ops.square(x)) * 0.5, shape=scalar)


@symbol("nn.l2_loss")
def l2_loss(t: TensorLike, name: Optional[str] = None) -> Tensor:
    """Half the sum of the squares."""
    return L2_LOSS(check_dtype(convert_to_tensor(t), FLOATS, "t"), name=name)


@symbol("nn.xw_plus_b")
def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Compute x @ weights + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(matmul(x, weights), biases, name=scope)


@symbol("nn.relu_layer")
def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Compute relu(x @ weights + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return relu(bias_add(matmul(x, weights), biases), name=scope)


LEAKY = Kind("LeakyRelu", lambda x, alpha: ops.leaky_relu(x, alpha), shape=like_first)


@symbol("nn.leaky_relu")
def leaky_relu(features: TensorLike, alpha: Any = 0.2, name: Optional[str] = None) -> Tensor:
    """The element above 0, else alpha times it."""
    x = convert_to_tensor(features, name="features")
    x = cast(x, float32) if x.dtype.is_integer else x
    if isinstance(alpha, (int, float)):
        return LEAKY(x, name=name or "LeakyRelu", alpha=float(alpha))
    return maximum(alpha * x, x, name=name or "LeakyRelu")


@symbol("nn.swish")
def swish(features: TensorLike, name: Optional[str] = None) -> Tensor:
    """Compute x * sigmoid(x)."""
    return _SWISH(convert_to_tensor(features, name="features"), name=name or "swish")


_SWISH = Kind("Swish", ops.silu, shape=like_first)


@symbol("nn.crelu")
def crelu(features: TensorLike, name: Optional[str] = None, axis: int = -1) -> Tensor:
    """The positive parts of x and of -x, side by side."""
    from byparts_frontend_tf.api.stacking import concat

    x = convert_to_tensor(features, name="features")
    return relu(concat([x, -x], axis), name=name)


def _dropped(x: Value, u: Value, keep: Value) -> Value:
    return ops.select(ops.less(u, keep), x / keep, ops.fill(0, x.type.dtype))


_DROPOUT = Kind("Dropout", _dropped, shape=like_first)


@symbol("nn.dropout")
def dropout(
    x: TensorLike,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    rate: Any = None,
) -> Tensor:
    """The elements, each kept with a probability and then divided by it, else 0.

    Args:
        x: floating point.
        keep_prob: how likely one is kept.
        rate: or how likely it is not.
        noise_shape: repeated to the shape of x: what stands in one place there has one fate.
        seed: of the draw.
        name: of the scope.

    Raises:
        ValueError: neither probability is given, or one outside [0, 1]; x is no float.
    """
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    if rate is not None and keep_prob is not None:
        raise ValueError("Pass in only one of keep_prob and rate.")
    kept: Any = 1 - rate if keep_prob is None else keep_prob
    with name_scope(name, "dropout", [x]) as scope:
        t = convert_to_tensor(x, name="x")
        if not t.dtype.base_dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{t.dtype.name} tensor instead."
            )
        if isinstance(kept, (int, float)):
            if not 0 <= kept <= 1:
                raise ValueError(f"keep_prob must be in [0, 1], and is {kept}")
            if kept == 1:
                return t
        keep = convert_to_tensor(kept, t.dtype.base_dtype if not hasattr(kept, "dtype") else None)
        size = shape_of(t) if noise_shape is None else _noise_shape(t, noise_shape)
        u = UNIFORM.seeded(size, name=None, seed=seed, dtype=t.dtype.base_dtype, low=0.0, high=1.0)
        return _DROPOUT(t, u, cast(keep, t.dtype), name=scope)


def _noise_shape(x: Tensor, given: Any) -> Tensor:
    if isinstance(given, (list, tuple)) and None in given:
        size = shape_of(x)
        given = [size[i] if d is None else d for i, d in enumerate(given)]
    return shape_tensor(given)


@symbol("nn.moments")
def moments(
    x: TensorLike,
    axes: Any,
    shift: Any = None,
    name: Optional[str] = None,
    keep_dims: Optional[bool] = None,
    keepdims: Optional[bool] = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over axes."""
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "moments", [x]):
        y = convert_to_tensor(x)
        over = list(numbers(axes, "moments: the axes"))
        mean = reduce_mean(y, over, True, name="mean")
        from byparts_frontend_tf.api.arithmetic import squared_difference
        from byparts_frontend_tf.api.passing import stop_gradient

        spread = squared_difference(y, stop_gradient(mean))
        variance = reduce_mean(spread, over, True, name="variance")
        if kept:
            return mean, variance
        return squeeze(mean, over), squeeze(variance, over)


@symbol("nn.batch_normalization")
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: Optional[str] = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""
    with name_scope(name, "batchnorm", [x, mean, variance]) as scope:
        t = convert_to_tensor(x)
        inverse = rsqrt(convert_to_tensor(variance) + variance_epsilon)
        if scale is not None:
            inverse = inverse * convert_to_tensor(scale)
        center = convert_to_tensor(mean)
        shift = (
            -center * inverse if offset is None else convert_to_tensor(offset) - center * inverse
        )
        made: Tensor = add_v2(t * cast(inverse, t.dtype), cast(shift, t.dtype), name=scope)
        return made


@symbol("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: Optional[str] = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """As `batch_normalization`, without the scale unless it is asked for."""
    x, center = renamed(t, input, "t", "input"), renamed(m, mean, "m", "mean")
    spread = renamed(v, variance, "v", "variance")
    scale = gamma if scale_after_normalization else None
    return batch_normalization(x, center, spread, beta, scale, variance_epsilon, name)


def _fused(x: Value, scale: Value, offset: Value, epsilon: float, axis: int) -> tuple[Value, ...]:
    y, mean, variance = ops.batch_norm(x, scale, offset, axis=axis, epsilon=epsilon)
    count = x.type.size // mean.type.size
    unbiased = variance * (count / max(count - 1, 1))
    return y, mean, unbiased


def _fused_shapes(inputs: Sequence[Tensor], *, axis: int, epsilon: float) -> list[Dims]:
    x, channels = inputs[0].dims, merged(merged(inputs[1].dims, inputs[2].dims), (None,))
    if x is not None:
        channels = merged(channels, (x[axis],))
    return [(None,) * 4 if x is None else x, channels, channels]


FUSED = Kind(
    "FusedBatchNorm",
    _fused,
    shape=_fused_shapes,
    dtype=lambda inputs, **_: [inputs[0].dtype.base_dtype] * 3,
)


@symbol("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: Optional[str] = None,
) -> tuple[Tensor, ...]:
    """Normalized images, and the mean and (unbiased) variance of the batch, or those given."""
    t = convert_to_tensor(x, name="input")
    gamma, beta = convert_to_tensor(scale, float32), convert_to_tensor(offset, float32)
    axis = 1 if data_format == "NCHW" else 3
    if is_training:
        return FUSED.outputs(t, gamma, beta, name=name, epsilon=max(epsilon, 1.001e-5), axis=axis)
    center, spread = convert_to_tensor(mean), convert_to_tensor(variance)
    beside = [1, -1, 1, 1] if data_format == "NCHW" else [-1]
    m, v, b, g = [reshape(part, beside) for part in (center, spread, beta, gamma)]
    y = batch_normalization(t, m, v, b, g, epsilon, name or "FusedBatchNorm")
    return y, identity(center), identity(spread)


@symbol("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
def l2_normalize(
    x: TensorLike,
    axis: Any = None,
    epsilon: float = 1e-12,
    name: Optional[str] = None,
    dim: Any = None,
) -> Tensor:
    """The tensor by its Euclidean norm along axes."""
    axis = renamed(axis, dim, "axis", "dim")
    with name_scope(name, "l2_normalize", [x]) as scope:
        from byparts_frontend_tf.api.arithmetic import multiply

        t = convert_to_tensor(x, name="x")
        total = reduce_sum(square(t), axis, True)
        return multiply(t, rsqrt(maximum(total, epsilon)), name=scope)


def _lrn(x: Value, radius: int, bias: float, alpha: float, beta: float) -> Value:
    depth = x.type.dims[-1]
    near = np.abs(np.subtract.outer(np.arange(depth), np.arange(depth))) <= radius
    band = ops.constant(near.astype(np.float32), x.type.dtype)
    total = ops.matmul(ops.square(x), band)
    return x / ops.pow(total * alpha + bias, ops.fill(beta, x.type.dtype))


LRN = Kind("LRN", _lrn, shape=like_first)


@symbol("nn.lrn", "nn.local_response_normalization")
def lrn(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: Optional[str] = None,
) -> Tensor:
    """Each element by a power of the squares of its neighbours in depth."""
    x = convert_to_tensor(input)
    return LRN(
        x,
        name=name,
        radius=int(depth_radius),
        bias=float(bias),
        alpha=float(alpha),
        beta=float(beta),
    )


@symbol("nn.zero_fraction", "math.zero_fraction")
def zero_fraction(value: TensorLike, name: Optional[str] = None) -> Tensor:
    """Which part of the elements is 0."""
    from byparts_frontend_tf.api.arithmetic import equal

    with name_scope(name, "zero_fraction", [value]) as scope:
        x = convert_to_tensor(value)
        zero = convert_to_tensor(np.zeros((), x.dtype.as_numpy_dtype))
        return reduce_mean(cast(equal(x, zero), float32), name=scope)


def _top(x: Value, k: Any) -> tuple[Value, Value]:
    if int(k) > x.type.dims[-1]:
        raise ValueError(f"input must have at least k columns: {x.type.dims[-1]} and {int(k)}")
    values, indices = ops.top_k(x, int(k))
    return values, ops.cast(indices, "i32")


def _top_shapes(inputs: Sequence[Tensor]) -> list[Dims]:
    dims, k = inputs[0].dims, static_number(inputs[1])
    if dims is None:
        return [None, None]
    if not dims or (k is not None and dims[-1] is not None and k > dims[-1]):
        raise ValueError(f"input must have last dimension >= k = {k} but is {dims[-1:]}")
    return [(*dims[:-1], k)] * 2


TOP_K = Kind(
    "TopKV2",
    _top,
    values=(1,),
    shape=_top_shapes,
    dtype=lambda inputs: [inputs[0].dtype.base_dtype, int32],
)


class TopKV2(tuple[Tensor, Tensor]):
    """What `top_k` gives: `values` and `indices`."""

    __slots__ = ()
    _fields = ("values", "indices")

    @classmethod
    def _make(cls, items: Any) -> TopKV2:
        return cls(tuple(items))

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


@symbol("nn.top_k", "math.top_k")
def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, name: Optional[str] = None
) -> TopKV2:
    """The k greatest along the last axis, and where they are."""
    x = check_dtype(convert_to_tensor(input), NUMBERS, "input")
    made = TOP_K.outputs(x, convert_to_tensor(k, int32, "k"), name=name)
    return TopKV2(made)


def _in_top(predictions: Value, targets: Value, k: int) -> Value:
    batch, classes = predictions.type.dims
    flat = ops.reshape(predictions, [batch * classes])
    starts = ops.constant(np.arange(batch) * classes, targets.type.dtype)
    target = ops.expand_dims(ops.gather(flat, targets + starts), 1)
    above = ops.sum(ops.cast(ops.greater(predictions, target), "i32"), 1)
    finite = ops.all(ops.is_finite(target), 1)
    return ops.logical_and(ops.less(above, k), finite)


IN_TOP_K = Kind(
    "InTopKV2",
    _in_top,
    shape=lambda inputs, k: merged(inputs[1].dims, (None,)),
    dtype=bool_,
    gradient=False,
)


@symbol("nn.in_top_k", "math.in_top_k")
def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: Any, name: Optional[str] = None
) -> Tensor:
    """Whether each target is among the k greatest of its row."""
    x = convert_to_tensor(predictions, float32, "predictions")
    return IN_TOP_K(x, convert_to_tensor(targets), name=name or "in_top_k", k=number(k, "k"))
