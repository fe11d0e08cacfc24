"""`tf.nn.leaky_relu`, `tf.nn.bias_add` and other small functions of `tf.nn`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.binary import add, equal, multiply
from byparts_frontend_tf.api.math.reduce import reduce_mean
from byparts_frontend_tf.api.math.unary import exp, log, sigmoid
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32
from byparts_tf_files.shape import Dims


def _bias(x: Value, b: Value, first: bool) -> Value:
    if first and len(x.type.dims) > 2:
        b = ops.reshape(b, [1, b.type.dims[0], *[1] * (len(x.type.dims) - 2)])
    return x + b


def _bias_shape(inputs: Sequence[Tensor], *, first: bool) -> Dims:
    (dims, bias), at = [t.dims for t in inputs], 1 if first else -1
    if dims is None or bias is None or dims[at] is not None:
        return dims
    return (dims[0], *bias, *dims[2:]) if first else (*dims[:-1], *bias)


_BIAS_ADD = Kind("BiasAdd", _bias, shape=_bias_shape)


@symbol("nn.bias_add")
def bias_add(
    value: TensorLike, bias: TensorLike, data_format: Any = None, name: Optional[str] = None
) -> Tensor:
    """A number added to each channel, the last axis or, with NCHW, the second.

    Raises:
        ValueError: another format; the bias is no vector of the channels.
    """
    layout = str(data_format or "NHWC")
    first = layout.startswith("NC")
    if not first and not (layout.startswith("N") and layout.endswith("C")):
        raise ValueError("data_format must be of the form `N...C` or `NC...`")
    x = convert_to_tensor(value, name="input")
    b = convert_to_tensor(bias, x.dtype.base_dtype, name="bias")
    if b.dims is not None and len(b.dims) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(b.dims)} for the bias {b}")
    if x.dims is not None and len(x.dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(x.dims)} for 'BiasAdd'")
    if x.dims is not None and b.dims is not None:
        channels = x.dims[1 if first else -1]
        if None not in (channels, b.dims[0]) and channels != b.dims[0]:
            raise ValueError(
                f"Dimensions must be equal, but are {channels} and {b.dims[0]} for BiasAdd of "
                f"{x.shape} and {b.shape}"
            )
    return _BIAS_ADD(x, b, name=name, first=first)


_L2 = Kind("L2Loss", lambda t: ops.sum(t * t) * 0.5, shape=lambda inputs: ())


@symbol("nn.l2_loss")
def l2_loss(t: TensorLike, name: Optional[str] = None) -> Tensor:
    """Half the sum of the squares."""
    return _L2(convert_to_tensor(t), name=name)


@symbol("nn.zero_fraction", "math.zero_fraction")
def zero_fraction(value: TensorLike, name: Optional[str] = None) -> Tensor:
    """Share of the elements that are 0."""
    with name_scope(name, "zero_fraction"):
        x = convert_to_tensor(value)
        zero = convert_to_tensor(False if x.dtype.base_dtype.name == "bool" else 0, x.dtype)
        return reduce_mean(cast(equal(x, zero), float32))


@symbol("nn.xw_plus_b")
def xw_plus_b(x: TensorLike, weights: Any, biases: Any, name: Optional[str] = None) -> Tensor:
    """x weights + biases."""
    with name_scope(name, "xw_plus_b") as scope:
        return bias_add(matmul(x, weights), biases, name=scope)


@symbol("nn.relu_layer")
def relu_layer(x: TensorLike, weights: Any, biases: Any, name: Optional[str] = None) -> Tensor:
    """relu(x weights + biases)."""
    with name_scope(name, "relu_layer") as scope:
        return relu(bias_add(matmul(x, weights), biases), name=scope)


@symbol("nn.leaky_relu")
def leaky_relu(features: TensorLike, alpha: Any = 0.2, name: Optional[str] = None) -> Tensor:
    """x where it is positive, else alpha x."""
    with name_scope(name, "LeakyRelu") as scope:
        x = convert_to_tensor(features, name="features")
        if x.dtype.base_dtype.is_integer:
            x = cast(x, float32)
        slope = convert_to_tensor(alpha, x.dtype.base_dtype)
        return add(relu(x), multiply(slope, x - relu(x)), name=scope)


@symbol("nn.crelu")
def crelu(features: TensorLike, name: Optional[str] = None, axis: int = -1) -> Tensor:
    """relu(x) and relu(-x), side by side along the axis."""
    with name_scope(name, "CRelu"):
        x = convert_to_tensor(features)
        return relu(concat([x, -x], axis))


@symbol("nn.swish", "nn.silu")
def swish(features: TensorLike) -> Tensor:
    """x sigmoid(x)."""
    x = convert_to_tensor(features, name="features")
    return multiply(x, sigmoid(x))


@symbol("nn.log_poisson_loss")
def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """exp(log_input) - log_input * targets, and Stirling's approximation where asked for."""
    from math import pi

    with name_scope(name, "log_poisson_loss"):
        z = convert_to_tensor(log_input, name="log_input")
        n = convert_to_tensor(targets, z.dtype.base_dtype, name="targets")
        loss: Tensor = exp(z) - z * n
        if compute_full_loss:
            stirling = n * log(n) - n + 0.5 * log(2 * pi * n)
            inside = (n >= 0.0) & (n <= 1.0)
            loss = loss + where(inside, 0.0 * n, stirling)
        return loss
