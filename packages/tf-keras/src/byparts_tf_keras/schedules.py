"""Learning rates that change with the step, as objects of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.optimizer import LearningRateSchedule


@symbol("keras.optimizers.schedules.ExponentialDecay")
class ExponentialDecay(LearningRateSchedule):
    """A rate that is multiplied by `decay_rate` in `decay_steps`."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: Any = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.decay_rate, self.staircase, self.name = decay_rate, staircase, name

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        part = tf.cast(step, tf.float32) / float(self.decay_steps)
        part = tf.floor(part) if self.staircase else part
        return self.initial_learning_rate * tf.pow(float(self.decay_rate), part)


@symbol("keras.optimizers.schedules.PiecewiseConstantDecay")
class PiecewiseConstantDecay(LearningRateSchedule):
    """A rate for each range of steps."""

    def __init__(self, boundaries: Any, values: Any, name: Any = None) -> None:
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        limits = [float(b) for b in self.boundaries]
        return tf.train.piecewise_constant(step, limits, list(self.values))


@symbol("keras.optimizers.schedules.PolynomialDecay")
class PolynomialDecay(LearningRateSchedule):
    """A rate that falls by a power of the remaining steps."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: Any = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle = end_learning_rate, power, cycle
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        return tf.train.polynomial_decay(
            self.initial_learning_rate,
            step,
            self.decay_steps,
            self.end_learning_rate,
            self.power,
            self.cycle,
        )
