"""Queue runners, coordinators, producers, batches and readers, as programs use them together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults


@contextmanager
def running() -> Iterator[Any]:
    """A session whose queue runners run, stopped at the end."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coord)
        yield session
        coord.request_stop()
        coord.join(threads)


def until_the_end(session: Any, fetches: Any) -> list[Any]:
    """What runs give until the input ends."""
    found: list[Any] = []
    while True:
        try:
            found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            return found


@pytest.fixture(autouse=True)
def _graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(defaults, "backends", ("numpy",))
    with tf.Graph().as_default():
        yield


def test_files_to_batches(tmp_path: Path) -> None:
    """Names that are found, records, batches; the last one is smaller."""
    for k in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{k}.tf")) as file:
            for i in range(3):
                file.write(b"%d" % (10 * k + i))
    names = tf.train.match_filenames_once(str(tmp_path / "*.tf"))
    queue = tf.train.string_input_producer(names, num_epochs=2, shuffle=False)
    key, value = tf.TFRecordReader().read(queue)
    batch = tf.train.batch({"v": value, "k": key}, 5, allow_smaller_final_batch=True)

    assert batch["v"].get_shape().as_list() == [None]
    with running() as session:
        batches = until_the_end(session, batch)
    assert [len(b["v"]) for b in batches] == [5, 5, 2]
    assert [int(v) for b in batches for v in b["v"]] == [0, 1, 2, 10, 11, 12] * 2
    assert batches[0]["k"][1].endswith(b"0.tf:17")


def test_producers_have_tensorflows_names() -> None:
    """Of operations, collections and summaries; recorded from TensorFlow."""
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=2)
    tf.train.shuffle_batch([queue.dequeue()], 2, capacity=10, min_after_dequeue=3)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    keys = [tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.QUEUE_RUNNERS, tf.GraphKeys.SUMMARIES]

    assert {
        *("input_producer/limit_epochs/epochs", "input_producer/input_producer_EnqueueMany"),
        *("input_producer/input_producer_Close_1", "shuffle_batch/random_shuffle_queue_enqueue"),
        *("input_producer/RandomShuffle", "shuffle_batch", "input_producer_Dequeue"),
    } <= set(names)
    assert [[v.name for v in tf.get_collection(k)] for k in keys] == [
        ["input_producer/limit_epochs/epochs:0"],
        ["input_producer", "shuffle_batch/random_shuffle_queue"],
        ["input_producer/fraction_of_32_full:0", "shuffle_batch/fraction_over_3_of_7_full:0"],
    ]


def test_rows_are_shuffled_anew_each_epoch() -> None:
    """`slice_input_producer` gives rows of several tensors that belong together."""
    rows = np.arange(12.0).reshape(6, 2)
    number, row = tf.train.slice_input_producer([np.arange(6), rows], num_epochs=2, seed=1)
    batch = tf.train.batch([number, row], 6)
    with running() as session:
        (first, of_first), (second, _) = until_the_end(session, batch)

    assert sorted(first) == sorted(second) == list(range(6))
    assert first.tolist() != second.tolist()
    assert (of_first == rows[first]).all()


def test_batches_may_be_padded_joined_and_chosen() -> None:
    """`dynamic_pad`, `batch_join`, `maybe_batch`, `enqueue_many`."""
    n = tf.train.range_input_producer(6, shuffle=False).dequeue()  # endless: two read it
    padded = tf.train.batch([tf.range(n)], 3, dynamic_pad=True)
    odd = tf.train.maybe_batch([n], tf.equal(n % 2, 1), 3, num_threads=1)
    joined = tf.train.batch_join(
        [[tf.constant([1, 2])], [tf.constant([1, 2])]], 3, enqueue_many=True
    )
    with running() as session:
        assert session.run(joined).shape == (3,)
        rows = session.run(padded)

    assert rows.shape[0] == 3
    assert padded.shape.as_list() == [3, None]
    assert (odd.shape.as_list(), joined.name) == ([3], "batch_join:0")


def test_odd_ones_are_chosen() -> None:
    """`maybe_batch` leaves out what is not to be kept."""
    n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    odd = tf.train.maybe_batch([n], tf.equal(n % 2, 1), 3)
    with running() as session:
        assert session.run(odd).tolist() == [1, 3, 5]


def test_sequences_of_one_bucket_are_together() -> None:
    """Lengths in a batch are between the same boundaries; all come out."""
    n = tf.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue()
    lengths, (rows, number) = tf.contrib.training.bucket_by_sequence_length(
        n, [tf.range(n), n], 2, [3, 5], dynamic_pad=True, allow_smaller_final_batch=True
    )
    with running() as session:
        found = until_the_end(session, [lengths, rows, number])

    assert sorted(k for ks, _, _ in found for k in ks) == list(range(8))
    assert all(len({(k >= 3) + (k >= 5) for k in ks}) == 1 for ks, _, _ in found)
    assert all(r.shape == (len(ks), max(ks)) for ks, r, _ in found)


