"""Layers of Keras that draw while training: dropout and noise."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.training_phase import in_train_phase


@symbol("keras.layers.Dropout")
class Dropout(Layer):
    """Sets a share of the elements to 0 and enlarges the others, while training."""

    def __init__(
        self, rate: Any, noise_shape: Any = None, seed: Optional[int] = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _noise(self, inputs: Any) -> Any:
        return self.noise_shape

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

    def __init__(self, rate: Any, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
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

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.stddev = True, stddev

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The inputs, with noise while training."""

        def noised() -> Any:
            return inputs + tf.random_normal(tf.shape(inputs), 0.0, self.stddev, inputs.dtype)

        return in_train_phase(noised, lambda: tf.identity(inputs), training)


@symbol("keras.layers.GaussianDropout")
class GaussianDropout(Layer):
    """Multiplies by normal numbers about 1, while training."""

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
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
        self, rate: float, noise_shape: Any = None, seed: Optional[int] = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
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
