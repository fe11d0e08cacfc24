"""Streams of random operations: each has its own, in every session, loop and branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

DRAWS: dict[str, Callable[[], Any]] = {
    "uniform": lambda: tf.random_uniform([5], seed=3),
    "integers": lambda: tf.random_uniform([5], maxval=1000, dtype=tf.int32, seed=3),
    "normal": lambda: tf.random_normal([5], seed=3),
    "truncated": lambda: tf.truncated_normal([5], seed=3),
    "shuffle": lambda: tf.random_shuffle(tf.range(50), seed=3),
    "multinomial": lambda: tf.multinomial(tf.zeros([2, 50]), 4, seed=3),
    "gamma": lambda: tf.random_gamma([5], 2.0, seed=3),
    "poisson": lambda: tf.random_poisson([9.0], [5], seed=3),
    "dropout": lambda: tf.nn.dropout(tf.ones([50]), 0.5, seed=3),
    "candidates": lambda: tf.nn.uniform_candidate_sampler([[1]], 1, 5, True, 99, seed=3)[0],
}


def echo(x: Any) -> Any:
    """Copy by a function of Python, which no body of a loop can be."""
    return tf.py_func(np.copy, [x], tf.float32)


def drawn(_: Any) -> Any:
    """A number."""
    return tf.random_uniform([])


def growing(more: Callable[[], Any]) -> Any:
    """A loop of six rounds that concatenates to nothing."""
    return tf.while_loop(
        *(lambda x: True, lambda x: [tf.concat([x, more()], 0)], [tf.zeros([0])]),
        shape_invariants=[tf.TensorShape([None])],
        maximum_iterations=6,
    )


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


@pytest.mark.parametrize("name", DRAWS)
def test_two_operations_of_one_seed_draw_the_same(session: Any, name: str) -> None:
    """The second one's first draw is the first one's, in whichever run; then both go on."""
    first, second = DRAWS[name](), DRAWS[name]()
    a, b = session.run(first), session.run(second)
    again, once_more = session.run([first, second])

    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(again, once_more)
    assert not np.array_equal(a, again)


@pytest.mark.parametrize("name", DRAWS)
def test_a_session_begins_each_stream_anew(session: Any, name: str) -> None:
    """Draws are equal though the other session ran other operations between them."""
    random, other = DRAWS[name](), tf.random_normal([2], seed=8)
    first = [session.run(t) for t in (random, other, other, random)]
    with tf.Session() as second:
        assert [second.run(random).tolist() for _ in range(2)] == [v.tolist() for v in first[::3]]


def test_each_round_of_a_growing_loop_draws_others(session: Any) -> None:
    tf.set_random_seed(1)

    assert len(np.unique(session.run(growing(lambda: tf.random_uniform([1]))))) == 6


def test_the_host_draws_what_an_unrolled_loop_does(session: Any) -> None:
    """A function of Python has the host run the same loop: round for round the same numbers."""
    unrolled = growing(lambda: tf.random_uniform([1], seed=1))
    of_host = growing(lambda: echo(tf.random_uniform([1], seed=1)))

    np.testing.assert_array_equal(session.run(of_host), session.run(unrolled))


def test_a_gradient_sees_the_draws_of_each_round(session: Any) -> None:
    """The derivative of a weighted sum of scaled draws is the weighted sum of the draws."""
    tf.set_random_seed(1)
    w, weights = tf.constant(1.0), tf.range(1.0, 7.0)
    x = growing(lambda: w * tf.random_uniform([1]))
    draws, dw = session.run([x, tf.gradients(tf.reduce_sum(x * weights), w)[0]])

    assert len(np.unique(draws)) == 6
    assert dw == pytest.approx(draws @ np.arange(1.0, 7.0))


def test_a_loop_in_a_loop_draws_others(session: Any) -> None:
    """Two runs of 16 numbers without a seed are 32 numbers."""

    def row(_: Any) -> Any:
        return tf.map_fn(drawn, tf.range(4), dtype=tf.float32)

    table = tf.map_fn(row, tf.range(4), dtype=tf.float32)

    assert len(np.unique([session.run(table), session.run(table)])) == 32


def test_a_loop_in_a_branch_in_a_loop_draws_others(session: Any) -> None:
    def row(i: Any) -> Any:
        return tf.cond(i > 0.5, lambda: tf.map_fn(drawn, tf.range(4.0)), lambda: tf.zeros([4]))

    table = tf.map_fn(row, tf.range(4.0))

    assert len(np.unique(session.run(table))) == 13  # the first row is zeros


def test_a_draw_is_one_value_for_a_loop_of_the_host_that_draws(session: Any) -> None:
    """The loop draws between the program that draws it and the one that fetches it."""
    x = tf.random_uniform([1])
    loop = growing(lambda: echo(x + 0.0 * tf.random_uniform([1])))
    once, seen = session.run([x, loop])

    np.testing.assert_array_equal(seen, np.tile(once, 6))
