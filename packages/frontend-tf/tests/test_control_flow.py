"""Branches and loops: scans where the rounds are known, while loops, loops that the host runs."""

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_fed_condition_has_a_program_for_each_branch() -> None:
    """And only the operations of that branch."""
    training, x = tf.placeholder(tf.bool), tf.placeholder(tf.float32, [2])
    y = tf.cond(training, lambda: x * 2.0, lambda: x + 1.0)

    with tf.Session() as session:
        found = [session.run(y, {training: t, x: [1.0, 2.0]}).tolist() for t in (1, 0, 1, 0)]

        assert found == [[2.0, 4.0], [2.0, 3.0]] * 2
        assert session.executor.statistics.misses == 2


def test_only_what_is_made_in_a_branch_is_conditional() -> None:
    """An assignment made outside runs in any case."""
    v = tf.Variable(0.0)
    side = v.assign_add(1.0)
    inside = tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: v.assign_add(10.0))
    outside = tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: side + 0.0)

    with tf.Session() as session:
        session.run(v.initializer)
        session.run(inside)
        assert session.run(v) == 0.0
        session.run(outside)
        assert session.run(v) == 1.0


def test_a_branch_by_a_variable_writes_it() -> None:
    """Both branches are bodies of one program; what is written is a result of it."""
    v = tf.Variable(1.0)
    step = tf.cond(v < 3.0, lambda: v.assign_add(1.0), lambda: v.assign(0.0))

    with tf.Session() as session:
        session.run(v.initializer)

        assert [float(session.run(step)) for _ in range(5)] == [2.0, 3.0, 0.0, 1.0, 2.0]


def test_an_operation_that_a_branch_gives_stands_for_the_condition() -> None:
    """So one branch may give an operation and the other a bool."""
    test, v = tf.placeholder(tf.bool, []), tf.Variable(0.0)
    made = tf.cond(test, lambda: tf.logical_not(v.assign_add(1.0) > 5.0), tf.no_op)

    with tf.Session() as session:
        session.run(v.initializer)
        assert [bool(session.run(made, {test: t})) for t in (True, False)] == [True, False]
        assert session.run(v) == 1


def test_a_loop_of_known_rounds_is_differentiated() -> None:
    """The gradient of x^3 by a loop that multiplies three times."""
    x = tf.constant(2.0)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, 1.0))

    with tf.Session() as session:
        assert session.run([y, *tf.gradients(y, x)]) == [8.0, 12.0]


def test_a_loop_until_a_value_is_reached_is_differentiated() -> None:
    """The rounds depend on a variable, so they are not known before."""
    limit, x = tf.Variable(10.0), tf.constant(2.0)
    y = tf.while_loop(lambda a: a < limit, lambda a: a * x, [1.0])

    with tf.Session() as session:
        session.run(limit.initializer)

        assert session.run([y, *tf.gradients(y, x)]) == [16.0, 32.0]


def test_arrays_in_a_loop_are_sequences_and_rows() -> None:
    """A recurrent network by hand: values and gradients as of the unrolled one."""
    xs = np.random.default_rng(0).normal(size=(4, 1, 3)).astype("float32")
    x, w = tf.constant(xs), tf.constant(np.eye(3, dtype="float32") * 0.5)
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True)

    def body(i: Any, h: Any, out: Any) -> Any:
        new = tf.tanh(tf.matmul(h, w) + rows.read(i))
        return i + 1, new, out.write(i, new)

    loop = tf.while_loop(lambda i, *_: i < 4, body, (0, tf.zeros([1, 3]), out))
    looped = loop[2].stack()
    h, unrolled = tf.zeros([1, 3]), []
    for i in range(4):
        h = tf.tanh(tf.matmul(h, w) + x[i])
        unrolled.append(h)
    unrolled = tf.stack(unrolled)

    with tf.Session() as session:
        a, b = session.run([[y, *tf.gradients(y * y, [x, w])] for y in (looped, unrolled)])

    for one, other in zip(a, b, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_state_that_grows_is_run_by_the_host() -> None:
    """A shape invariant with an unknown dimension."""
    loop = tf.while_loop(
        lambda i, t: i < 4,
        lambda i, t: (i + 1, tf.concat([t, t[-1:] + 1.0], 0)),
        (0, tf.ones([1])),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )

    with tf.Session() as session:
        assert session.run(loop[1]).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_python_function_in_a_loop_is_run_by_the_host() -> None:
    """Each round is a run."""
    seen: list[float] = []

    def note(a: float) -> object:
        seen.append(float(a))
        return np.float32(a * 2)

    y = tf.while_loop(
        lambda a: a < 9.0, lambda a: tf.reshape(tf.py_func(note, [a], tf.float32), []), [1.0]
    )

    with tf.Session() as session:
        assert session.run(y) == 16.0
        assert seen == [1.0, 2.0, 4.0, 8.0]


def test_draws_in_a_loop_differ_from_round_to_round_and_run_to_run() -> None:
    """All of them, by one operation with a seed."""
    draw = lambda i, a: (i + 1, a.write(i, tf.random_normal([], seed=1)))  # noqa: E731
    rows = tf.while_loop(lambda i, _: i < 3, draw, (0, tf.TensorArray(tf.float32, 3)))[1].stack()

    with tf.Session() as session:
        found = [*session.run(rows), *session.run(rows)]

    assert len(set(map(float, found))) == 6


def test_a_loop_writes_a_variable_each_round() -> None:
    """Ordered by control dependencies inside the body."""
    v = tf.Variable(0.0)

    def body(i: Any) -> Any:
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [0])

    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(loop) == 4
        assert session.run(v) == 8.0


