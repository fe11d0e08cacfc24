"""Layers of Keras without windows or time: Dense, Dropout, Reshape and the like."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import prod
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.layers.layer import InputSpec
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import map_structure
from byparts_frontend_tf.keras_api import activations, penalties, starts
from byparts_frontend_tf.keras_api.layer import Layer
from byparts_frontend_tf.keras_api.objects import deserialize
from byparts_frontend_tf.keras_api.state import floatx
from byparts_frontend_tf.keras_api.training_phase import in_train_phase
from byparts_frontend_tf.symbols import symbol


class Weighted(Layer):
    """A layer that has an initializer, a regularizer and a constraint for each of its weights."""

    bias_initializer: Any
    moving_mean_initializer: Any
    moving_variance_initializer: Any

    def _options(self, given: dict[str, Any]) -> None:
        """Keep what is given for weights: `kernel_initializer="zeros"` and the like."""
        for key, value in given.items():
            if key.endswith("initializer"):
                value = starts.get(value)
            elif key.endswith("regularizer"):
                value = penalties.regularizer_of(value)
            else:
                value = penalties.constraint_of(value)
            setattr(self, key, value)

    def _weight(self, name: str, shape: Any, options: Optional[str] = None) -> Any:
        """A weight, by the options of `options` (its own name by default)."""
        key = options or name
        return self.add_weight(
            name,
            shape,
            initializer=getattr(self, f"{key}_initializer"),
            regularizer=getattr(self, f"{key}_regularizer", None),
            constraint=getattr(self, f"{key}_constraint", None),
        )


def last_of(shape: Any, layer: Any) -> int:
    """The last extent.

    Raises:
        ValueError: it is not known.
    """
    last = tf.TensorShape(shape).as_list()[-1]
    if last is None:
        raise ValueError(
            f"The last dimension of the inputs to `{type(layer).__name__}` should be defined. "
            "Found `None`."
        )
    return int(last)


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
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **given)
        self.units, self.use_bias = int(units), use_bias
        self.activation = activations.get(activation)
        self._options(
            {
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            }
        )
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
        dims = x.dims
        if dims is None or len(dims) == 2:
            made = tf.matmul(x, self.kernel)
        else:
            made = tf.matmul(tf.reshape(x, [-1, self.kernel.shape.as_list()[0]]), self.kernel)
            made = tf.reshape(made, tf.concat([tf.shape(x)[:-1], [self.units]], 0))
            made.set_shape([*dims[:-1], self.units])
        if self.use_bias:
            made = tf.nn.bias_add(made, self.bias)
        return self.activation(made)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[..., inputs] -> [..., units]."""
        return tf.TensorShape([*tf.TensorShape(input_shape).as_list()[:-1], self.units])


