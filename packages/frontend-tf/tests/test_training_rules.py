"""Optimizers, schedules, clipping and moving averages against TensorFlow's recorded numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training_values import OPTIMIZERS, averages, clipped, rates, trained

import byparts_frontend_tf as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "training.json").read_text())


def assert_same(got: Any, wanted: Any, tolerance: float = 2e-5) -> None:
    """Names and structures are equal, numbers nearly so."""
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for name, part in wanted.items():
            assert_same(got[name], part, tolerance)
    elif isinstance(wanted, str) or (isinstance(wanted, list) and isinstance(wanted[0], str)):
        assert got == wanted
    else:
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_trains_as_tensorflows_does(name: str) -> None:
    """Four steps of a dense and a sparse gradient: losses, variables, slots and their names."""
    kind, arguments = OPTIMIZERS[name]

    assert_same(trained(tf, getattr(tf.train, kind)(**arguments)), RECORDED[name])


def test_schedules() -> None:
    assert_same(rates(tf), RECORDED["rates"])


def test_clipping() -> None:
    assert_same(clipped(tf), RECORDED["clipped"])


def test_moving_averages() -> None:
    assert_same(averages(tf), RECORDED["averages"])


@pytest.mark.parametrize("kind", ["AdagradOptimizer", "ProximalAdagradOptimizer"])
def test_an_accumulator_begins_above_zero(kind: str) -> None:
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive: 0"):
        getattr(tf.train, kind)(0.1, initial_accumulator_value=0.0)


def test_dual_averaging_pulls_to_zero() -> None:
    """AdagradDA, against its equations."""
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", [2], initializer=tf.constant_initializer([1.0, -1.0]))
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdagradDAOptimizer(0.5, step, l1_regularization_strength=0.5)
        train = optimizer.apply_gradients([(tf.constant([2.0, 0.25]), w)], global_step=step)
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)

        # Before the second step global_step is 1: |4| - 0.5 and |0.5| - 0.5.
        wanted = [-0.5 * 3.5 / np.sqrt(0.1 + 8.0), 0.0]
        np.testing.assert_allclose(session.run(w), wanted, rtol=1e-6, atol=1e-9)


def test_the_global_step_is_one_variable() -> None:
    with tf.Graph().as_default():
        assert tf.train.get_global_step() is None
        step = tf.train.create_global_step()
        assert tf.train.get_or_create_global_step() is step and step.dtype.base_dtype == tf.int64
        with pytest.raises(ValueError, match='"global_step" already exists'):
            tf.train.create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step.assign_add(3))
            assert tf.train.global_step(session, step) == 3


def test_lists_are_asked_for() -> None:
    with pytest.raises(TypeError, match="t_list should be a sequence"):
        tf.clip_by_global_norm(tf.constant([1.0]), 1.0)
    with pytest.raises(ValueError, match="length of boundaries should be 1 less"):
        tf.train.piecewise_constant(1, [1, 2], [1.0, 2.0])
    with pytest.raises(ValueError, match="global_step is required for exponential_decay"):
        tf.train.exponential_decay(0.1, None, 1, 0.5)
