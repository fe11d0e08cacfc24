"""Activations as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.weighted import Weighted


@symbol("keras.layers.Activation")
class Activation(Layer):
    """A function of each element."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.activation = True, activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return self.activation(inputs)


@symbol("keras.layers.LeakyReLU")
class LeakyReLU(Layer):
    """x, or alpha x where x < 0."""

    def __init__(self, alpha: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._options(locals())
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

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.alpha = True, alpha

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.elu(inputs, self.alpha)


@symbol("keras.layers.ThresholdedReLU")
class ThresholdedReLU(Layer):
    """x where x > theta, else 0."""

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.theta = True, theta

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return inputs * tf.cast(inputs > self.theta, inputs.dtype)


@symbol("keras.layers.Softmax")
class Softmax(Layer):
    """Probabilities along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.axis = True, axis

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.softmax(inputs, axis=self.axis)


@symbol("keras.layers.ReLU")
class ReLU(Layer):
    """x above a threshold, up to a most; a slope below."""

    def __init__(
        self, max_value: Any = None, negative_slope: float = 0, threshold: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking, self.max_value = True, max_value
        self.negative_slope, self.threshold = negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)
