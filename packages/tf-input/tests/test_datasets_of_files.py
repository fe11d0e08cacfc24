"""Datasets of files, and `tf.data.experimental`: as TensorFlow answered for the same."""

from __future__ import annotations

import gzip
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import map_structure

Dataset = tf.data.Dataset
experimental = tf.data.experimental


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def elements(dataset: Any, most: int = 100) -> list[Any]:
    """What a one-shot iterator gives, as lists; errors by their names."""
    following = dataset.make_one_shot_iterator().get_next()
    found: list[Any] = []
    with tf.Session() as session:
        while len(found) < most:
            try:
                found.append(
                    map_structure(lambda v: np.asarray(v).tolist(), session.run(following))
                )
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.OpError as error:
                found.append(type(error).__name__)
    return found


def growing(end: int) -> Any:
    """Rows of one, two, ... elements."""
    return Dataset.range(1, end).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))


def test_lines_and_columns(tmp_path: Path) -> None:
    """Lines end anyhow; a quoted field may have several; a bad one is an error and no end."""
    path = tmp_path / "x.csv"
    path.write_bytes(b'h1,h2\r\n1,a\n\n2,"b\nc"\n3,d')

    lines = elements(tf.data.TextLineDataset(str(path)))
    rows = elements(experimental.CsvDataset(str(path), [tf.int32, "x"], header=True))

    assert lines == [b"h1,h2", b"1,a", b"", b'2,"b', b'c"', b"3,d"]
    assert rows == [(1, b"a"), "InvalidArgumentError", (2, b"b\nc"), (3, b"d")]


def test_records(tmp_path: Path) -> None:
    """Of several files, one after the other or by turns; compressed ones."""
    paths = [str(tmp_path / name) for name in ("a", "b")]
    for path in paths:
        with tf.python_io.TFRecordWriter(path) as writer:
            for i in range(2):
                writer.write(f"{path[-1]}{i}")
    packed = tmp_path / "lines.gz"
    packed.write_bytes(gzip.compress(b"one\ntwo\n"))

    assert elements(tf.data.TFRecordDataset(paths)) == [b"a0", b"a1", b"b0", b"b1"]
    turns = tf.data.TFRecordDataset(paths, num_parallel_reads=2)
    assert elements(turns) == [b"a0", b"b0", b"a1", b"b1"]
    listed = Dataset.list_files(str(tmp_path / "[ab]"), shuffle=False)
    assert elements(listed.flat_map(tf.data.TFRecordDataset)) == [b"a0", b"a1", b"b0", b"b1"]
    assert elements(tf.data.TextLineDataset(str(packed), "GZIP")) == [b"one", b"two"]
    assert elements(tf.data.TextLineDataset(paths[0] + "no")) == ["NotFoundError"]


def test_records_of_fixed_length(tmp_path: Path) -> None:
    """Without what stands in front of and behind them."""
    path = tmp_path / "x"
    path.write_bytes(b"habcdef")

    assert elements(tf.data.FixedLengthRecordDataset(str(path), 2, 1)) == [b"ab", b"cd", b"ef"]
    assert elements(tf.data.FixedLengthRecordDataset(str(path), 4, 1, 2)) == [b"abcd"]
    assert elements(tf.data.FixedLengthRecordDataset(str(path), 4)) == ["InvalidArgumentError"]


def test_groups_and_buckets() -> None:
    """Windows of equal keys; batches of elements of like length."""
    groups = Dataset.range(10).apply(
        experimental.group_by_window(lambda x: x % 3, lambda key, w: w.batch(4), 4)
    )
    given: Any = (lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2])
    buckets = growing(8).apply(experimental.bucket_by_sequence_length(*given))
    filled = growing(5).apply(
        experimental.bucket_by_sequence_length(*given, pad_to_bucket_boundary=True)
    )

    assert elements(groups) == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert [np.shape(b) for b in elements(buckets)] == [(2, 2), (2, 4), (2, 6), (1, 7)]
    assert [np.shape(b) for b in elements(filled)] == [(2, 2), (2, 4)]


