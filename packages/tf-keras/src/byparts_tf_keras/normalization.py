"""Batch and layer normalization, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.cond import smart_constant_value
from byparts_frontend_tf.api.layers.batch_statistics import moving_updates, normalized, of_a_sample
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.state import learning_phase
from byparts_tf_keras.training_phase import in_train_phase
from byparts_tf_keras.weighted import Weighted


@symbol("keras.layers.BatchNormalization")
class BatchNormalization(Weighted):
    """Ioffe and Szegedy 2015: by the batch while training, else by moving statistics."""

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
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
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError(
                "BatchNormalization: renorm, virtual_batch_size and adjustment are not here"
            )
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale, self.fused = center, scale, fused
        self.renorm, self.virtual_batch_size = renorm, virtual_batch_size
        self.supports_masking = True
        self._options(locals())

    def build(self, input_shape: Any) -> None:
        """gamma, beta, moving_mean and moving_variance, [channels] each."""
        shape = tf.TensorShape(input_shape)
        if shape.ndims is None:
            raise ValueError(f"Input has undefined rank: {shape}")
        dims = shape.as_list()
        axis = self.axis[0] if isinstance(self.axis, list) else self.axis
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"Invalid axis: {self.axis}")
        self._at = axis % len(dims)
        self.axis = [self._at]
        size = dims[self._at]
        if size is None:
            raise ValueError(f"Input has undefined `axis` dimension. Input shape: {tuple(dims)}")
        self.fused = self.fused is not False and len(dims) == 4 and self._at in (1, 3)
        if self.fused and self._dtype in (tf.float16, tf.bfloat16):
            self._dtype = tf.float32
        self.input_spec = InputSpec(ndim=len(dims), axes={self._at: size})
        self.gamma = self._weight("gamma", (size,)) if self.scale else None
        self.beta = self._weight("beta", (size,)) if self.center else None
        self.moving_mean = self.add_weight(
            "moving_mean", (size,), initializer=self.moving_mean_initializer, trainable=False
        )
        self.moving_variance = self.add_weight(
            "moving_variance",
            (size,),
            initializer=self.moving_variance_initializer,
            trainable=False,
        )
        self.built = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The normalized inputs."""
        told = learning_phase() if training is None else training
        axes = [a for a in range(len(inputs.dims)) if a != self._at]
        mean, variance = in_train_phase(
            lambda: tf.nn.moments(tf.cast(inputs, self.moving_mean.dtype.base_dtype), axes),
            lambda: (tf.identity(self.moving_mean), tf.identity(self.moving_variance)),
            told,
        )
        if smart_constant_value(told) is not False:
            self._move(inputs, mean, variance, told)
        of = mean, variance, self.beta, self.gamma, self.epsilon
        return normalized(inputs, self._at, *of, fused=bool(self.fused))

    def _move(self, x: Any, mean: Any, variance: Any, told: Any) -> None:
        """Updates of the statistics; of images the variance is that of a sample."""
        share = in_train_phase(lambda: 1.0 - self.momentum, lambda: 0.0, told)
        share = tf.cast(share, self.moving_mean.dtype.base_dtype)
        if self.fused:
            variance = of_a_sample(variance, x)
        moving = self.moving_mean, self.moving_variance
        for update in moving_updates(moving, (mean, variance), share):
            self.add_update(update.op, inputs=True)


@symbol("keras.layers.LayerNormalization")
class LayerNormalization(Weighted):
    """Ba and others 2016: by mean and variance of each example, along axes."""

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.supports_masking = True
        self._options(locals())

    def build(self, input_shape: Any) -> None:
        """gamma and beta, in the extents of the axes."""
        dims = tf.TensorShape(input_shape).as_list()
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        self._axes = [a % len(dims) for a in axes]
        shape = [dims[a] for a in self._axes]
        self.gamma = self._weight("gamma", shape) if self.scale else None
        self.beta = self._weight("beta", shape) if self.center else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The normalized inputs."""
        rank = len(inputs.dims)
        mean, variance = tf.nn.moments(inputs, self._axes, keep_dims=True)
        sized = [inputs.dims[a] if a in self._axes else 1 for a in range(rank)]

        def placed(t: Any) -> Any:
            return t if t is None or self._axes == [rank - 1] else tf.reshape(t, sized)

        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, placed(self.beta), placed(self.gamma), self.epsilon
        )
        outputs.set_shape(inputs.dims)
        return outputs
