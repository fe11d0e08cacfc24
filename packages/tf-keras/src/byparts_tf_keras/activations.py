"""Activations of Keras: functions of a tensor, and their names."""

from __future__ import annotations

import math
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.objects import deserialize as _deserialize, finder


@symbol("keras.activations.softmax", "keras.backend.softmax")
def softmax(x: Any, axis: int = -1) -> Any:
    """Probabilities along an axis.

    Raises:
        ValueError: there is one axis only.
    """
    x = convert_to_tensor(x)
    if x.dims is not None and len(x.dims) == 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    return tf.nn.softmax(x, axis=axis)


@symbol("keras.activations.elu", "keras.backend.elu")
def elu(x: Any, alpha: float = 1.0) -> Any:
    """x, or alpha (e^x - 1) where x < 0."""
    positive = tf.nn.elu(x)
    return positive if alpha == 1 else tf.where(x > 0, positive, alpha * positive)


@symbol("keras.activations.selu")
def selu(x: Any) -> Any:
    """The scaled `elu` of Klambauer and others 2017."""
    return tf.nn.selu(x)


@symbol("keras.activations.softplus", "keras.backend.softplus")
def softplus(x: Any) -> Any:
    """log(1 + e^x)."""
    return tf.nn.softplus(x)


@symbol("keras.activations.softsign", "keras.backend.softsign")
def softsign(x: Any) -> Any:
    """x / (1 + |x|)."""
    return tf.nn.softsign(x)


@symbol("keras.activations.relu", "keras.backend.relu")
def relu(x: Any, alpha: Any = 0.0, max_value: Optional[float] = None, threshold: Any = 0) -> Any:
    """x above the threshold, up to max_value; alpha (x - threshold) below."""
    x = convert_to_tensor(x)
    plain = isinstance(alpha, (int, float)) and alpha == 0
    if plain and threshold == 0:
        positive = tf.nn.relu(x)
        return positive if max_value is None else tf.minimum(positive, tf.cast(max_value, x.dtype))
    above = x * tf.cast(x > threshold, x.dtype) if threshold else tf.nn.relu(x)
    if max_value is not None:
        above = tf.clip_by_value(above, 0.0, max_value)
    return above if plain else above - alpha * tf.nn.relu(threshold - x)


@symbol("keras.activations.tanh", "keras.backend.tanh")
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return tf.nn.tanh(x)


@symbol("keras.activations.sigmoid", "keras.backend.sigmoid")
def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x)."""
    return tf.nn.sigmoid(x)


@symbol("keras.activations.exponential")
def exponential(x: Any) -> Any:
    """e^x."""
    return tf.exp(x)


@symbol("keras.activations.hard_sigmoid", "keras.backend.hard_sigmoid")
def hard_sigmoid(x: Any) -> Any:
    """0.2 x + 0.5, cut to [0, 1]."""
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


@symbol("keras.activations.linear")
def linear(x: Any) -> Any:
    """x."""
    return x


def swish(x: Any) -> Any:
    """x sigmoid x."""
    return x * tf.nn.sigmoid(x)


def gelu(x: Any) -> Any:
    """x times the normal distribution function."""
    return 0.5 * x * (1.0 + tf.erf(x / math.sqrt(2.0)))


_NAMED = {
    f.__name__: f
    for f in (
        *(softmax, elu, selu, softplus, softsign, relu, tanh, sigmoid, exponential, hard_sigmoid),
        *(linear, swish, gelu),
    )
}
_find = finder(lambda: _NAMED, "activation function")


@symbol("keras.activations.get")
def get(identifier: Any) -> Any:
    """The activation of this name, or the function itself; `linear` for `None`."""
    return linear if identifier is None else _find(identifier)


@symbol("keras.activations.serialize")
def serialize(activation: Any) -> Any:
    """The name of an activation."""
    name = getattr(activation, "__name__", None)
    renamed = {"swish": "silu"} if name not in _NAMED else {}
    return renamed.get(name, name) if name else activation.get_config()


@symbol("keras.activations.deserialize")
def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The activation of this name."""
    return _deserialize(name, _NAMED, custom_objects, "activation function")
