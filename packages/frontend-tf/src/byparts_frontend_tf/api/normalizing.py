"""Moments, normalizations and dropout."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.arithmetic import add, maximum, multiply, subtract
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.distributions.random import random_uniform
from byparts_frontend_tf.api.passing import stop_gradient
from byparts_frontend_tf.api.reductions import reduce_mean, reduce_sum
from byparts_frontend_tf.api.shaping import reshape, shape as shape_of, squeeze
from byparts_frontend_tf.api.unary import floor, rsqrt, square
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


@symbol("nn.moments")
def moments(
    x: TensorLike,
    axes: Any,
    shift: Any = None,
    name: Optional[str] = None,
    keep_dims: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance along axes; computed in float32 for halves."""
    kept = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "moments"):
        given = convert_to_tensor(x, name="x")
        dtype = given.dtype.base_dtype
        y = cast(given, "float32") if dtype.name in ("float16", "bfloat16") else given
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        distance = square(subtract(y, stop_gradient(mean)))
        variance = reduce_mean(distance, axes, keepdims=True, name="variance")
        if not kept:
            listed = [axes] if isinstance(axes, int) else list(axes)
            mean, variance = squeeze(mean, listed), squeeze(variance, listed)
        if y is not given:
            mean, variance = cast(mean, dtype), cast(variance, dtype)
        return mean, variance


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
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset."""
    with name_scope(name, "batchnorm"):
        return normalized_by(x, mean, variance, offset, scale, variance_epsilon, "add_1")


def normalized_by(
    x: TensorLike, mean: Any, variance: Any, offset: Any, scale: Any, epsilon: Any, name: str
) -> Tensor:
    """As `batch_normalization`; the last operation has this name."""
    given = convert_to_tensor(x)
    inverse = rsqrt(add(convert_to_tensor(variance), epsilon, name="add"))
    if scale is not None:
        inverse = multiply(inverse, scale, name="mul")
    shift = multiply(-convert_to_tensor(mean), inverse, name="mul")
    if offset is not None:
        shift = add(shift, offset, name="sub")
    dtype = given.dtype.base_dtype
    made: Tensor = multiply(given, cast(inverse, dtype), name="mul")
    return add(made, cast(shift, dtype), name=name)


@symbol("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: Optional[str] = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(images normalized, their mean, their variance): of the batch, or those given.

    The variance that is returned for training is that of a sample: n / (n - 1) times that of the
    batch, by which images are divided.

    Raises:
        ValueError: not training, and mean or variance is not given.
    """
    outside = get_default_graph().get_name_scope()
    outside = f"{outside}/" if outside else ""
    with name_scope(name, "FusedBatchNorm"):
        given = convert_to_tensor(x, name="input")
        axes = [0, 1, 2] if data_format == "NHWC" else [0, 2, 3]
        kind = convert_to_tensor(scale).dtype.base_dtype  # float32, also for images of halves
        if is_training:
            if mean is not None or variance is not None:
                raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
            found, spread = moments(cast(given, kind), axes)
        else:
            if mean is None or variance is None:
                raise ValueError("Both 'mean' and 'variance' must be given where is_training=False")
            found, spread = convert_to_tensor(mean), convert_to_tensor(variance)

        def placed(t: Any) -> Any:
            return t if data_format == "NHWC" else reshape(t, [1, -1, 1, 1])

        parts = placed(found), placed(spread), placed(offset), placed(scale)
        y = normalized_by(given, *parts, epsilon, name or f"{outside}FusedBatchNormV3")
        if is_training:
            count = cast(reduce_sum(shape_of(given)[0:1]), spread.dtype.base_dtype)
            for axis in axes[1:]:
                count = count * cast(shape_of(given)[axis], spread.dtype.base_dtype)
            spread = spread * (count / maximum(count - 1.0, 1.0))
        y.set_shape((None,) * 4)
        channels = convert_to_tensor(scale).dims
        if channels is not None and data_format == "NHWC":
            y.set_shape((None, None, None, channels[0]))
        if is_training:  # TensorFlow's kernel passes gradients through the images alone
            found, spread = stop_gradient(found), stop_gradient(spread)
        for statistic in (found, spread):
            statistic.set_shape((None,))
        return y, found, spread


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
    """As `batch_normalization`, with gamma only where `scale_after_normalization`."""
    return batch_normalization(
        t if input is None else input,
        m if mean is None else mean,
        v if variance is None else variance,
        beta,
        gamma if scale_after_normalization else None,
        variance_epsilon,
        name,
    )


