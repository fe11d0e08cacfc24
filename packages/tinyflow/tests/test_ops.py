"""TinyFlow's tests of its ops, by their rows in our notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import byparts_tinyflow as tf
from byparts_graph_ir import GraphError

ONES, FOURS = np.ones((2, 3)), 4 * np.ones((2, 3))


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x, y: x + y, id="tf_op_1"),
        pytest.param(lambda x, y: x - y, id="tf_op_2"),
        pytest.param(lambda x, y: x * y, id="tf_op_3"),
        pytest.param(lambda x, y: x / y, id="tf_op_4"),
        pytest.param(lambda x, y: x**y, id="tf_op_5"),
    ],
)
def test_two_tensors(f: Callable[..., Any]) -> None:
    """TF-OP-1..5: arithmetic on two placeholders equals NumPy's."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)

    assert_allclose(tf.Session().run(f(x, y), {x: ONES, y: FOURS}), f(ONES, FOURS), rtol=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: x + 10, id="tf_op_6"),
        pytest.param(lambda x: x - 10, id="tf_op_7"),
        pytest.param(lambda x: x * 10, id="tf_op_8"),
        pytest.param(lambda x: x / 10, id="tf_op_9"),
        pytest.param(lambda x: 10 - x, id="tf_op_10"),
        pytest.param(lambda x: 10**x, id="tf_op_11"),
        pytest.param(lambda x: 1 / x, id="t9_number_over_tensor"),
        pytest.param(lambda x: x**2, id="t9_tensor_to_a_number"),
        pytest.param(lambda x: -x, id="neg"),
    ],
)
def test_tensor_and_number(f: Callable[..., Any]) -> None:
    """TF-OP-6..11, and what TinyFlow lacked (T9): numbers on either side."""
    x = tf.placeholder(tf.float32)

    assert_allclose(tf.Session().run(f(x), {x: 2 * ONES}), f(2 * ONES), rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt"])
def test_tf_op_12_to_14_functions(name: str) -> None:
    """TF-OP-12..14: exp, log, sqrt of 2 equal NumPy's."""
    x = tf.placeholder(tf.float32)
    y = getattr(tf, name)(x)

    assert_allclose(tf.Session().run(y, {x: 2 * ONES}), getattr(np, name)(2 * ONES), rtol=1e-6)


def test_tf_op_15_softmax() -> None:
    """TF-OP-15: equal logits give equal shares, row by row."""
    x = tf.placeholder(tf.float32)

    assert_allclose(tf.Session().run(tf.nn.softmax(x), {x: np.ones((2, 4))}), np.full((2, 4), 0.25))


def test_tf_op_16_matmul() -> None:
    """TF-OP-16: matmul times a number."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    got = tf.Session().run(tf.matmul(x, y) * 4, {x: ONES, y: 4 * np.ones((3, 4))})

    assert_allclose(got, np.full((2, 4), 48.0))


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_tf_op_17_18_reductions(name: str) -> None:
    """TF-OP-17, 18: sum and mean over two of four axes."""
    x = tf.placeholder(tf.float32)
    value = np.random.default_rng(0).random((2, 4, 8, 7))
    got = tf.Session().run(getattr(tf, f"reduce_{name}")(x, reduction_indices=[1, 3]), {x: value})

    assert got.shape == (2, 8)
    assert_allclose(got, getattr(value, name)((1, 3)), rtol=1e-6)


def test_tf_op_19_argmax() -> None:
    """TF-OP-19: the index along an axis, as a float."""
    x = tf.placeholder(tf.float32)
    value = np.random.default_rng(0).random((700, 10))
    got = tf.Session().run(tf.argmax(x, 1), {x: value})

    assert got.dtype == "float32"
    assert_array_equal(got, value.argmax(1))


def test_tf_op_20_pad() -> None:
    """TF-OP-20: three channels of zeros before and behind."""
    x = tf.placeholder(tf.float32)
    y = tf.pad(tf.pad(x, dim=1, pad=-3), dim=1, pad=3)
    value = np.random.default_rng(0).random((100, 4, 28, 28)).astype("float32")
    got = tf.Session().run(y, {x: value})

    assert_array_equal(got, np.pad(value, ((0, 0), (3, 3), (0, 0), (0, 0))))


def test_t10_one_element_broadcasts_everywhere() -> None:
    """T10: shape (1,) is a scalar for every op, not for mul alone, and its gradient is (1,) too."""
    x, one = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y = (x + one) * one - x / one
    got, d_one = tf.Session().run([y, tf.gradients(y, [one])[0]], {x: FOURS, one: np.array([2.0])})

    assert_allclose(got, np.full((2, 3), 10.0))
    assert_allclose(d_one, [6 * (4 + 2 * 2) + 6 * 4 / 4])


def test_t11_unknown_arguments_are_errors() -> None:
    """T11: a typo such as num_fliter= is no longer ignored."""
    x = tf.placeholder(tf.float32)
    with pytest.raises(TypeError, match="num_fliter"):
        tf.nn.conv2d(x, num_fliter=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="foo"):
        tf.nn.relu(x, foo=3)


def test_t16_axes_of_two_digits_and_negative_ones() -> None:
    """T16: axis 10 is not axes 1 and 0, and -1 is the last."""
    x = tf.placeholder(tf.float32)
    value = np.random.default_rng(0).random((1,) * 10 + (3, 2))
    got = tf.Session().run([tf.reduce_sum(x, [10]), tf.reduce_sum(x, [-1])], {x: value})

    assert_allclose(got[0], value.sum(10), rtol=1e-6)
    assert_allclose(got[1], value.sum(-1), rtol=1e-6)


def test_equal_compares_as_floats() -> None:
    """1.0 and 0.0, as the accuracy of the examples needs."""
    x = tf.placeholder(tf.float32)
    got = tf.Session().run(tf.reduce_mean(tf.equal(x, tf.ones([2]))), {x: np.array([1.0, 2.0])})

    assert got == 0.5


def test_whole_reductions_format_like_numbers() -> None:
    """Shape (1,) could not be printed with %g; a 0-d value can."""
    x = tf.placeholder(tf.float32)
    loss = tf.Session().run(tf.reduce_mean(x), {x: FOURS})

    assert f"{loss:g}" == "4" and "%g" % (loss / 2) == "2" and np.shape(loss) == ()


def test_reduction_indices_are_integers() -> None:
    """Anything else is refused with its value."""
    with pytest.raises(GraphError, match=r"1.5"):
        tf.reduce_sum(tf.placeholder(tf.float32), [1.5])
