"""`slim.dataset`, its provider and its decoder; iterators beside tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

slim = tf.contrib.slim


def _record(i: int) -> bytes:
    def texts(value: bytes) -> Any:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    def floats(*values: float) -> Any:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    feature = {
        "image/encoded": texts(np.full((2, 2, 3), i, np.uint8).tobytes()),
        "image/format": texts(b"raw"),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        **{f"box/{side}": floats(i / 2, 1.0) for side in ("ymin", "xmin", "ymax", "xmax")},
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    data: bytes = example.SerializeToString()
    return data


def _decoder() -> Any:
    keys = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="raw"),
        "label": tf.FixedLenFeature([1], tf.int64),
        **{
            f"box/{side}": tf.VarLenFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")
        },
    }
    items = {
        "image": slim.tfexample_decoder.Image(shape=[2, 2, 3]),
        "label": slim.tfexample_decoder.Tensor("label", shape=[]),
        "boxes": slim.tfexample_decoder.BoundingBox(prefix="box/"),
    }
    return slim.tfexample_decoder.TFExampleDecoder(keys, items)


def test_a_provider_gives_the_items_of_records(tmp_path: Path) -> None:
    """Read by queue runners, in order where that is asked for."""
    path = str(tmp_path / "train-0")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            writer.write(_record(i))
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = slim.dataset.Dataset(
            data_sources=str(tmp_path / "train*"),
            reader=tf.TFRecordReader,
            decoder=_decoder(),
            num_samples=3,
            items_to_descriptions={},
            num_classes=7,
        )
        provider = slim.dataset_data_provider.DatasetDataProvider(
            dataset, shuffle=False, common_queue_capacity=4, common_queue_min=1
        )
        image, label, boxes = provider.get(["image", "label", "boxes"])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run([image, label, boxes]) for _ in range(4)]
        coordinator.request_stop()
        coordinator.join(threads)

    assert (dataset.num_classes, provider.num_samples()) == (7, 3)
    assert [int(row[1]) for row in found] == [0, 1, 2, 0]
    assert found[2][0].tolist() == np.full((2, 2, 3), 2).tolist()
    assert found[1][2].tolist() == [[0.5] * 4, [1.0] * 4]
    with pytest.raises(ValueError, match=r"Item \[masks\] is invalid"):
        provider.get(["masks"])


def test_functions_of_datasets_ask_tables() -> None:
    """A table is filled before the iterator starts."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], default_value=7)
        words = tf.data.Dataset.from_tensor_slices(["b a", "c"])
        words = words.map(lambda s: table.lookup(tf.string_split([s]).values))
        iterator = words.padded_batch(2, [None], tf.constant(-1, tf.int64))
        iterator = iterator.make_initializable_iterator()
        session.run([tf.tables_initializer()])
        session.run(iterator.initializer)

        assert session.run(iterator.get_next()).tolist() == [[1, 0], [7, -1]]
