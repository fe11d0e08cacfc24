"""Data sets of files, as TensorFlow's tutorials read them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

input_data = tf.examples.tutorials.mnist.input_data
base = tf.contrib.learn.datasets.base
IMAGES = np.arange(12 * 4, dtype=np.uint8).reshape(12, 2, 2)
LABELS = (np.arange(12) % 10).astype(np.uint8)


def idx(array: Any) -> bytes:
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + bytes(array.tobytes())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve images; the training files are gzipped, those of the test are not."""
    for part, array in (("images-idx3", IMAGES), ("labels-idx1", LABELS)):
        (tmp_path / f"train-{part}-ubyte.gz").write_bytes(gzip.compress(idx(array)))
        (tmp_path / f"t10k-{part}-ubyte").write_bytes(idx(array[:3]))
    return tmp_path


def test_mnist_is_read_from_a_folder(folder: Path) -> None:
    mnist = input_data.read_data_sets(folder, one_hot=True, validation_size=2)

    assert [s.num_examples for s in mnist] == [10, 2, 3]
    assert mnist.train.images.shape == (10, 4) and mnist.train.images.dtype == np.float32
    np.testing.assert_allclose(mnist.test.images[2], np.arange(8, 12) / 255, rtol=1e-6)
    assert mnist.test.labels[1].tolist() == [0.0, 1.0] + [0.0] * 8


def test_batches_come_in_numpys_order(folder: Path) -> None:
    """An epoch is shuffled at its beginning, and a batch may be of two epochs."""
    train = input_data.read_data_sets(folder, validation_size=0).train
    np.random.seed(3)
    found = np.concatenate([train.next_batch(5)[1] for _ in range(3)])
    np.random.seed(3)
    first, second = np.arange(12), np.arange(12)
    np.random.shuffle(first)
    np.random.shuffle(second)

    assert found.tolist() == LABELS[[*first, *first[second[:3]]]].tolist()
    assert train.epochs_completed == 1


def test_a_batch_without_shuffling_and_as_images(folder: Path) -> None:
    train = tf.contrib.learn.datasets.mnist.read_data_sets(
        folder, dtype=tf.uint8, reshape=False, validation_size=0
    ).train

    images, labels = train.next_batch(2, shuffle=False)
    assert images.shape == (2, 2, 2, 1) and labels.tolist() == [0, 1]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"train-images-idx3-ubyte.gz is not there"):
        input_data.read_data_sets(tmp_path)


def test_damaged_files_are_refused(folder: Path) -> None:
    path = folder / "t10k-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"says \[3\], and holds 2 bytes"):
        input_data.read_data_sets(folder, validation_size=0)


def test_flowers_come_with_this_part() -> None:
    iris = tf.contrib.learn.datasets.load_dataset("iris")

    assert iris.data.shape == (150, 4) and iris.target.tolist()[::50] == [0, 1, 2]
    assert iris.data.mean() == pytest.approx(3.4645)


def test_tables_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("2,3,no,yes\n1.5,2,3,0\n4,5,6,1\n")
    found = base.load_csv_with_header(path, target_dtype=np.int64, features_dtype=np.float32)
    path.write_text("7,a\n8,b\n")
    plain = base.load_csv_without_header(path, np.int32, str, target_column=0)

    assert found.data.tolist() == [[1.5, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert found.target.tolist() == [0, 1]
    assert plain.target.tolist() == [7, 8] and plain.data.tolist() == [["a"], ["b"]]


def test_a_table_of_another_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("3,1\n1,0\n")
    with pytest.raises(ValueError, match=r"says 3 examples, there are 1"):
        base.load_csv_with_header(path, np.int64, np.float32)
