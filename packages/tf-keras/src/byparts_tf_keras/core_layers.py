"""Layers of Keras without windows or time: Dense, Embedding, Lambda, Masking."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.layers.shaped_products import along_last_axis
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations, penalties
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.objects import deserialize
from byparts_tf_keras.state import floatx
from byparts_tf_keras.weighted import Weighted, last_of


@symbol("keras.layers.Dense")
class Dense(Weighted):
    """activation(x W + b), along the last axis."""

    kernel: Any
    bias: Any

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units, self.use_bias = int(units), use_bias
        self.activation = activations.get(activation)
        self._options(locals())
        self.supports_masking, self.input_spec = True, InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """W [inputs, units], b [units]."""
        last = last_of(input_shape, self)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self._weight("kernel", [last, self.units])
        self.bias = self._weight("bias", [self.units]) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """[..., inputs] -> [..., units]."""
        x = tf.cast(inputs, self._dtype) if not inputs.dtype.is_floating else inputs
        outputs = along_last_axis(x, self.kernel)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[..., inputs] -> [..., units]."""
        return tf.TensorShape([*tf.TensorShape(input_shape).as_list()[:-1], self.units])


@symbol("keras.layers.Lambda")
class Lambda(Layer):
    """A function of tensors as a layer."""

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.function, self.arguments, self.mask = function, arguments or {}, mask
        self.output_shape_given = output_shape
        self.supports_masking = mask is not None
        names = inspect.signature(function).parameters if callable(function) else {}
        self._takes = {n for n in ("mask", "training") if n in names}

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """The function of the inputs."""
        more = {k: v for k, v in (("mask", mask), ("training", training)) if k in self._takes}
        return self.function(inputs, **{**more, **self.arguments})

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask that was given."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape that was said, or that of a try."""
        if self.output_shape_given is None:
            return super().compute_output_shape(input_shape)
        if callable(self.output_shape_given):
            return tf.TensorShape(self.output_shape_given(input_shape))
        return tf.TensorShape([tf.TensorShape(input_shape).as_list()[0], *self.output_shape_given])

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer of the function, which is here, or known by its name (`custom_objects`)."""
        function = config["function"]
        if isinstance(function, str):
            function = deserialize(function, {}, None, "function of a Lambda layer")
        return cls(**{**config, "function": function})


@symbol("keras.layers.Masking")
class Masking(Layer):
    """Steps whose features all are `mask_value` are left out."""

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.mask_value = True, mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """[batch, time]."""
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        """The inputs, zeros where they are left out."""
        kept = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * tf.cast(kept, inputs.dtype)
        outputs._keras_mask = tf.squeeze(kept, axis=-1)
        return outputs


@symbol("keras.layers.ActivityRegularization")
class ActivityRegularization(Layer):
    """A penalty on the inputs."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=penalties.L1L2(l1, l2), **kwargs)
        self.supports_masking, self.l1, self.l2 = True, l1, l2


@symbol("keras.layers.Embedding")
class Embedding(Weighted):
    """A row of a table for each integer."""

    embeddings: Any

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,)
        kwargs.setdefault("dtype", floatx())
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.input_dim, self.output_dim, self.input_length = input_dim, output_dim, input_length
        self._options(locals())
        self.mask_zero = self.supports_masking = mask_zero

    def build(self, input_shape: Any) -> None:
        """The table [input_dim, output_dim]."""
        self.embeddings = self._weight("embeddings", (self.input_dim, self.output_dim))
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Whether an integer is not 0."""
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Any) -> Any:
        """[...] -> [..., output_dim]."""
        x = inputs if inputs.dtype in (tf.int32, tf.int64) else tf.cast(inputs, tf.int32)
        return tf.nn.embedding_lookup(self.embeddings, x)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[...] -> [..., output_dim]."""
        return tf.TensorShape([*tf.TensorShape(input_shape).as_list(), self.output_dim])