@symbol("keras.layers.Activation")
class Activation(Layer):
    """A function of each element."""

    def __init__(self, activation: Any, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.activation = True, activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return self.activation(inputs)


@symbol("keras.layers.Dropout")
class Dropout(Layer):
    """Sets a share of the elements to 0 and enlarges the others, while training."""

    def __init__(
        self, rate: Any, noise_shape: Any = None, seed: Optional[int] = None, **given: Any
    ) -> None:
        super().__init__(**given)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _noise(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        dims = tf.shape(inputs)
        return [dims[i] if n is None else n for i, n in enumerate(self.noise_shape)]

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The inputs, or what dropout leaves of them."""

        def dropped() -> Any:
            return tf.nn.dropout(
                inputs, rate=self.rate, noise_shape=self._noise(inputs), seed=self.seed
            )

        return in_train_phase(dropped, lambda: tf.identity(inputs), training)


class _SpatialDropout(Dropout):
    """Whole channels are kept or not."""

    rank = 1

    def __init__(self, rate: Any, data_format: Any = None, **given: Any) -> None:
        super().__init__(rate, **given)
        self.data_format = data_format or "channels_last"
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _noise(self, inputs: Any) -> Any:
        dims = tf.shape(inputs)
        if self.data_format == "channels_first":
            return [dims[0], dims[1], *[1] * self.rank]
        return [dims[0], *[1] * self.rank, dims[self.rank + 1]]


@symbol("keras.layers.SpatialDropout1D")
class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of rows."""


@symbol("keras.layers.SpatialDropout2D")
class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of images."""

    rank = 2


@symbol("keras.layers.SpatialDropout3D")
class SpatialDropout3D(_SpatialDropout):
    """Dropout of whole channels of volumes."""

    rank = 3


@symbol("keras.layers.GaussianNoise")
class GaussianNoise(Layer):
    """Adds normal numbers, while training."""

    def __init__(self, stddev: float, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.stddev = True, stddev

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The inputs, with noise while training."""

        def noised() -> Any:
            return inputs + tf.random_normal(tf.shape(inputs), 0.0, self.stddev, inputs.dtype)

        return in_train_phase(noised, lambda: tf.identity(inputs), training)


@symbol("keras.layers.GaussianDropout")
class GaussianDropout(Layer):
    """Multiplies by normal numbers about 1, while training."""

    def __init__(self, rate: float, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.rate = True, rate

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The inputs, with noise while training."""
        stddev = (self.rate / (1.0 - self.rate)) ** 0.5

        def noised() -> Any:
            return inputs * tf.random_normal(tf.shape(inputs), 1.0, stddev, inputs.dtype)

        return in_train_phase(noised, lambda: tf.identity(inputs), training)


@symbol("keras.layers.AlphaDropout")
class AlphaDropout(Layer):
    """Dropout that keeps mean and variance of what `selu` gives."""

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: Optional[int] = None, **given: Any
    ) -> None:
        super().__init__(**given)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The inputs, or what dropout leaves of them."""
        low = -1.6732632423543772 * 1.0507009873554805
        a = ((1 - self.rate) * (1 + self.rate * low**2)) ** -0.5
        b = -a * low * self.rate

        def dropped() -> Any:
            dims = tf.shape(inputs) if self.noise_shape is None else self.noise_shape
            kept = tf.cast(tf.random_uniform(dims, seed=self.seed) >= self.rate, inputs.dtype)
            return a * (inputs * kept + low * (1 - kept)) + b

        return in_train_phase(dropped, lambda: tf.identity(inputs), training)


@symbol("keras.layers.Flatten")
class Flatten(Layer):
    """Each example as a row."""

    def __init__(self, data_format: Any = None, **given: Any) -> None:
        super().__init__(**given)
        self.data_format = data_format or "channels_last"
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """[batch, ...] -> [batch, numbers]."""
        x = inputs
        if self.data_format == "channels_first" and x.dims is not None and len(x.dims) > 2:
            x = tf.transpose(x, [0, *range(2, len(x.dims)), 1])
        dims = x.dims
        if dims is not None and None not in dims[1:]:
            batch = -1 if dims[0] is None else dims[0]
            made = tf.reshape(x, [batch, prod(dims[1:])])
            made.set_shape([dims[0], prod(dims[1:])])
            return made
        made = tf.reshape(x, [tf.shape(x)[0], -1])
        made.set_shape([None if dims is None else dims[0], None])
        return made


@symbol("keras.layers.Reshape")
class Reshape(Layer):
    """Each example in another shape; one extent may be -1."""

    def __init__(self, target_shape: Any, **given: Any) -> None:
        super().__init__(**given)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        """[batch, ...] -> [batch, *target_shape]."""
        made = tf.reshape(inputs, [tf.shape(inputs)[0], *self.target_shape])
        made.set_shape(self._shape(inputs.get_shape()))
        return made

    def _shape(self, given: Any) -> list[Any]:
        batch, *rest = tf.TensorShape(given).as_list()
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

    def __init__(self, dims: Any, **given: Any) -> None:
        super().__init__(**given)
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

    def __init__(self, n: int, **given: Any) -> None:
        super().__init__(**given)
        self.n, self.input_spec = n, InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """The inputs, n times."""
        return tf.tile(tf.expand_dims(inputs, 1), [1, self.n, 1])


@symbol("keras.layers.Lambda")
class Lambda(Layer):
    """A function of tensors as a layer."""

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
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

    def __init__(self, mask_value: float = 0.0, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.mask_value = True, mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """[batch, time]."""
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        """The inputs, zeros where they are left out."""
        kept = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        made = inputs * tf.cast(kept, inputs.dtype)
        made._keras_mask = tf.squeeze(kept, axis=-1)
        return made


@symbol("keras.layers.ActivityRegularization")
class ActivityRegularization(Layer):
    """A penalty on the inputs."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **given: Any) -> None:
        super().__init__(activity_regularizer=penalties.L1L2(l1, l2), **given)
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
        **given: Any,
    ) -> None:
        if "input_shape" not in given and "batch_input_shape" not in given:
            given["input_shape"] = (input_length,)
        given.setdefault("dtype", floatx())
        super().__init__(activity_regularizer=activity_regularizer, **given)
        self.input_dim, self.output_dim, self.input_length = input_dim, output_dim, input_length
        self._options(
            {
                "embeddings_initializer": embeddings_initializer,
                "embeddings_regularizer": embeddings_regularizer,
                "embeddings_constraint": embeddings_constraint,
            }
        )
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


@symbol("keras.layers.LeakyReLU")
class LeakyReLU(Layer):
    """x, or alpha x where x < 0."""

    def __init__(self, alpha: float = 0.3, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.alpha = True, alpha

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return tf.nn.leaky_relu(inputs, self.alpha)


@symbol("keras.layers.PReLU")
class PReLU(Weighted):
    """x, or alpha x where x < 0; alpha is learned."""

    alpha: Any

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self.supports_masking = True
        self._options(
            {
                "alpha_initializer": alpha_initializer,
                "alpha_regularizer": alpha_regularizer,
                "alpha_constraint": alpha_constraint,
            }
        )
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes

    def build(self, input_shape: Any) -> None:
        """alpha for each element, one for all along shared axes."""
        dims = tf.TensorShape(input_shape).as_list()[1:]
        for axis in self.shared_axes or ():
            dims[axis - 1] = 1
        self.alpha = self._weight("alpha", dims)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)


@symbol("keras.layers.ELU")
class ELU(Layer):
    """x, or alpha (e^x - 1) where x < 0."""

    def __init__(self, alpha: float = 1.0, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.alpha = True, alpha

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.elu(inputs, self.alpha)


@symbol("keras.layers.ThresholdedReLU")
class ThresholdedReLU(Layer):
    """x where x > theta, else 0."""

    def __init__(self, theta: float = 1.0, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.theta = True, theta

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return inputs * tf.cast(inputs > self.theta, inputs.dtype)


@symbol("keras.layers.Softmax")
class Softmax(Layer):
    """Probabilities along an axis."""

    def __init__(self, axis: int = -1, **given: Any) -> None:
        super().__init__(**given)
        self.supports_masking, self.axis = True, axis

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.softmax(inputs, axis=self.axis)


@symbol("keras.layers.ReLU")
class ReLU(Layer):
    """x above a threshold, up to a most; a slope below."""

    def __init__(
        self, max_value: Any = None, negative_slope: float = 0, threshold: float = 0, **given: Any
    ) -> None:
        super().__init__(**given)
        self.supports_masking, self.max_value = True, max_value
        self.negative_slope, self.threshold = negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


def shapes_in(structure: Any) -> Any:
    """Shapes as lists, in their structure."""
    return map_structure(lambda s: tf.TensorShape(s).as_list(), structure)


def rank_of(x: Any) -> int:
    """The number of axes."""
    return len(convert_to_tensor(x).dims or ())
