"""Pooling, flattening, dropout and batch normalization of `tf.layers`."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.layers.initializers import Ones, Zeros
from byparts_frontend_tf.api.layers.layer import Layer, sizes
from byparts_frontend_tf.api.layers.layers import known_channels
from byparts_frontend_tf.api.normalizing import (
    batch_normalization as normalized,
    dropout as dropout_of,
    moments,
)
from byparts_frontend_tf.api.passing import identity
from byparts_frontend_tf.api.pools import avg_pool, max_pool
from byparts_frontend_tf.api.shaping import expand_dims, reshape, shape as shape_of, squeeze
from byparts_frontend_tf.api.variables.variables import Variable, assign_sub
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol


def either(condition: Any, yes: Any, no: Any) -> Any:
    """`yes()` where the condition holds, else `no()`; only one of them where that is known."""
    if isinstance(condition, Variable):
        return cond(condition, yes, no)
    known = static_value(condition) if isinstance(condition, Tensor) else condition
    if known is None:
        return cond(condition, yes, no)
    return yes() if bool(known) else no()


class _Pooling(Layer):
    """Windows over images."""

    pool: Any = None

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        super().__init__(name=name, **given)
        self.pool_size = sizes(pool_size, 2, "pool_size")
        self.strides = sizes(strides, 2, "strides")
        self.padding, self.data_format = padding, data_format

    def call(self, inputs: Any) -> Any:
        """One pixel for each window."""
        first = self.data_format == "channels_first"

        def spread(numbers: Any) -> list[int]:
            return [1, 1, *numbers] if first else [1, *numbers, 1]

        layout = "NCHW" if first else "NHWC"
        given = spread(self.pool_size), spread(self.strides), self.padding.upper()
        return type(self).pool(inputs, *given, data_format=layout)


@symbol("layers.MaxPooling2D")
class MaxPooling2D(_Pooling):
    """The maximum of each window."""

    pool = staticmethod(max_pool)


@symbol("layers.AveragePooling2D")
class AveragePooling2D(_Pooling):
    """The mean of each window."""

    pool = staticmethod(avg_pool)


@symbol("layers.max_pooling2d")
def max_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Optional[str] = None,
) -> Any:
    """The maximum of each window."""
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


@symbol("layers.average_pooling2d")
def average_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Optional[str] = None,
) -> Any:
    """The mean of each window."""
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


def _of_rows(
    kind: Any, x: Any, size: Any, strides: Any, padding: str, data_format: str, name: Any
) -> Tensor:
    """Pooling of rows, as images of one line."""
    axis = 2 if data_format == "channels_first" else 1
    (width,), (step,) = sizes(size, 1, "pool_size"), sizes(strides, 1, "strides")
    made = kind((1, width), (1, step), padding, data_format, name).apply(expand_dims(x, axis))
    return squeeze(made, [axis])


@symbol("layers.max_pooling1d")
def max_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Optional[str] = None,
) -> Tensor:
    """The maximum of each window of rows."""
    return _of_rows(MaxPooling2D, inputs, pool_size, strides, padding, data_format, name)


@symbol("layers.average_pooling1d")
def average_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Optional[str] = None,
) -> Tensor:
    """The mean of each window of rows."""
    return _of_rows(AveragePooling2D, inputs, pool_size, strides, padding, data_format, name)


@symbol("layers.Flatten")
class Flatten(Layer):
    """Each example as a row."""

    def __init__(self, data_format: Any = None, name: Optional[str] = None, **given: Any) -> None:
        super().__init__(name=name, **given)

    def call(self, inputs: Any) -> Any:
        """[batch, ...] -> [batch, numbers]."""
        x = convert_to_tensor(inputs)
        rest = None if x.dims is None else list(x.dims[1:])
        if rest is not None and None not in rest:
            total = 1
            for n in rest:
                total *= int(n or 0)
            batch = None if x.dims is None else x.dims[0]
            if total:
                made = reshape(x, [-1 if batch is None else batch, total])
                made.set_shape([batch, total])
                return made
        return reshape(x, [shape_of(x)[0], -1])


@symbol("layers.flatten")
def flatten(inputs: Any, name: Optional[str] = None, data_format: Any = None) -> Any:
    """Each example as a row."""
    return Flatten(name=name).apply(inputs)


@symbol("layers.Dropout")
class Dropout(Layer):
    """`nn.dropout`, while training."""

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: Any = None,
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        super().__init__(name=name, **given)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        """The inputs, or what dropout leaves of them."""
        return either(
            training,
            lambda: dropout_of(
                inputs, rate=self.rate, noise_shape=self.noise_shape, seed=self.seed
            ),
            lambda: identity(convert_to_tensor(inputs)),
        )


@symbol("layers.dropout")
def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: Any = None,
    training: Any = False,
    name: Optional[str] = None,
) -> Any:
    """`nn.dropout`, while training."""
    return Dropout(rate, noise_shape, seed, name).apply(inputs, training=training)


@symbol("layers.BatchNormalization")
class BatchNormalization(Layer):
    """Ioffe and Szegedy 2015; the moving statistics are updated by operations in UPDATE_OPS.

    Args:
        axis: of the channels.
        momentum: what remains of a moving statistic at each update.
        epsilon: is added to variances.
        center, scale: whether there is a beta, a gamma.
        given: initializers, regularizers and constraints of the four variables; the rest is
            accepted.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = None,
        gamma_initializer: Any = None,
        moving_mean_initializer: Any = None,
        moving_variance_initializer: Any = None,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: Any = None,
        trainable: bool = True,
        virtual_batch_size: Any = None,
        adjustment: Any = None,
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        super().__init__(trainable, name, **given)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError(
                "batch_normalization: renorm, virtual_batch_size and adjustment are not here"
            )
        self.axis, self.momentum, self.epsilon = axis, momentum, epsilon
        self.center, self.scale = center, scale
        self._beta = beta_initializer, beta_regularizer, beta_constraint
        self._gamma = gamma_initializer, gamma_regularizer, gamma_constraint
        self._moving = moving_mean_initializer, moving_variance_initializer

    def build(self, input_shape: Any) -> None:
        """gamma, beta, moving_mean and moving_variance, [channels] each."""
        axis = self.axis[0] if isinstance(self.axis, (list, tuple)) else self.axis
        self._at = axis % input_shape.ndims
        size = [known_channels(input_shape, self._at, self)]
        zeros, ones = Zeros(dtype=self._dtype), Ones(dtype=self._dtype)
        self.gamma = self._weight("gamma", size, self._gamma, ones) if self.scale else None
        self.beta = self._weight("beta", size, self._beta, zeros) if self.center else None
        mean, variance = self._moving
        self.moving_mean = self._weight("moving_mean", size, (mean, None, None), zeros, False)
        self.moving_variance = self._weight(
            "moving_variance", size, (variance, None, None), ones, False
        )

    def _weight(self, name: str, size: Any, given: Any, usual: Any, trainable: bool = True) -> Any:
        initializer, regularizer, constraint = given
        return self.add_weight(
            name,
            size,
            initializer=usual if initializer is None else initializer,
            regularizer=regularizer,
            constraint=constraint,
            trainable=trainable,
        )

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Normalized by the batch while training, else by the moving statistics."""
        x = convert_to_tensor(inputs)
        rank = len(x.dims or ())
        axes = [a for a in range(rank) if a != self._at]
        found = either(
            training,
            lambda: moments(x, axes),
            lambda: (identity(self.moving_mean), identity(self.moving_variance)),
        )
        mean, variance = found
        known = static_value(training) if isinstance(training, Tensor) else training
        if known is None or (not isinstance(known, Variable) and bool(known)):
            self._update(x, axes, mean, variance, training)

        def placed(t: Any) -> Any:
            if t is None or self._at == rank - 1:
                return t
            return reshape(t, [-1 if a == self._at else 1 for a in range(rank)])

        outputs = normalized(
            x, placed(mean), placed(variance), placed(self.beta), placed(self.gamma), self.epsilon
        )
        if x.dims is not None:
            outputs.set_shape(x.dims)
        return outputs

    def _update(self, x: Tensor, axes: list[int], mean: Any, variance: Any, training: Any) -> None:
        """Operations that move the statistics; of images the variance is that of a sample."""
        from byparts_frontend_tf.api.casting import cast

        rest = either(training, lambda: 1.0 - self.momentum, lambda: 0.0)
        factor = cast(convert_to_tensor(rest), self.moving_mean.dtype.base_dtype)
        if len(axes) == 3:  # what TensorFlow's fused kernel gives
            sizes_ = [cast(shape_of(x)[a], variance.dtype.base_dtype) for a in axes]
            count = sizes_[0] * sizes_[1] * sizes_[2]
            unbiased = variance * (count / (count - 1.0))
            variance = either(training, lambda: unbiased, lambda: identity(variance))
        for moving, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
            update = assign_sub(moving, (moving - new) * factor, name="AssignMovingAvg")
            self.add_update(update.op)


@symbol("layers.batch_normalization")
def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = None,
    gamma_initializer: Any = None,
    moving_mean_initializer: Any = None,
    moving_variance_initializer: Any = None,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: Optional[str] = None,
    reuse: Any = None,
    **given: Any,
) -> Any:
    """A new `BatchNormalization` layer of the inputs."""
    made = BatchNormalization(
        axis,
        momentum,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        moving_mean_initializer,
        moving_variance_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
        **given,
    )
    return made.apply(inputs, training=training)
