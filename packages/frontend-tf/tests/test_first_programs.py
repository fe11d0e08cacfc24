"""Small programs: fetches, feeds, numbers that decide shapes, variables."""

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def test_fetches_keep_their_structure() -> None:
    """Dicts, tuples, names, operations."""
    x = tf.constant(2.0, name="x")

    with tf.Session() as session:
        found = session.run({"a": [x * 3.0, (x, "x:0")], "b": tf.no_op()})

    assert found == {"a": [6.0, (2.0, 2.0)], "b": None}
    assert isinstance(found["a"], list)


def test_a_fed_number_decides_a_shape() -> None:
    """One program for each number that is fed, and none again."""
    x, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
    y = tf.reshape(x, [n, -1])

    with tf.Session() as session:
        shapes = [session.run(y, {x: np.ones((2, 3)), n: k}).shape for k in (3, 6, 3)]

        assert shapes == [(3, 2), (6, 1), (3, 2)]
        assert session.executor.statistics.misses == 2


def test_a_read_sees_the_writes_that_are_ordered_before_it() -> None:
    """And no other: not one that the same run makes, nor of another branch of it."""
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    with tf.control_dependencies([add]):
        after = v.read_value() * 10.0

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        assert session.run([after, v + 0.0, add]) == [20.0, 1.0, 2.0]
        assert session.run(v) == 2.0


@pytest.mark.parametrize(("resource", "first", "second"), [(False, 2.0, 12.0), (True, 1.0, 2.0)])
def test_a_fetched_variable_has_the_last_value_of_the_run(
    resource: bool, first: float, second: float
) -> None:
    """Its memory is copied out when all is done, as the output of any write to it; a resource is read."""
    v = tf.Variable(1.0, use_resource=resource)
    add, step = v.assign_add(1.0), tf.train.GradientDescentOptimizer(0.5).minimize(20.0 - 20.0 * v)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        assert session.run([add.op, v, tf.identity(v), v * 1.0]) == [None, first, first, 1.0]
        assert session.run([step, v]) == [None, second]
        assert session.run(v) == 12.0


def test_a_variable_without_a_value_is_an_error_that_names_it() -> None:
    """FailedPreconditionError, as programs catch it."""
    w = tf.Variable([1.0], name="weights")

    with (
        tf.Session() as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value weights"),
    ):
        session.run(w * 2.0)


def test_a_nested_feed_has_as_many_values_as_tensors() -> None:
    """Neither more nor fewer: none is dropped."""
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        assert session.run(a + b, {(a, b): (1.0, 2.0)}) == 3.0
        for values in ((1.0,), (1.0, 2.0, 3.0)):
            with pytest.raises(
                ValueError, match=rf"Cannot feed {len(values)} values for .* it has 2"
            ):
                session.run(a + b, {(a, b): values})
