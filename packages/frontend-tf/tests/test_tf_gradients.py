"""`tf.gradients`: of values, rows, functions with gradients of their own."""

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def test_gradients_of_a_layer_by_hand() -> None:
    """And their own gradients."""
    x, w = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([[0.1], [0.2]])
    y = tf.tanh(tf.matmul(x, w))
    (dw,) = tf.gradients(y, w)
    (ddw,) = tf.gradients(tf.reduce_sum(dw), w)

    with tf.Session() as session:
        session.run(w.initializer)
        found, second = session.run([dw, ddw])

    xs, t = np.array([[1.0, 2.0], [3.0, 4.0]]), np.tanh([[0.5], [1.1]])
    np.testing.assert_allclose(found, xs.T @ (1 - t**2), rtol=1e-5)
    inner = xs.sum(1, keepdims=True) * -2 * t * (1 - t**2)
    np.testing.assert_allclose(second, xs.T @ inner, rtol=1e-5)


def test_what_is_not_connected_has_no_gradient() -> None:
    """By no path, through an integer, or stopped; `stop_gradients` makes constants."""
    x, z = tf.constant(2.0), tf.constant(3.0)
    y = x * x

    assert tf.gradients(y, z) == [None]
    assert tf.gradients(tf.cast(tf.cast(y, tf.int32), tf.float32), x) == [None]
    assert tf.gradients(tf.stop_gradient(y), x) == [None]
    with tf.Session() as session:
        assert session.run(tf.gradients(y * x, x, stop_gradients=[y])) == [4.0]


def test_a_table_that_is_gathered_from_has_rows_as_gradient() -> None:
    """Each use one row, also equal ones."""
    table = tf.Variable(np.arange(8, dtype="float32").reshape(4, 2))
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, [1, 3, 1])))
    (rows,) = tf.gradients(loss, table)

    with tf.Session() as session:
        session.run(table.initializer)
        found = session.run(rows)
        dense = session.run(tf.convert_to_tensor(rows))

    assert isinstance(rows, tf.IndexedSlices)
    assert found.indices.tolist() == [1, 3, 1]
    assert found.values.tolist() == [[4.0, 6.0], [12.0, 14.0], [4.0, 6.0]]
    assert dense.tolist() == [[0.0, 0.0], [8.0, 12.0], [0.0, 0.0], [12.0, 14.0]]


def test_a_gradient_of_its_own() -> None:
    """By `custom_gradient`, and by the type of an operation."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # names of tf are found when used
    def double(x: Any) -> Any:
        return x * 2.0, lambda dy: dy * 100.0

    @tf.RegisterGradient("Negated")  # type: ignore[untyped-decorator]  # likewise
    def _negated(op: Any, dy: Any) -> Any:
        return -dy

    x = tf.constant(3.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "Negated"}):
        z = tf.identity(x)

    with tf.Session() as session:
        assert session.run(double(x)) == 6.0
        assert session.run(tf.gradients([double(x), z], x)) == [99.0]


def test_head_gradients_of_other_shapes_are_reshaped_or_spread() -> None:
    """As TensorFlow's gradients do of a reshape and of a square; others do not fit."""
    x = tf.ones([2, 2])
    as_they_come = tf.constant([[[1.0, 2.0], [3.0, 4.0]]])
    (rows,) = tf.gradients(tf.reshape(x, [4, 1]), x, as_they_come)
    (spread,) = tf.gradients(tf.square(x), x, tf.constant([2.0, 3.0]))

    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(rows), [[1, 2], [3, 4]])
        np.testing.assert_array_equal(session.run(spread), [[4, 6], [4, 6]])
    with pytest.raises(ValueError, match=r"grad_ys\[0\] is of shape \(3,\), its y \(2, 2\)"):
        tf.gradients(x, x, tf.ones([3]))


def test_rows_are_added_to_a_tensor_as_the_tensor_that_they_are() -> None:
    """The gradient of what is gathered from, on the right of an operator."""
    w = tf.Variable([[1.0], [2.0]])
    (dw,) = tf.gradients(tf.gather(w, [1, 1]), w)

    with tf.Session() as session:
        session.run(w.initializer)
        np.testing.assert_array_equal(session.run(tf.constant(1.0) + dw), [[1], [3]])