def _lrn(x: Value, radius: int, bias: float, alpha: float, beta: float) -> Value:
    """Krizhevsky et al. 2012, section 3.3: each channel over the ones around it."""
    channels = x.type.dims[-1]
    around = [(0, 0)] * (len(x.type.dims) - 1) + [(radius, radius)]
    squares = ops.pad(x * x, around)
    parts = [
        squares[tuple([slice(None)] * (len(x.type.dims) - 1) + [slice(i, i + channels)])]
        for i in range(2 * radius + 1)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    scale = total * alpha + bias
    return x / (ops.sqrt(scale) if beta == 0.5 else ops.pow(scale, 0.0 * scale + beta))


_LRN = Kind("LRN", _lrn, shape=lambda inputs, **_: inputs[0].dims or (None,) * 4)


@symbol("nn.local_response_normalization", "nn.lrn")
def local_response_normalization(
    input: TensorLike,
    depth_radius: Optional[int] = 5,
    bias: Optional[float] = 1,
    alpha: Optional[float] = 1,
    beta: Optional[float] = 0.5,
    name: Optional[str] = None,
) -> Tensor:
    """input / (bias + alpha * sum of squares of the channels around) ^ beta; of images NHWC.

    `None` is the default of each number.
    """
    return _LRN(
        convert_to_tensor(input),
        name=name,
        radius=5 if depth_radius is None else int(depth_radius),
        bias=1.0 if bias is None else float(bias),
        alpha=1.0 if alpha is None else float(alpha),
        beta=0.5 if beta is None else float(beta),
    )


@symbol("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
def l2_normalize(
    x: TensorLike,
    axis: Any = None,
    epsilon: float = 1e-12,
    name: Optional[str] = None,
    dim: Any = None,
) -> Tensor:
    """x / sqrt(the greater of epsilon and the sum of squares along the axis)."""
    with name_scope(name, "l2_normalize") as scope:
        given = convert_to_tensor(x, name="x")
        total = reduce_sum(square(given), dim if axis is None else axis, keepdims=True)
        made: Tensor = multiply(given, rsqrt(maximum(total, epsilon)), name=scope)
        return made


@symbol("nn.dropout")
def dropout(
    x: TensorLike,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    rate: Any = None,
) -> Tensor:
    """x with elements set to 0 at random, each with probability `rate`; the others grow.

    Raises:
        ValueError: both or none of keep_prob and rate; the rate is outside of [0, 1); x is not of
            floats.
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Only one of keep_prob and rate may be given: rate = 1 - keep_prob")
    with name_scope(name, "dropout"):
        given = convert_to_tensor(x, name="x")
        dtype = given.dtype.base_dtype
        if not dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{dtype.name} tensor instead."
            )
        given_rate = _rate(keep_prob, rate)
        known = given_rate if isinstance(given_rate, float) else static_value(given_rate)
        if known is not None and float(known) == 0.0:
            return given
        dropped = cast(convert_to_tensor(given_rate, name="rate"), dtype)
        size = shape_of(given) if noise_shape is None else _noise(given, noise_shape)
        chosen = random_uniform(size, dtype=dtype, seed=seed)
        made: Tensor = given * (1.0 / (1.0 - dropped)) * cast(chosen >= dropped, dtype)
        if given.dims is not None:
            made.set_shape(given.dims)
        return made


_LEAST_OF_SELU = -1.7580993408473766  # what SELU gives for very negative numbers


@symbol("contrib.nn.alpha_dropout")
def alpha_dropout(
    x: TensorLike,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """x with elements set to the least of SELU at random; mean and variance stay (0, 1)."""
    with name_scope(name, "alpha_dropout"):
        given = convert_to_tensor(x, name="x")
        keep = convert_to_tensor(keep_prob, given.dtype.base_dtype)
        size = shape_of(given) if noise_shape is None else _noise(given, noise_shape)
        kept = floor(keep + random_uniform(size, dtype=given.dtype.base_dtype, seed=seed))
        low = _LEAST_OF_SELU
        scale = rsqrt(keep + low**2 * keep * (1 - keep))
        made: Tensor = scale * (given * kept + low * (1 - kept)) - scale * low * (1 - keep)
        return made


def _noise(x: Tensor, given: Any) -> Any:
    """`noise_shape`, where `None` and -1 are the extent of x."""
    if not isinstance(given, (list, tuple)):
        return given
    sizes = shape_of(x)
    return [sizes[i] if n in (None, -1) else n for i, n in enumerate(given)]


def _rate(keep_prob: Any, rate: Any) -> Any:
    """The probability to drop an element: a number or a tensor."""
    given = keep_prob if rate is None else rate
    if given is None:
        raise ValueError("You must provide a rate to dropout.")
    if not isinstance(given, (int, float)):
        tensor = convert_to_tensor(given)
        return 1.0 - tensor if rate is None else tensor
    dropped = 1.0 - float(given) if rate is None else float(given)
    if not 0.0 <= dropped < 1.0:
        raise ValueError(
            f"rate must be a scalar tensor or a float in the range [0, 1), got {dropped:g}"
        )
    return dropped
