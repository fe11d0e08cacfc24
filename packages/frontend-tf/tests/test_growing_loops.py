"""Loops whose states grow: by the host, and as their rounds where a gradient passes."""

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def powers(n: object, w: object) -> object:
    """The rows 1, w, w², … of [1, 1], by a loop that appends them."""
    _, rows = tf.while_loop(
        lambda i, t: i < n,
        lambda i, t: [i + 1, tf.concat([t, t[-1:] * w], 0)],
        [tf.constant(0), tf.ones([1, 1])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 1])],
    )
    return rows


def test_a_gradient_passes_through_a_state_that_grows() -> None:
    """d(1 + w + w² + w³)/dw and the second derivative, for numbers of rounds that are fed."""
    w, n = tf.Variable(2.0), tf.placeholder(tf.int32, [])
    rows = powers(n, w)
    (first,) = tf.gradients(rows, w)
    (second,) = tf.gradients(first, w)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([rows, first, second], {n: k}) for k in (0, 3)]

    assert [f[0].ravel().tolist() for f in found] == [[1.0], [1.0, 2.0, 4.0, 8.0]]
    assert [f[1:] for f in found] == [[0.0, 0.0], [1 + 4 + 12.0, 2 + 12.0]]


def test_no_gradient_is_lost_in_silence() -> None:
    """Rounds that depend on what is computed are the host's, and a gradient through them an error."""
    w = tf.Variable(2.0)
    rows = powers(tf.to_int32(w * 2.0), w)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        assert session.run(rows).shape == (5, 1)
        with pytest.raises(tf.errors.UnimplementedError, match="no gradient passes through the lo"):
            session.run(tf.gradients(rows, w))


def test_an_array_of_rows_of_several_lengths() -> None:
    """Made outside of the loop that fills it; its size is fed."""
    w, n = tf.Variable(2.0), tf.placeholder(tf.int32, [])
    array = tf.TensorArray(tf.float32, size=n, infer_shape=False)
    _, filled = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.fill([i + 1], w))), [0, array]
    )
    together = filled.concat()
    (gradient,) = tf.gradients(together, w)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        assert np.array_equal(session.run(together, {n: 2}), [2.0, 2.0, 2.0])
        assert session.run(gradient, {n: 2}) == 3.0


@pytest.mark.parametrize(("counted", "most"), [(True, 10), (False, 10), (False, 2)])
def test_an_array_that_is_read_and_grows_ends_with_the_loop(counted: bool, most: int) -> None:
    """It has the rows that were written, not as many as the loop might have had rounds."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        start = tf.TensorArray(tf.float32, 1, True, clear_after_read=False).write(0, x)

        def test(i: Any, s: Any, rows: Any) -> Any:
            return i < 3 if counted else tf.reduce_sum(s) < 7.0

        def step(i: Any, s: Any, rows: Any) -> Any:
            place = tf.cast(tf.reduce_sum(s) * 0.0, tf.int32)
            return i + 1, s + 1.0, rows.write(i + 1, s + rows.read(place))

        loop = tf.while_loop(test, step, (0, x, start), maximum_iterations=most)
        rows = session.run(loop[2].stack(), {x: [0.0, 1.0]})

    expected = [[0, 1], [0, 2], [1, 3], [2, 4]]
    assert rows.tolist() == expected[: 1 + min(3, most)]


def test_a_branch_in_a_branch_that_waits_for_the_host_twice() -> None:
    """What reads it waits until its last function of Python is done."""

    def slowly() -> object:
        x = tf.py_func(lambda x: x + 1, [tf.exp(v * 0.0)], tf.float32)
        y = tf.py_func(lambda x: x + 1, [tf.exp(x * 0.0) + x], tf.float32)
        return tf.py_func(lambda x: x + 1, [tf.exp(y * 0.0) + y], tf.float32)

    v = tf.Variable(3.0)
    nothing = tf.constant(0.0)
    inner = lambda: tf.cond(v > 2, slowly, lambda: nothing)  # noqa: E731
    made = tf.cond(v > 1, inner, lambda: nothing) + 1

    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(made) == 7


def test_a_gradient_passes_through_a_loop_inside_one_of_the_host() -> None:
    """The outer one has a string as its state, the inner one an array of numbers."""

    def epoch(state: Any, _: object) -> Any:
        sums = tf.scan(lambda a, x: a + x * w, tf.constant([1.0, 2.0, 3.0]))
        (dw,) = tf.gradients(sums[-1], w)
        return tf.as_string(dw, precision=0), state[1] + sums[-1]

    w = tf.Variable(1.0)
    scanned = tf.scan(epoch, tf.range(2), (tf.constant(""), tf.constant(0.0)))

    with tf.Session() as session:
        session.run(w.initializer)
        texts, totals = session.run(scanned)
    assert texts.tolist() == [b"5", b"5"]
    assert totals.tolist() == [6.0, 12.0]


def test_functions_of_rows_of_strings() -> None:
    """Of loops: mapped, nested, folded, in a structure; complex numbers are rows, too."""
    x = tf.placeholder(tf.string, [None])
    to_number = tf.string_to_number
    with tf.Session(backends=("numpy",)) as session:
        made = [
            tf.map_fn(lambda a: to_number(a) * 2, x, dtype=tf.float32),
            tf.map_fn(lambda row: tf.map_fn(to_number, row, tf.float32), x[None], tf.float32),
            tf.foldl(lambda a, b: tf.string_join([a, b], "-"), x),
            tf.map_fn(lambda t: (t[0] + "?", -t[1]), (x, tf.range(2)), (tf.string, tf.int32))[0],
            tf.map_fn(lambda i: to_number(tf.gather(x, i)), tf.range(2), tf.float32),
            tf.map_fn(lambda c: c * c, tf.constant([1 + 2j, 3j])),
        ]
        doubled, nested, joined, asked, read, squares = session.run(made, {x: ["1", "2"]})

    assert doubled.tolist() == [2, 4] and nested.tolist() == [[1, 2]] and joined == b"1-2"
    assert asked.tolist() == [b"1?", b"2?"] and read.tolist() == [1, 2]
    assert squares.tolist() == [-3 + 4j, -9]


def test_a_gradient_that_does_not_pass_through_a_loop_of_the_host() -> None:
    """What strings give is an input of a model like any other."""
    x, w = tf.placeholder(tf.string, [None]), tf.Variable([3.0])
    rows = tf.map_fn(tf.string_to_number, x, dtype=tf.float32)
    (slope,) = tf.gradients(tf.reduce_sum(rows * w), [w])
    with tf.Session(backends=("numpy",)) as session:
        session.run(tf.global_variables_initializer())

        assert session.run(slope, {x: ["1", "2"]}).tolist() == [3]


def test_rounds_are_counted_without_a_look_beyond_the_last() -> None:
    """The place of the next read is beyond the end of the array when the loop ends."""
    data = tf.constant([1, 2, 3, 4])
    start = tf.placeholder(tf.int32, [])
    found = tf.while_loop(lambda i: i < 4, lambda i: data[i], [start])

    with tf.Session() as session:
        assert [session.run(found, {start: k}) for k in (0, 3, 4)] == [4, 4, 4]


TABLE = np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32)


def largest(logits: Any, k: int) -> Any:
    """The k largest of each row; the others are never drawn."""
    least = tf.nn.top_k(logits, k)[0][:, -1:]
    return tf.where(logits < least, tf.fill(tf.shape(logits), -1e10), logits)


def sampled(k: int, length: int, on_host: bool) -> Any:
    """OpenAI's sampler for GPT-2: past keys grow; of each logits the k largest are drawn from."""
    table = tf.constant(TABLE)

    def step(past: Any, token: Any, output: Any) -> list[Any]:
        past = tf.concat([past, tf.gather(table, token)[:, None]], 1)
        logits = tf.reduce_sum(past, 1)
        logits = tf.cond(tf.equal(k, 0), lambda: logits, lambda: largest(logits, k))
        drawn = tf.multinomial(logits, 1, output_dtype=tf.int32)
        if on_host:
            drawn = tf.reshape(tf.py_func(np.copy, [drawn], tf.int32), [2, 1])
        return [past, drawn[:, 0], tf.concat([output, drawn], 1)]

    start = [tf.zeros([2, 1, 7]), tf.constant([1, 5]), tf.constant([[1], [5]])]
    shapes = [tf.TensorShape([2, None, 7]), tf.TensorShape([2]), tf.TensorShape([2, None])]
    return tf.while_loop(
        *(lambda *_: True, step, start, shapes), back_prop=False, maximum_iterations=length
    )


