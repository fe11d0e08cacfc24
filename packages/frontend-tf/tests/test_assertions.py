"""`tf.assert_*` and `tf.debugging`: at once where all is known, else when the graph runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


def test_what_is_known_is_told_at_once() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3])

        with pytest.raises(ValueError, match=r"must have rank in \(0, 1\)"):
            tf.assert_rank_in(x, (0, 1))
        with pytest.raises(TypeError, match="to be integer type"):
            tf.assert_integer(x)
        with pytest.raises(ValueError, match=r"Expected .*float64"):
            tf.debugging.assert_same_float_dtype([x], tf.float64)
        with pytest.raises(TypeError, match="to be iterable"):
            tf.debugging.assert_proper_iterable(x)
        tf.debugging.assert_proper_iterable([x])
        assert tf.debugging.assert_same_float_dtype([None, x]) is tf.float32
        assert tf.assert_rank_in(x, (1, 2)).type == "NoOp"


def test_near_numbers_are_told_from_others_when_they_run() -> None:
    """By ten times the precision of the dtype, if nothing is said."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        near = tf.debugging.assert_near(x, [1.0, 1000.0])
        loose = tf.debugging.assert_near(x, [1.0, 1000.0], rtol=0.01)

        session.run(near, {x: [1.0 + 1e-6, 1000.0]})
        session.run(loose, {x: [1.005, 1000.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="not equal to tolerance"):
            session.run(near, {x: [1.005, 1000.0]})


@pytest.mark.parametrize(("dims", "holds"), [([3], True), ([3, 1, 1], False)])
def test_a_rank_that_is_fed(dims: Any, holds: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        check = tf.assert_rank_in(x, (1, 2))

        if holds:
            session.run(check, {x: np.zeros(dims)})
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank in"):
                session.run(check, {x: np.zeros(dims)})
