"""Queues: order, blocking, closing, TensorFlow's messages; threads that share a session."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture
def session() -> Iterator[Any]:
    """A session of a graph of its own, both the default ones."""
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """A started thread, and a list that gets the result or the exception."""
    results: list[Any] = []

    def call() -> None:
        try:
            results.append(function())
        except tf.errors.OpError as error:
            results.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread, results


def test_elements_come_out_in_order(session: Any) -> None:
    """One by one, many at a time, as a dict where components have names."""
    queue = tf.FIFOQueue(9, [tf.float32, tf.string], [[2], []], names=["x", "s"], name="q")
    put = queue.enqueue_many({"x": np.arange(6.0).reshape(3, 2), "s": ["a", "b", "c"]})
    session.run([put])
    one, two = queue.dequeue(), queue.dequeue_many(2)

    assert (queue.name, put.name, one["x"].name) == ("q", "q_EnqueueMany", "q_Dequeue:0")
    assert (two["x"].shape.as_list(), queue.size().name) == ([2, 2], "q_Size:0")
    assert session.run(one)["s"] == b"a"
    assert session.run(two)["x"].tolist() == [[2, 3], [4, 5]]
    assert session.run(queue.size()) == 0


def test_what_was_put_does_not_change(session: Any) -> None:
    """A fed array may be used again."""
    queue, x = tf.FIFOQueue(2, tf.float32, [[2]]), tf.placeholder(tf.float32, [2])
    array = np.zeros(2, np.float32)
    session.run(queue.enqueue(x), {x: array})
    array[:] = 7

    assert session.run(queue.dequeue()).tolist() == [0, 0]


def test_closed_queues_say_what_tensorflow_says(session: Any) -> None:
    """`OutOfRangeError` when too few are left, which `dequeue_up_to` takes; `CancelledError`."""
    queue = tf.FIFOQueue(5, tf.int32, [[]], name="q")
    put, many, rest = queue.enqueue(1), queue.dequeue_many(2), queue.dequeue_up_to(2)
    session.run(put)
    session.run(queue.close())

    with pytest.raises(tf.errors.OutOfRangeError, match="FIFOQueue '_0_q' is closed and has insu"):
        session.run(many)
    with pytest.raises(tf.errors.CancelledError, match="FIFOQueue '_0_q' is closed"):
        session.run(put)
    assert session.run([rest, queue.is_closed()]) == [[1], True]
    with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 2, current size 0") as raised:
        session.run(rest)
    assert raised.value.op is rest.op


def test_padding_and_priorities(session: Any) -> None:
    """Shorter components get zeros; the smallest number comes first, of equal ones the older."""
    padded, x = tf.PaddingFIFOQueue(9, tf.int32, [[None]]), tf.placeholder(tf.int32, [None])
    for row in ([1], [1, 2, 3]):
        session.run(padded.enqueue([x]), {x: row})
    first = tf.PriorityQueue(9, tf.string, [[]])
    session.run(first.enqueue_many([np.array([3, 1, 3]), ["c", "a", "d"]]))

    assert session.run(padded.dequeue_many(2)).tolist() == [[1, 0, 0], [1, 2, 3]]
    assert session.run(first.dequeue_many(3)[1]).tolist() == [b"a", b"c", b"d"]


def test_shuffled_elements_are_all_there(session: Any) -> None:
    """Some stay behind until the queue is closed; a seed says the order."""
    orders = []
    for _ in range(2):
        queue = tf.RandomShuffleQueue(20, 5, tf.int32, [[]], seed=3)
        session.run(queue.enqueue_many([tf.range(20)]))
        first = session.run(queue.dequeue_many(15))
        rest = queue.dequeue_many(5)
        waiting, got = in_thread(partial(session.run, rest))
        session.run(queue.close())
        waiting.join()
        orders.append([*first, *got[0]])

    assert sorted(orders[0]) == list(range(20))
    assert orders[0] == orders[1] != list(range(20))


def test_who_waits_is_woken_or_cancelled(session: Any) -> None:
    """By an element, by room, by `close`, by the end of the session; a time limit ends it, too."""
    queue, x = tf.FIFOQueue(1, tf.int32, [[]]), tf.placeholder(tf.int32, [])
    put, take = queue.enqueue(x), queue.dequeue()
    taker, taken = in_thread(lambda: session.run(take))
    session.run(put, {x: 1})
    taker.join()
    session.run(put, {x: 2})
    putter, put_result = in_thread(lambda: session.run(put, {x: 3}))
    assert [*taken, session.run(take), session.run(take)] == [1, 2, 3]
    putter.join()
    assert put_result == [None]
    with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
        session.run(take, options=tf.RunOptions(timeout_in_ms=1))
    taker, taken = in_thread(lambda: session.run(take))
    session.close()
    taker.join()
    assert isinstance(taken[0], (tf.errors.CancelledError,))
    assert "cancelled" in str(taken[0])


def test_a_queue_is_chosen_by_number(session: Any) -> None:
    """`from_list`, with a number that is fed; a queue has one state in each session."""
    queues = [tf.FIFOQueue(2, tf.int32, [[]]) for _ in range(2)]
    index = tf.placeholder(tf.int32, [])
    for i, queue in enumerate(queues):
        session.run(queue.enqueue(10 * i))
    chosen = tf.QueueBase.from_list(index, queues)

    assert session.run(chosen.dequeue(), {index: 1}) == 10
    with tf.Session(graph=session.graph) as other:
        assert other.run(queues[0].size()) == 0


def test_shapes_are_checked(session: Any) -> None:
    """When the graph is built, and when it runs."""
    queue, x = tf.FIFOQueue(1, tf.float32, [[2]]), tf.placeholder(tf.float32)

    with pytest.raises(ValueError, match="incompatible"):
        queue.enqueue(tf.zeros([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[2\], got \[3\]"):
        session.run(queue.enqueue(x), {x: [1.0, 2.0, 3.0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="to have specified shapes"):
        session.run(tf.FIFOQueue(1, tf.float32).dequeue_many(2))


def test_an_effect_waits_for_the_checks_before_it(session: Any) -> None:
    """What fails puts nothing into a queue, though all of it is constant."""
    queue, ok = tf.FIFOQueue(5, tf.string, [[]]), tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.Assert(ok, ["no"])]):
        put = tf.group(queue.enqueue("s"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        session.run(put, {ok: False})
    session.run(put, {ok: True})

    assert session.run(queue.size()) == 1


def test_threads_share_a_session_while_it_trains(session: Any) -> None:
    """Eight threads find out and run the same steps at once; each addition counts once."""
    total, x = tf.Variable(0.0), tf.placeholder(tf.float32, [None])
    queue = tf.FIFOQueue(3, tf.float32, [[]])
    put = queue.enqueue(tf.reduce_sum(x * 2.0))
    add = total.assign_add(queue.dequeue())
    session.run(tf.global_variables_initializer())
    lengths = [1 + i % 3 for i in range(8)]

    def work(n: int) -> None:
        for _ in range(5):
            session.run(put, {x: np.ones(n)})

    threads = [in_thread(partial(work, n))[0] for n in lengths]
    for _ in range(40):
        session.run(add)
    for thread in threads:
        thread.join()

    assert session.run(total) == 2 * 5 * sum(lengths)
