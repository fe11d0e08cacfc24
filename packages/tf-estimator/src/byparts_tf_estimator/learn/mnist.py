"""`input_data.read_data_sets`: MNIST's four files, in batches, as tutorials ask for it.

Order and shuffling are TensorFlow's: NumPy's global generator, seeded where a seed is given.
"""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.seeds import get_seed
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.learn.data_files import Datasets, maybe_download
from byparts_tf_files.dtypes import as_dtype, float32, uint8
from byparts_tf_files.idx_files import read_idx

SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FILES = (
    *("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    *("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
)


@symbol(
    "examples.tutorials.mnist.input_data.DataSet",
    "contrib.learn.datasets.mnist.DataSet",
    "contrib.learn.python.learn.datasets.mnist.DataSet",
)
class DataSet:
    """Images with labels, in batches.

    Args:
        images: u8 [n, height, width, 1].
        labels: [n] or one-hot [n, 10].
        fake_data: whether images are all of ones.
        one_hot: of fake labels.
        dtype: float32: pixels in [0, 1]; uint8: as they are.
        reshape: whether images are rows.
        seed: of the order.

    Raises:
        TypeError: the dtype is neither.
        AssertionError: there are as many labels as images, or there is more than one channel.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = float32,
        reshape: bool = True,
        seed: Optional[int] = None,
    ) -> None:
        first, second = get_seed(get_default_graph(), seed)
        np.random.seed(first if seed is None else second)  # TensorFlow does
        kind = as_dtype(dtype).base_dtype
        if kind not in (uint8, float32):
            raise TypeError(f"Invalid image dtype {kind!r}, expected uint8 or float32")
        self._fake, self.one_hot = fake_data, one_hot
        if fake_data:
            self._num_examples = 10000
        else:
            assert images.shape[0] == labels.shape[0], (
                f"images.shape: {images.shape} labels.shape: {labels.shape}"
            )
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1, f"images have {images.shape[3]} channels"
                images = images.reshape(len(images), images.shape[1] * images.shape[2])
            if kind is float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """All images."""
        return self._images

    @property
    def labels(self) -> Any:
        """All labels."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """The number of images."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """The number of times that all images were given."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> Any:
        """The next images and labels; in a new order in each epoch."""
        if fake_data:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch += batch_size
            return self._images[start : self._index_in_epoch], self._labels[
                start : self._index_in_epoch
            ]
        self._epochs_completed += 1
        rest = self._num_examples - start
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = batch_size - rest
        end = self._index_in_epoch
        return (
            np.concatenate((images, self._images[:end]), axis=0),
            np.concatenate((labels, self._labels[:end]), axis=0),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)  # TensorFlow does
        self._images, self._labels = self._images[order], self._labels[order]


@symbol(
    "examples.tutorials.mnist.input_data.extract_images",
    "contrib.learn.datasets.mnist.extract_images",
)
def extract_images(f: Any) -> Any:
    """The images of an open file, u8 [n, height, width, 1]."""
    return read_idx(f.name, 3)[..., None]


@symbol(
    "examples.tutorials.mnist.input_data.extract_labels",
    "contrib.learn.datasets.mnist.extract_labels",
)
def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """The labels of an open file, u8 [n], or one-hot f64 [n, num_classes]."""
    labels = read_idx(f.name, 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


@symbol("contrib.learn.datasets.mnist.dense_to_one_hot")
def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """A row for each label, 1. at its place."""
    rows = np.zeros((len(labels_dense), num_classes))
    rows[np.arange(len(labels_dense)), np.asarray(labels_dense).ravel()] = 1
    return rows


def _file(folder: str, name: str, source_url: str) -> str:
    plain = name.removesuffix(".gz")
    for candidate in (name, plain, plain.replace("-idx", ".idx")):
        path = os.path.join(folder, candidate)
        if os.path.exists(path):
            return path
    return maybe_download(name, folder, source_url + name)


@symbol(
    "examples.tutorials.mnist.input_data.read_data_sets",
    "contrib.learn.datasets.mnist.read_data_sets",
    "contrib.learn.python.learn.datasets.mnist.read_data_sets",
)
def read_data_sets(
    train_dir: Any,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: Optional[int] = None,
    source_url: str = SOURCE_URL,
) -> Any:
    """The digits of a folder with MNIST's four files, gzipped or plain: train, validation, test.

    Args:
        train_dir: the folder; or BYPARTS_MNIST of the environment, where it has none of them.
        fake_data: whether they are all of ones.
        one_hot: whether labels are rows.
        dtype: float32: pixels in [0, 1]; uint8: as they are.
        reshape: whether images are rows of pixels.
        validation_size: so many of the training images are for validation.
        seed: of the order of batches.
        source_url: said where a file is not there.

    Raises:
        NotFoundError: a file is not there: nothing is downloaded.
        ValueError: one is damaged, or there are too few images for the validation.
    """
    how = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        fake = [DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed)] * 3
        return Datasets(*fake)
    folder = os.fspath(train_dir)
    if not os.path.isdir(folder) or not any("idx" in name for name in os.listdir(folder)):
        folder = os.environ.get("BYPARTS_MNIST", folder)
    paths = [_file(folder, name, source_url or SOURCE_URL) for name in _FILES]
    images, test_images = (read_idx(paths[i], 3)[..., None] for i in (0, 2))
    labels, test_labels = (read_idx(paths[i], 1) for i in (1, 3))
    if one_hot:
        labels, test_labels = dense_to_one_hot(labels, 10), dense_to_one_hot(test_labels, 10)
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    n = validation_size
    return Datasets(
        train=DataSet(images[n:], labels[n:], **how),
        validation=DataSet(images[:n], labels[:n], **how),
        test=DataSet(test_images, test_labels, **how),
    )


@symbol("contrib.learn.datasets.mnist.load_mnist", "contrib.learn.datasets.load_mnist")
def load_mnist(train_dir: Any = "MNIST-data") -> Any:
    """The digits of a folder."""
    return read_data_sets(train_dir)


SYMBOLS = {
    "contrib.learn.datasets.mnist.SOURCE_URL": "SOURCE_URL",
    "contrib.learn.datasets.mnist.DEFAULT_SOURCE_URL": "SOURCE_URL",
}