@pytest.mark.parametrize("on_host", [False, True])
def test_a_branch_in_a_loop_that_grows_stands_for_what_it_is_alone(on_host: bool) -> None:
    """Each token, drawn from the largest logit alone, is NumPy's argmax over the sum so far."""
    past, _, output = sampled(1, 4, on_host)
    tokens, sums = [[1, 5]], np.zeros([2, 7])
    for _ in range(4):
        sums = sums + TABLE[tokens[-1]]
        tokens.append(sums.argmax(1).tolist())
    with tf.Session() as session:
        keys, found = session.run([past, output])

    assert keys.shape == (2, 5, 7) and found.T.tolist() == tokens


def test_a_gradient_passes_a_branch_in_a_loop_that_grows() -> None:
    """d(1 + w + w² + w³)/dw, where a constant says which side multiplies."""
    w = tf.Variable(2.0)
    rows = tf.while_loop(
        lambda t: True,
        lambda t: [tf.concat([t, tf.cond(tf.equal(1, 1), lambda: w * t[-1:], lambda: t[-1:])], 0)],
        *([tf.ones([1])], [tf.TensorShape([None])]),
        maximum_iterations=3,
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        assert session.run(tf.gradients(rows, w)) == [1 + 4 + 12.0]


def test_a_loop_that_grows_is_in_another() -> None:
    def grown(x: Any, more: Any, rounds: int) -> Any:
        return tf.while_loop(
            *(lambda x: True, lambda x: [more(x)], [x], [tf.TensorShape([None])]),
            maximum_iterations=rounds,
        )

    def once(x: Any) -> Any:
        return tf.cond(tf.equal(1, 1), lambda: tf.concat([x, x[-1:] + 1], 0), lambda: x)

    rows = grown(tf.zeros([1]), lambda x: grown(x, once, 2), 3)
    with tf.Session() as session:
        assert session.run(rows).tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_gradient_of_ones_own_has_a_branch() -> None:
    """The condition is a constant, or fed: only that side is there."""
    fed = tf.placeholder(tf.bool, [])

    def halved(dy: Any) -> Any:
        return tf.cond(tf.equal(3, 0), lambda: dy, lambda: dy / 2)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # TensorFlow's
    def doubled(x: Any) -> Any:
        return x * 2, lambda dy: tf.cond(fed, lambda: dy * 10, lambda: halved(dy))

    x = tf.constant([1.0, 2.0])
    with tf.Session() as session:
        sides = [session.run(tf.gradients(doubled(x), x)[0], {fed: f})[0] for f in (True, False)]

    assert sides == [10, 0.5]
