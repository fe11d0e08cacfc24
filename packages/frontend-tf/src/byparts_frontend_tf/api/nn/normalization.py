"""`tf.nn.batch_normalization`, `tf.nn.lrn`, `tf.nn.l2_normalize`."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.math.binary import add, maximum, multiply
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import rsqrt, square
from byparts_frontend_tf.api.nn.moments import moments
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


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
    """Normalize as `batch_normalization` does; the last operation is called `name`."""
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
    """Normalize as `batch_normalization` does, with gamma only if `scale_after_normalization`."""
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