def test_transformations() -> None:
    """What `Dataset.apply` takes."""
    five = Dataset.range(5)
    scan = experimental.scan(np.int64(10), lambda s, x: (s + x, s * x))
    twice = [Dataset.from_tensors(i).repeat(2) for i in range(2)]
    turns = experimental.choose_from_datasets(twice, Dataset.range(2).repeat(4))
    mixed = experimental.sample_from_datasets(twice, seed=1)

    assert elements(five.apply(scan)) == [0, 10, 22, 39, 64]
    assert elements(five.apply(experimental.take_while(lambda x: x < 3))) == [0, 1, 2]
    assert elements(five.batch(2).apply(experimental.unbatch())) == [0, 1, 2, 3, 4]
    assert elements(five.map(lambda x: x % 2).apply(experimental.unique())) == [0, 1]
    assert elements(turns) == [0, 1, 0, 1]
    assert sorted(elements(mixed)) == [0, 0, 1, 1]
    assert elements(experimental.Counter(3, 2), 3) == [3, 5, 7]
    assert elements(five.apply(experimental.map_and_batch(lambda x: -x, 3))) == [
        [0, -1, -2],
        [-3, -4],
    ]
    assert len(elements(five.apply(experimental.shuffle_and_repeat(3, 2)))) == 10
    slide = tf.contrib.data.sliding_window_batch(window_size=2, window_shift=3)
    assert elements(Dataset.zip((five, five)).apply(slide)) == [([0, 1], [0, 1]), ([3, 4], [3, 4])]
    errors = five.map(lambda x: tf.check_numerics(1 / (tf.cast(x, tf.float32) - 1), "no"))
    assert len(elements(errors.apply(experimental.ignore_errors()))) == 4


def test_the_one_element() -> None:
    """There has to be one."""
    with tf.Session() as session:
        assert session.run(experimental.get_single_element(Dataset.range(1))) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than one element"):
            session.run(experimental.get_single_element(Dataset.range(2)))


def test_sparse_elements() -> None:
    """Their slices, and batches of these."""
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 4])
    rows = Dataset.from_tensor_slices(sparse)

    assert rows.output_classes is tf.SparseTensor
    assert elements(rows) == [([[0]], [1], [4]), ([[2]], [2], [4])]
    assert elements(rows.batch(2)) == [([[0, 0], [1, 2]], [1, 2], [2, 4])]
    assert elements(rows.map(lambda s: s.values * 2)) == [[2], [4]]


def test_tables_of_csv_files(tmp_path: Path) -> None:
    """Names come from the first line, dtypes from the others."""
    path = tmp_path / "a.csv"
    path.write_text("x,y,z,w\n1,2.5,q,3000000000\n,3,r,1\n5,1,s,2\n")
    given: Any = {"num_epochs": 1, "shuffle": False}
    some = experimental.make_csv_dataset(str(path), 2, select_columns=["w", "y"], **given)
    defaults = [tf.constant([9]), tf.float32, "d", tf.int64]
    labelled = experimental.make_csv_dataset(str(path), 3, None, defaults, "x", **given)

    assert some.output_types == {"y": tf.float32, "w": tf.int64}
    assert type(some.output_types) is OrderedDict
    assert elements(some) == [{"y": [2.5, 3.0], "w": [3000000000, 1]}, {"y": [1.0], "w": [2]}]
    ((_, labels),) = elements(labelled)
    assert labels == [1, 9, 5]


def test_batches_of_examples(tmp_path: Path) -> None:
    """Of files of records, by datasets, by queues, and mixed without end."""
    path = str(tmp_path / "r")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(4):
            value = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            features = tf.train.Features(feature={"i": value})
            writer.write(tf.train.Example(features=features).SerializeToString())
    wanted = {"i": tf.FixedLenFeature([], tf.int64)}
    rows = experimental.make_batched_features_dataset(path, 3, wanted, num_epochs=1, shuffle=False)
    records = tf.python.ops.data_flow_ops.RecordInput(path, batch_size=4).get_yield_op()
    queued = tf.contrib.learn.io.read_batch_features(path, 2, wanted, tf.TFRecordReader, False)

    assert elements(rows) == [{"i": [0, 1, 2]}, {"i": [3]}]
    with tf.Session() as session:
        mixed = session.run(tf.parse_example(records, wanted)["i"])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        first = session.run(queued["i"])
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(mixed.tolist()) == [0, 1, 2, 3]
    assert first.tolist() == [0, 1]


def test_sparse_tensors_as_strings() -> None:
    """What is written is read again, with another axis where it is many."""
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 4])
    rows = tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse), tf.float32, rank=1)
    twice = tf.deserialize_many_sparse(tf.stack([tf.serialize_sparse(sparse)] * 2), tf.float32)
    with tf.Session() as session:
        one, two = session.run([rows, twice])

    assert [part.tolist() for part in one] == [[[0, 1], [2, 0]], [5.0, 6.0], [3, 4]]
    assert two.indices.tolist() == [[0, 0, 1], [0, 2, 0], [1, 0, 1], [1, 2, 0]]
    assert two.dense_shape.tolist() == [2, 3, 4]
