"""TinyFlow's tests of gradients, and the gradients it could not take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import byparts_tinyflow as tf
from byparts_graph_ir import GraphError

X = np.arange(1.0, 7.0).reshape(2, 3)
Y = np.arange(2.0, 8.0).reshape(2, 3)


def run(values: Any, feeds: dict[tf.Symbol, Any]) -> Any:
    return tf.Session().run(values, feeds)


def test_tf_gr_1_add() -> None:
    """TF-GR-1: ones for both."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    dx, dy = run(tf.gradients(x + y, [x, y]), {x: X, y: Y})

    assert_allclose(dx, np.ones((2, 3)))
    assert_allclose(dy, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        pytest.param(lambda x: 14 * x, 14.0, id="tf_gr_2"),
        pytest.param(lambda x: -14 * tf.reduce_sum(x), -14.0, id="tf_gr_3"),
        pytest.param(lambda x: -14 * tf.reduce_mean(x), -14.0 / 6, id="tf_gr_4"),
    ],
)
def test_of_one_tensor(f: Any, expected: float) -> None:
    """TF-GR-2..4: times a number, sum, mean."""
    x = tf.placeholder(tf.float32)
    (dx,) = run(tf.gradients(f(x), [x]), {x: X})

    assert_allclose(dx, np.full((2, 3), expected), rtol=1e-6)


def test_tf_gr_5_matmul() -> None:
    """TF-GR-5: 4 * ones times the other, transposed."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    dx, dy = run(tf.gradients(4 * tf.matmul(x, y), [x, y]), {x: X, y: Y.T})

    assert_allclose(dx, 4 * np.ones((2, 2)) @ Y)
    assert_allclose(dy, 4 * X.T @ np.ones((2, 2)))


def test_a_single_x_gives_a_list_and_head_gradients_count() -> None:
    """As TinyFlow's: always a list; grad_ys weighs the outputs."""
    x, head = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    found = tf.gradients(tf.exp(x), x, head)

    assert isinstance(found, list) and len(found) == 1
    assert_allclose(run(found[0], {x: X, head: Y}), Y * np.exp(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "second"),
    [
        pytest.param(tf.exp, np.exp, id="t2_exp"),
        pytest.param(lambda x: x * x, lambda x: 2 * np.ones_like(x), id="t3_fan_out"),
        pytest.param(lambda x: tf.matmul(x, x), None, id="t5_matmul"),
        pytest.param(lambda x: tf.nn.softmax(x), None, id="n2_softmax"),
    ],
)
def test_second_order(f: Any, second: Any) -> None:
    """T2, T3, T5: gradients of gradients, against central differences of the first."""
    x = tf.placeholder(tf.float32)
    weights = np.random.default_rng(1).random((3, 3), "float32")
    value = np.random.default_rng(0).random((3, 3))
    (first,) = tf.gradients(tf.reduce_sum(f(x) * weights), [x])
    (dx,) = tf.gradients(tf.reduce_sum(first * first), [x])
    got = run(dx, {x: value})

    def g(v: Any) -> float:
        return float((run(first, {x: v}).astype("float64") ** 2).sum())

    step = 1e-2
    for i in np.ndindex(3, 3):
        d = np.zeros((3, 3))
        d[i] = step
        assert abs((g(value + d) - g(value - d)) / (2 * step) - got[i]) < 2e-2 * max(1, abs(got[i]))


def test_t4_unreachable_is_an_error_that_names_it() -> None:
    """T4: TinyFlow crashed."""
    x, y = tf.placeholder(tf.float32, name="left"), tf.placeholder(tf.float32, name="right")
    with pytest.raises(GraphError, match="right"):
        tf.gradients(tf.exp(x), [y])


def test_t6_argmax_off_the_path_is_no_obstacle() -> None:
    """T6: an op without gradient matters only between x and y."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    (dx,) = run(
        tf.gradients(tf.reduce_sum(x * x) + tf.reduce_sum(tf.argmax(y, 0)), [x]), {x: X, y: Y}
    )

    assert_allclose(dx, 2 * X)
