"""Optimizers on variables of every floating dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

TRAIN, KERAS, CONTRIB = tf.train, tf.keras.optimizers, tf.contrib.opt


def _keras(name: str) -> Any:
    return getattr(KERAS, name)(0.1)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "GradientDescent": lambda: TRAIN.GradientDescentOptimizer(0.1),
    "Momentum": lambda: TRAIN.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: TRAIN.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adam": lambda: TRAIN.AdamOptimizer(0.1),
    "Adagrad": lambda: TRAIN.AdagradOptimizer(0.1),
    "Adadelta": lambda: TRAIN.AdadeltaOptimizer(0.1),
    "RMSProp": lambda: TRAIN.RMSPropOptimizer(0.1),
    "RMSPropCentered": lambda: TRAIN.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "Ftrl": lambda: TRAIN.FtrlOptimizer(0.1),
    "ProximalGradientDescent": lambda: TRAIN.ProximalGradientDescentOptimizer(0.1),
    "ProximalAdagrad": lambda: TRAIN.ProximalAdagradOptimizer(0.1),
    "AdagradDA": lambda: TRAIN.AdagradDAOptimizer(0.1, TRAIN.get_or_create_global_step()),
    "AdaMax": lambda: CONTRIB.AdaMaxOptimizer(0.1),
    "LazyAdam": lambda: CONTRIB.LazyAdamOptimizer(0.1),
    "NadamOfContrib": lambda: CONTRIB.NadamOptimizer(0.1),
    "AdamW": lambda: CONTRIB.AdamWOptimizer(0.01, 0.1),
    "MomentumW": lambda: CONTRIB.MomentumWOptimizer(0.01, 0.1, 0.9),
    "MovingAverage": lambda: CONTRIB.MovingAverageOptimizer(TRAIN.GradientDescentOptimizer(0.1)),
    **{
        f"keras.{name}": partial(_keras, name)
        for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam")
    },
}
# beta2 = 0.999 is 1 in bf16: these divide by a mean square that stays 0, as TensorFlow's do
MEAN_SQUARES = {"Adam", "LazyAdam", "NadamOfContrib", "AdamW", "keras.Adam", "keras.Nadam"}


@cache
def trained(name: str, dtype: str) -> Any:
    """The variable, of `dtype`, after two steps on the sum of its squares."""
    with tf.Graph().as_default(), tf.Session() as session:
        optimizer = OPTIMIZERS[name]()
        v = tf.Variable(tf.cast(tf.constant([1.0, 2.0, 3.0]), dtype))
        loss = tf.reduce_sum(v * v)
        if name.startswith("keras."):
            step = optimizer.get_updates(loss, [v])
        else:
            step = optimizer.minimize(loss, TRAIN.get_or_create_global_step())
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step)
        return session.run(v)


def assert_trains_as_f32(name: str, dtype: str, epsilon: float) -> None:
    got = trained(name, dtype)

    assert got.dtype == tf.as_dtype(dtype).as_numpy_dtype
    np.testing.assert_allclose(np.float64(got), trained(name, "float32"), atol=4 * 3 * epsilon)


@pytest.mark.long  # another 25 programs; a number that f16 or bf16 cannot hold is told by those
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_updates_f64(name: str) -> None:
    """Two steps of f64 are those of f32, to what f32 rounds."""
    assert_trains_as_f32(name, "float64", 2.0**-24)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_updates_f16(name: str) -> None:
    """Two steps of f16 are those of f32, to what f16 rounds."""
    assert_trains_as_f32(name, "float16", 2.0**-11)


@pytest.mark.parametrize("name", sorted(set(OPTIMIZERS) - MEAN_SQUARES))
def test_an_optimizer_updates_bf16(name: str) -> None:
    """Two steps of bf16 are those of f32, to what bf16 rounds."""
    assert_trains_as_f32(name, "bfloat16", 2.0**-8)


def test_a_rate_of_f64_is_not_rounded_to_f32() -> None:
    """A third, of f64, moves a variable of f64 by a third to the last bit."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.float64(0))
        step = TRAIN.GradientDescentOptimizer(np.float64(1) / 3).minimize(-v)
        session.run(tf.global_variables_initializer())
        session.run(step)

        assert session.run(v) == 1 / 3