def test_wrong_loops_are_refused_when_they_are_built() -> None:
    """Another dtype, and another shape."""
    with pytest.raises(TypeError, match="int32 becomes float32"):
        tf.while_loop(lambda a: a < 3, lambda a: tf.cast(a, tf.float32), [0])
    with pytest.raises(ValueError, match="is not an invariant for the loop"):
        tf.while_loop(lambda a: a[0] < 3, lambda a: tf.concat([a, a], 0), [tf.ones([1])])
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        tf.cond(True, lambda: 1, lambda: 2)


def test_maps_and_folds_of_rows() -> None:
    """One inside the other, scans in both directions."""
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    folded = tf.map_fn(lambda v: tf.foldl(lambda a, b: a * 10.0 + b, v), rows)
    sums = tf.scan(lambda a, b: a + b, tf.range(4.0), reverse=True)

    with tf.Session() as session:
        assert session.run([folded, sums])[0].tolist() == [12.0, 34.0]
        assert session.run(sums).tolist() == [6.0, 6.0, 5.0, 3.0]


def test_shapes_that_constants_say_are_known_inside_a_loop() -> None:
    """As an axis that is computed from constants alone."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0, 2.0]])
        last = tf.while_loop(
            lambda i, total: i < 3,
            lambda i, total: (i + 1, total + tf.reduce_sum(x, tf.range(tf.rank(x)))),
            [0, 0.0],
        )

        assert session.run(last) == [3, 9.0]


def test_a_smart_condition_that_is_known_calls_one_function() -> None:
    """By the names of arguments of both places that have it."""
    with tf.Graph().as_default(), tf.Session() as session:
        one = tf.contrib.framework.smart_cond(True, true_fn=lambda: "yes", false_fn=lambda: "no")
        other = tf.contrib.layers.smart_cond(tf.constant(False), fn1=lambda: 1, fn2=lambda: 2)
        chosen = tf.contrib.framework.smart_case([(tf.constant(False), lambda: 1)], lambda: 3)
        x = tf.placeholder(tf.bool, [])
        fed = tf.contrib.framework.smart_case([(x, lambda: tf.constant(1))], lambda: tf.constant(3))

        assert (one, other, chosen, session.run(fed, {x: False})) == ("yes", 2, 3, 3)


def test_a_number_chooses_a_function() -> None:
    """Another number's is the default, or the last one."""
    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.placeholder(tf.int32, [])
        plain = tf.switch_case(i, [lambda: tf.constant(1), lambda: tf.constant(5)])
        named = tf.switch_case(i, {3: lambda: tf.constant(30)}, lambda: tf.constant(0))

        found = [session.run([plain, named], {i: n}) for n in (0, 1, 3)]
        assert found == [[1, 0], [5, 0], [5, 30]]


def test_a_python_function_is_called_with_values() -> None:
    """`numpy()` gives them; what is made by functions of tf is run."""
    with tf.Graph().as_default(), tf.Session() as session:
        length = tf.py_function(lambda s: len(s.numpy().decode()), [tf.constant("abc")], tf.int64)
        both = tf.py_function(
            lambda x: [x.numpy() + 1, tf.square(x)], [tf.constant([1.0, 2.0])], [tf.float32] * 2
        )

        assert session.run(length) == 3
        assert [a.tolist() for a in session.run(both)] == [[2.0, 3.0], [1.0, 4.0]]


def test_a_function_reads_another_and_a_program() -> None:
    """One input waits for a function on the host, the other is of the program before that."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(3.0)
        first = tf.py_func(lambda x: x + 1, [v * 2.0], tf.float32)
        second = tf.py_func(lambda x, y: x * y, [first, v * 5.0], tf.float32)
        session.run(v.initializer)

        assert session.run([second, v * 7.0]) == [105.0, 21.0]
