"""`tf.keras.backend`: variables, placeholders, what is known of tensors, and TensorFlow's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.state import floatx, track_variable


@symbol("keras.backend.variable")
def variable(
    value: Any, dtype: Any = None, name: Optional[str] = None, constraint: Any = None
) -> Any:
    """A variable that Keras initializes."""
    created = tf.Variable(
        value,
        dtype=tf.as_dtype(dtype or floatx()),
        name=name,
        constraint=constraint,
        use_resource=True,
    )
    track_variable(created)
    return created


@symbol("keras.backend.placeholder")
def placeholder(
    shape: Any = None,
    ndim: Optional[int] = None,
    dtype: Any = None,
    sparse: bool = False,
    name: Optional[str] = None,
) -> Any:
    """A placeholder of a shape, or of so many axes."""
    if shape is None and ndim:
        shape = (None,) * ndim
    make = tf.sparse_placeholder if sparse else tf.placeholder
    return make(dtype or floatx(), shape, name=name)


@symbol("keras.backend.constant")
def constant(value: Any, dtype: Any = None, shape: Any = None, name: Optional[str] = None) -> Any:
    """A constant, of the dtype of weights by default."""
    return tf.constant(value, dtype or floatx(), shape, name=name or "Const")


@symbol("keras.backend.is_keras_tensor")
def is_keras_tensor(x: Any) -> bool:
    """Whether a layer made it.

    Raises:
        ValueError: it is no tensor.
    """
    if not isinstance(x, (Tensor, tf.Variable, SparseTensor)):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor "
            "instance."
        )
    return hasattr(x, "_keras_history")


@symbol("keras.backend.is_sparse")
def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is a `SparseTensor`."""
    return isinstance(tensor, SparseTensor)


@symbol("keras.backend.to_dense")
def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one."""
    return tf.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


@symbol("keras.backend.int_shape")
def int_shape(x: Any) -> Any:
    """The static shape: a tuple of numbers and `None`; `None` if nothing is known."""
    shape = getattr(x, "_keras_shape", None) or x.get_shape()
    return None if shape.ndims is None else tuple(shape.as_list())


@symbol("keras.backend.ndim")
def ndim(x: Any) -> Any:
    """The number of axes."""
    return x.get_shape().ndims


@symbol("keras.backend.dtype")
def dtype(x: Any) -> str:
    """The name of the dtype."""
    return str(x.dtype.base_dtype.name)


@symbol("keras.backend.count_params")
def count_params(x: Any) -> int:
    """The count of numbers in a variable."""
    return int(np.prod(x.get_shape().as_list()))


@symbol("keras.backend.cast")
def cast(x: Any, dtype: Any) -> Any:
    """Cast to another dtype."""
    return tf.cast(x, dtype)


@symbol("keras.backend.cast_to_floatx")
def cast_to_floatx(x: Any) -> Any:
    """An array or tensor of the dtype of weights."""
    return tf.cast(x, floatx()) if isinstance(x, Tensor) else np.asarray(x, dtype=floatx())


def _filled(value: float) -> Callable[..., Any]:
    def make(shape: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
        kind = tf.as_dtype(dtype or floatx())
        if any(isinstance(n, Tensor) for n in shape):
            return tf.fill(shape, tf.constant(value, kind))
        return variable(np.full(tuple(shape), value), kind, name)

    return make


zeros, ones = _filled(0.0), _filled(1.0)


@symbol("keras.backend.eye")
def eye(size: int, dtype: Any = None, name: Optional[str] = None) -> Any:
    """The identity matrix as a variable."""
    return variable(np.eye(size), dtype, name)


@symbol("keras.backend.zeros_like")
def zeros_like(x: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Zeros in the shape of a tensor."""
    return tf.zeros_like(x, dtype=dtype, name=name)


@symbol("keras.backend.ones_like")
def ones_like(x: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Ones in the shape of a tensor."""
    return tf.ones_like(x, dtype=dtype, name=name)


# Updates


@symbol("keras.backend.update")
def update(x: Any, new_x: Any) -> Any:
    """An operation that gives a variable a value."""
    return tf.assign(x, new_x)


@symbol("keras.backend.update_add")
def update_add(x: Any, increment: Any) -> Any:
    """An operation that adds to a variable."""
    return tf.assign_add(x, increment)


@symbol("keras.backend.update_sub")
def update_sub(x: Any, decrement: Any) -> Any:
    """An operation that subtracts from a variable."""
    return tf.assign_sub(x, decrement)


@symbol("keras.backend.moving_average_update")
def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """An operation that moves a variable to a value."""
    return tf.assign_sub(x, (x - value) * (1.0 - momentum))


@symbol("keras.backend.print_tensor")
def print_tensor(x: Any, message: str = "") -> Any:
    """The tensor; prints it when it is computed."""
    return tf.Print(x, [x], message)


SYMBOLS = {"keras.backend.zeros": "zeros", "keras.backend.ones": "ones"}
_SAME = (
    *("abs", "square", "exp", "log", "round", "sign", "pow", "equal", "not_equal", "greater"),
    *("greater_equal", "less", "less_equal", "maximum", "minimum", "sin", "cos", "cumsum"),
    *("cumprod", "shape", "reshape", "tile", "identity", "stop_gradient", "name_scope"),
)


def __getattr__(name: str) -> Any:
    if name.startswith("same_") and name[5:] in _SAME:
        return getattr(tf, name[5:])
    raise AttributeError(name)


SYMBOLS.update({f"keras.backend.{name}": f"same_{name}" for name in _SAME})
