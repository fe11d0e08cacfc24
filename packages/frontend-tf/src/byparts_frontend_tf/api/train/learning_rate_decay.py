"""Learning rates that change with the step: `tf.train.exponential_decay` and its kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.math.binary import add, divide, minimum, multiply, pow, subtract
from byparts_frontend_tf.api.math.unary import ceil, cos, exp, floor, log, sqrt
from byparts_frontend_tf.api.random.random import random_normal
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


def _step(global_step: Any, schedule: str) -> Any:
    if global_step is None:
        raise ValueError(f"global_step is required for {schedule}.")
    return global_step._as_tensor() if hasattr(global_step, "_as_tensor") else global_step


def _rate_and_decays(
    rate: Any, global_step: Any, steps: Any, staircase: bool
) -> tuple[Tensor, Tensor]:
    """The rate, and the number of decays so far."""
    learning_rate = convert_to_tensor(rate, name="learning_rate")
    dtype = learning_rate.dtype.base_dtype
    passed = divide(cast(global_step, dtype), cast(steps, dtype))
    return learning_rate, floor(passed) if staircase else passed


def _rate_and_share(rate: Any, global_step: Any, steps: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The rate, the step up to `steps`, and which share of `steps` that is."""
    learning_rate = convert_to_tensor(rate, name="learning_rate")
    dtype = learning_rate.dtype.base_dtype
    most = cast(steps, dtype)
    now = minimum(cast(global_step, dtype), most)
    return learning_rate, now, divide(now, most)


def _wave(passed: Tensor, periods: float = 0.5) -> Tensor:
    """A cosine from 1 to 0 and back, so many periods for `passed` from 0 to 1."""
    angle = constant(math.pi * 2.0 * periods, passed.dtype.base_dtype) * passed
    wave: Tensor = 0.5 * (1.0 + cos(angle))
    return wave


@symbol("train.exponential_decay")
def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """learning_rate * decay_rate ^ (global_step / decay_steps)."""
    step = _step(global_step, "exponential_decay")
    with name_scope(name, "ExponentialDecay") as scope:
        rate, passed = _rate_and_decays(learning_rate, step, decay_steps, staircase)
        factor = pow(cast(decay_rate, rate.dtype.base_dtype), passed)
        return multiply(rate, factor, name=scope)


@symbol("train.natural_exp_decay")
def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """learning_rate * e ^ (-decay_rate * global_step / decay_steps)."""
    step = _step(global_step, "natural_exp_decay")
    with name_scope(name, "NaturalExpDecay") as scope:
        rate, passed = _rate_and_decays(learning_rate, step, decay_steps, staircase)
        exponent = multiply(cast(-decay_rate, rate.dtype.base_dtype), passed)
        return multiply(rate, exp(exponent), name=scope)


@symbol("train.inverse_time_decay")
def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    step = _step(global_step, "inverse_time_decay")
    with name_scope(name, "InverseTimeDecay") as scope:
        rate, passed = _rate_and_decays(learning_rate, step, decay_steps, staircase)
        divisor = 1.0 + multiply(cast(decay_rate, rate.dtype.base_dtype), passed)
        decayed: Tensor = divide(rate, divisor, name=scope)
        return decayed


@symbol("train.polynomial_decay")
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """From learning_rate to end_learning_rate in decay_steps steps, by (1 - s) ^ power.

    With `cycle` it begins again, each time with twice, three times, ... the steps.
    """
    step = _step(global_step, "polynomial_decay")
    with name_scope(name, "PolynomialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        dtype = rate.dtype.base_dtype
        end, exponent = cast(end_learning_rate, dtype), cast(power, dtype)
        now, steps = cast(step, dtype), cast(decay_steps, dtype)
        if cycle:
            rounds = ceil(divide(now, steps))
            steps = multiply(steps, where(now > 0, rounds, convert_to_tensor(1.0, dtype)))
        else:
            now = minimum(now, steps)
        left = pow(subtract(1.0, divide(now, steps)), exponent)
        decayed: Tensor = add(multiply(subtract(rate, end), left), end, name=scope)
        return decayed


@symbol("train.cosine_decay")
def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: float = 0.0,
    name: Optional[str] = None,
) -> Tensor:
    """Half a wave of a cosine from learning_rate to alpha * learning_rate."""
    step = _step(global_step, "cosine decay")
    with name_scope(name, "CosineDecay"):
        rate, _, passed = _rate_and_share(learning_rate, step, decay_steps)
        return multiply(rate, (1 - alpha) * _wave(passed) + alpha)


@symbol("train.linear_cosine_decay")
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: Optional[str] = None,
) -> Tensor:
    """learning_rate * ((alpha + linear decay) * cosine of num_periods periods + beta)."""
    step = _step(global_step, "linear cosine decay")
    with name_scope(name, "LinearCosineDecay"):
        rate, _, passed = _rate_and_share(learning_rate, step, decay_steps)
        return multiply(rate, (alpha + (1.0 - passed)) * _wave(passed, num_periods) + beta)


@symbol("train.cosine_decay_restarts")
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: Optional[str] = None,
) -> Tensor:
    """Cosine decay that starts again, t_mul times as long and m_mul times as high each time."""
    step = _step(global_step, "cosine decay restarts")
    with name_scope(name, "SGDRDecay"):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype.base_dtype
        passed = divide(cast(step, dtype), cast(first_decay_steps, dtype))
        if t_mul == 1.0:
            rounds = floor(passed)
            passed = passed - rounds
        else:
            rounds = floor(log(1.0 - passed * (1.0 - t_mul)) / math.log(t_mul))
            before = (1.0 - pow(constant(t_mul, dtype), rounds)) / (1.0 - t_mul)
            passed = (passed - before) / pow(constant(t_mul, dtype), rounds)
        height = pow(constant(m_mul, dtype), rounds)
        return multiply(rate, (1 - alpha) * (height * _wave(passed)) + alpha, name=name)


@symbol("train.piecewise_constant", "train.piecewise_constant_decay")
def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: Optional[str] = None
) -> Tensor:
    """values[i] for the first i with x <= boundaries[i]; the last value beyond all.

    Raises:
        ValueError: there is not one value more than boundaries.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name, "PiecewiseConstant"):
        at = convert_to_tensor(x)
        made = convert_to_tensor(values[-1])
        for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
            inside = at <= cast(boundary, at.dtype.base_dtype)
            made = where(inside, convert_to_tensor(value, made.dtype.base_dtype), made)
        return made


@symbol("train.noisy_linear_cosine_decay")
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: Optional[str] = None,
) -> Tensor:
    """`linear_cosine_decay` with noise on the linear part whose variance falls with the step."""
    step = _step(global_step, "noisy linear cosine decay")
    with name_scope(name, "NoisyLinearCosineDecay"):
        rate, now, passed = _rate_and_share(learning_rate, step, decay_steps)
        dtype = rate.dtype.base_dtype
        spread = sqrt(initial_variance / pow(1.0 + now, constant(variance_decay, dtype)))
        noisy = (1.0 - passed) + random_normal([], dtype=dtype) * spread
        return multiply(rate, (alpha + noisy) * _wave(passed, num_periods) + beta)
