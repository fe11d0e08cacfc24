"""Layers of Keras that give each example another shape."""

from __future__ import annotations

from math import prod
from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer


@symbol("keras.layers.Flatten")
class Flatten(Layer):
    """Each example as a row."""

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = data_format or "channels_last"
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """[batch, ...] -> [batch, numbers]."""
        x = inputs
        if self.data_format == "channels_first" and x.dims is not None and len(x.dims) > 2:
            x = tf.transpose(x, [0, *range(2, len(x.dims)), 1])
        dims = x.dims
        if dims is not None and None not in dims[1:] and 0 not in dims[1:]:
            batch = -1 if dims[0] is None else dims[0]
            reshaped = tf.reshape(x, [batch, prod(dims[1:])])
            reshaped.set_shape([dims[0], prod(dims[1:])])
            return reshaped
        reshaped = tf.reshape(x, [tf.shape(x)[0], -1])
        reshaped.set_shape([None if dims is None else dims[0], None])
        return reshaped


@symbol("keras.layers.Reshape")
class Reshape(Layer):
    """Each example in another shape; one extent may be -1."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        """[batch, ...] -> [batch, *target_shape]."""
        reshaped = tf.reshape(inputs, [tf.shape(inputs)[0], *self.target_shape])
        reshaped.set_shape(self._shape(inputs.get_shape()))
        return reshaped

    def _shape(self, shape: Any) -> list[Any]:
        batch, *rest = tf.TensorShape(shape).as_list()
        target: list[Any] = list(self.target_shape)
        if None in rest:
            return [batch, *[None if n == -1 else n for n in target]]
        total, known = prod(rest), prod([n for n in target if n != -1])
        if total % known if -1 in target and known else total != known:
            raise ValueError("total size of new array must be unchanged")
        return [batch, *[total // known if n == -1 else n for n in target]]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[batch, ...] -> [batch, *target_shape]."""
        return tf.TensorShape(self._shape(input_shape))


@symbol("keras.layers.Permute")
class Permute(Layer):
    """Axes of each example in another order, counted from 1."""

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in "
                "`dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        """The transposed inputs."""
        return tf.transpose(inputs, [0, *self.dims])


@symbol("keras.layers.RepeatVector")
class RepeatVector(Layer):
    """[batch, features] -> [batch, n, features]."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n, self.input_spec = n, InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """The inputs, n times."""
        return tf.tile(tf.expand_dims(inputs, 1), [1, self.n, 1])