def test_readers(tmp_path: Path) -> None:
    """Keys and records as TensorFlow gives them; what was read is counted; files that are not there."""
    text, data = tmp_path / "a.txt", tmp_path / "b.bin"
    text.write_bytes(b"head\nx,1\r\ny,2")
    data.write_bytes(b"HHaabbF")
    names, x = tf.FIFOQueue(9, tf.string, [[]]), tf.placeholder(tf.string, [])
    put = names.enqueue(x)
    lines = tf.TextLineReader(skip_header_lines=1)
    pieces = tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=1)
    line, piece, whole = (
        lines.read(names),
        pieces.read_up_to(names, 5),
        tf.WholeFileReader().read(names),
    )
    with tf.Session() as session:
        session.run(put, {x: str(text)})
        assert [session.run(line) for _ in range(2)] == [
            (f"{text}:2".encode(), b"x,1"),
            (f"{text}:3".encode(), b"y,2"),
        ]
        session.run(put, {x: str(data)})
        keys, values = session.run(piece)
        assert (keys[1], values.tolist()) == (f"{data}:1".encode(), [b"aa", b"bb"])
        assert session.run([lines.num_records_produced(), pieces.num_work_units_completed()]) == [
            2,
            1,
        ]
        session.run(put, {x: "none"})
        with pytest.raises(tf.errors.NotFoundError, match="none; No such file or directory"):
            session.run(whole)
        session.run(tf.write_file(str(tmp_path / "new" / "c"), tf.read_file(str(data))))
    assert (tmp_path / "new" / "c").read_bytes() == b"HHaabbF"


def test_what_a_thread_raises_is_raised_by_join() -> None:
    """And the main thread sees that the queue is closed."""
    bad = tf.py_func(lambda: 1 // 0, [], tf.int64)
    bad.set_shape([])
    batch = tf.train.batch([bad], 2)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        with pytest.raises(tf.errors.OutOfRangeError, match="requested 2, current size 0"):
            session.run(batch)
        with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
            coord.join(threads)


def test_a_coordinator_stops_threads() -> None:
    """An exception in a block stops all; the end of input is none; late errors are raised at once."""
    coord = tf.train.Coordinator()
    threads = [threading.Thread(target=coord.wait_for_stop) for _ in range(2)]
    for thread in threads:
        thread.start()
    with coord.stop_on_exception():
        raise ValueError("the first")
    coord.request_stop(KeyError("the second"))
    with pytest.raises(ValueError, match="the first"):
        coord.join(threads)
    with pytest.raises(KeyError, match="late"):
        coord.request_stop(KeyError("late"))
    coord.clear_stop()
    assert not coord.should_stop()
    with coord.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "end")
    coord.join()
    assert coord.joined
    stays = threading.Event()
    thread = threading.Thread(target=stays.wait, daemon=True)
    thread.start()
    with pytest.raises(RuntimeError, match="threads still running"):
        coord.join([thread], stop_grace_period_secs=0)
    stays.set()


def test_a_looper_loops_until_the_stop() -> None:
    """Its function is called again and again."""
    coord, calls = tf.train.Coordinator(), []

    def call(limit: int) -> None:
        calls.append(1)
        if len(calls) == limit:
            coord.request_stop()

    thread = tf.train.LooperThread.loop(coord, 0, call, args=(3,))
    coord.join([thread])
    assert len(calls) == 3


def test_queue_runners_are_messages_too() -> None:
    """`to_proto` and `from_proto`; one that is started twice runs once."""
    tf.train.input_producer([1, 2])
    (runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    again = tf.train.QueueRunner.from_proto(runner.to_proto())

    assert again.enqueue_ops == runner.enqueue_ops
    assert again.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        assert len(threads) == 2
        assert runner.create_threads(session, coord) == []
        coord.request_stop()
        coord.join(threads)
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()


def test_staging_and_prefetching() -> None:
    """A step puts away what the next one takes; a queue of dicts in the background."""
    area = tf.contrib.staging.StagingArea([tf.float32], [[2]])
    put, (got,) = area.put([tf.ones([2])]), area.get()
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue(
        {"x": tf.constant([1.0, 2.0])}, capacity=2
    )
    element = queue.dequeue()
    with tf.Session() as session:
        session.run(put)
        assert session.run([area.size(), got][1]).tolist() == [1, 1]
        with tf.contrib.slim.queues.QueueRunners(session):
            assert session.run(element)["x"].tolist() == [1, 2]


def test_sparse_tensors_are_batched() -> None:
    """Each is three strings in the queue; a batch is one sparse tensor of a rank more."""
    n = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    row = tf.SparseTensor([[0], [2]], tf.stack([n, 10 * n]), [4])
    batch = tf.train.batch({"row": row, "n": n}, 3)
    with running() as session:
        rows, numbers = session.run([tf.sparse_tensor_to_dense(batch["row"]), batch["n"]])

    assert numbers.tolist() == [0, 1, 2]
    assert rows.tolist() == [[0, 0, 0, 0], [1, 0, 10, 0], [2, 0, 20, 0]]
