"""What is built, and when: once for each set of fetches and types of feeds."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def test_alternating_fetches_build_nothing_again() -> None:
    """Two fetches, two batch sizes: four programs, whatever the order and however often."""
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(tf.ones([3, 2]))
    y = tf.matmul(x, w)
    step = w.assign_sub(0.1 * tf.gradients(tf.reduce_sum(y * y), w)[0])

    with tf.Session(backends=("numpy",)) as session:
        session.run(w.initializer)
        for _ in range(10):
            for n in (2, 4):
                session.run([step], {x: np.ones((n, 3))})
                session.run({"y": y}, {x: np.ones((n, 3))})

        assert session.executor.statistics.misses == 5
        assert sum(plan.built for plan in session._plans.values()) == 5


def test_operations_that_are_added_between_runs_build_nothing_again() -> None:
    """What was made of a part of a graph stays true when the graph grows."""
    x = tf.constant([1.0, 2.0])
    y = x * 2.0

    with tf.Session(backends=("numpy",)) as session:
        for k in range(3):
            session.run(y)
            tf.constant(float(k))

        assert session.executor.statistics.misses == 1


def test_a_variable_that_gets_another_shape_is_read_in_that_shape() -> None:
    """Programs bound to its old memory are forgotten."""
    p = tf.placeholder(tf.float32)
    v = tf.Variable(p, validate_shape=False)

    with tf.Session(backends=("numpy",)) as session:
        session.run(v.initializer, {p: [1.0, 2.0]})
        assert session.run(v + 1.0).tolist() == [2.0, 3.0]
        session.run(v.initializer, {p: [[5.0]]})
        assert session.run(v + 1.0).tolist() == [[6.0]]


def test_a_result_of_the_host_decides_a_shape() -> None:
    """A program, the host, a program; kept by the shapes that come up."""
    x = tf.placeholder(tf.float32, [None])
    y = tf.boolean_mask(x * 2.0, x * 2.0 > 3.0)
    (dx,) = tf.gradients(tf.reduce_sum(y * y), x)

    with tf.Session(backends=("numpy",)) as session:
        for _ in range(2):
            assert session.run([y, dx], {x: [1.0, 2.0, 3.0]})[0].tolist() == [4.0, 6.0]
            assert session.run([y, dx], {x: [3.0, 1.0, 1.0]})[1].tolist() == [24.0, 0.0, 0.0]

        assert session.executor.statistics.misses == 3


def test_the_host_reads_what_was_written_before_and_hands_the_order_on() -> None:
    """A function of Python and a string that wait for a write; readers that wait for these."""
    v = tf.Variable([1.0, 0.0], use_resource=False)
    with tf.control_dependencies([v.assign([0.0, 1.0])]):
        tens = tf.py_func(lambda x: x * 10, [v], tf.float32)
        text = tf.strings.as_string(v, precision=0)
        waits = tf.identity("a")
    with tf.control_dependencies([waits]):
        after = tf.identity(v)

    with tf.Session() as session:
        for fetch, expected in ((tens, [0, 10]), (text, [b"0", b"1"]), (after, [0, 1])):
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run(fetch), expected)


def test_what_is_fed_cuts_the_graph() -> None:
    """An intermediate result, by its object and by its name; what makes it is not needed."""
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(x, 1.0, name="y")
    z = y * 10.0

    with tf.Session(backends=("numpy",)) as session:
        assert session.run(z, {y: 5.0}) == 50.0
        assert session.run(z, {"y:0": 6.0}) == 60.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"must feed a value for .*'x'"):
            session.run(z)


def test_the_operators_of_a_hundred_variables_are_one_gradient_operation() -> None:
    """`tf.gradients` of many variables is lowered once."""
    weights = [tf.Variable(float(k)) for k in range(100)]
    made = tf.gradients(tf.add_n(weights), weights)

    assert len({g.op for g in made}) == 1


def test_lengths_of_one_maximum_build_one_program() -> None:
    """A mask as wide as the longest is for the longest, not for each set of lengths."""
    lengths = tf.placeholder(tf.int32, [None])
    count = tf.reduce_sum(tf.sequence_mask(lengths, dtype=tf.int32))

    with tf.Session(backends=("numpy",)) as session:
        assert [session.run(count, {lengths: [4, n, 1, 2]}) for n in (1, 2, 3)] == [8, 9, 10]
        assert sum(plan.built for plan in session._plans.values()) == 1


def test_slices_that_begin_anywhere_are_one_program() -> None:
    """Only the length of a slice decides a shape, whatever the bounds are; as NumPy slices."""
    data = np.arange(60.0, dtype=np.float32).reshape(3, 20)
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        x, i, j = tf.constant(data), tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
        batch = x[:, i : i + 5]
        for begin in range(10):
            assert session.run(batch, {i: begin}).tolist() == data[:, begin : begin + 5].tolist()
        assert session._plan(batch, (i,)).built == 1
        odd = [x[i:j, ::2], x[tf.newaxis, 1, i:j], x[..., i:j], x[i:-1]]
        for a, b in [(0, 2), (-2, 3), (2, 1), (1, 40)]:
            wanted = [data[a:b, ::2], data[None, 1, a:b], data[..., a:b], data[a:-1]]
            found = session.run(odd, {i: a, j: b})
            assert [f.tolist() for f in found] == [w.tolist() for w in wanted]


def test_a_slice_of_a_variable_is_assigned_to() -> None:
    """Rows from one fed number to another, an element; another place is no new program."""
    v = tf.Variable(tf.zeros([4, 2]))
    first, last = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    rows = tf.assign(v[first:last], tf.ones([2, 2]))
    element = v[first, 1].assign(5.0)

    with tf.Session(backends=("numpy",)) as session:
        session.run(v.initializer)
        session.run(rows, {first: 0, last: 2})
        built = session.executor.statistics.misses
        assert session.run(rows, {first: 1, last: 3}).sum() == 6
        assert session.executor.statistics.misses == built
        session.run(element, {first: 3})
        assert session.run(v).tolist() == [[1, 1], [1, 1], [1, 1], [0, 5]]


def test_a_slice_between_two_variables_is_as_long_as_they_say() -> None:
    """Its length is asked for once, where a program has to compute it."""
    first, last = tf.Variable(1), tf.Variable(3)
    x = tf.Variable([0.0, 1.0, 2.0, 3.0])

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(x[first:last]).tolist() == [1, 2]
        assert session.run(x[first:4]).tolist() == [1, 2, 3]


def test_a_function_of_python_that_gives_nothing_is_an_operation() -> None:
    """It is fetched, and waited for."""
    seen: list[float] = []
    op = tf.py_func(lambda x: seen.append(float(x)), [tf.constant(2.0)], [])
    with tf.control_dependencies([op]):
        after = tf.constant(1.0)

    with tf.Session() as session:
        assert session.run(op) is None
        session.run(after)
    assert isinstance(op, tf.Operation)
    assert seen == [2.0, 2.0]
