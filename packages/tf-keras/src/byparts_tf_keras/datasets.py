"""`tf.keras.datasets`: from files in Keras's folder, fetched by a call if they are not there."""

from __future__ import annotations

import json
import os
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import FormatError
from byparts_tf_files.array_files import arrays_of
from byparts_tf_files.idx_files import read_idx
from byparts_tf_files.plain_objects import plain_object
from byparts_tf_keras.sequences import remove_long_sequences
from byparts_tf_keras.utilities import get_file

_AT = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
Pairs = tuple[tuple[Any, Any], tuple[Any, Any]]


@symbol("keras.datasets.mnist.load_data")
def load_mnist(path: str = "mnist.npz") -> Pairs:
    """(images [60000, 28, 28], digits), (images [10000, 28, 28], digits), uint8."""
    file = get_file(path, origin=_AT + "mnist.npz")
    x, y, x_test, y_test = _named(file, "x_train", "y_train", "x_test", "y_test")
    return (x, y), (x_test, y_test)


def _named(file: str, *names: str, lists: bool = False) -> list[Any]:
    """The arrays of these names.

    Raises:
        FormatError: the file is damaged, or has none of that name.
    """
    arrays = arrays_of(file, lists)
    for name in names:
        if name not in arrays:
            raise FormatError(f"{file} has no array {name!r}; it has {sorted(arrays)!r:.200}")
    return [arrays[name] for name in names]


def _idx_pairs(folder: str) -> Pairs:
    """Images and labels of MNIST's format.

    Raises:
        ValueError: a file is damaged, or too large.
    """
    names = ("train-labels-idx1", "train-images-idx3", "t10k-labels-idx1", "t10k-images-idx3")
    y, x, y_test, x_test = [
        read_idx(get_file(f"{n}-ubyte.gz", f"{_AT}{n}-ubyte.gz", cache_subdir=folder), int(n[-1]))
        for n in names
    ]
    return (x, y), (x_test, y_test)


@symbol("keras.datasets.fashion_mnist.load_data")
def load_fashion_mnist() -> Pairs:
    """(images [60000, 28, 28], classes), (images [10000, 28, 28], classes), uint8."""
    return _idx_pairs(os.path.join("datasets", "fashion-mnist"))


def _cifar(path: str, label: str = "labels") -> tuple[Any, Any]:
    """The images and classes of a batch.

    Raises:
        FormatError: the file is none.
    """
    with open(path, "rb") as file:
        batch = plain_object(file.read())
    rows = batch.items() if isinstance(batch, dict) else ()
    held = {k.decode("latin-1") if isinstance(k, bytes) else k: v for k, v in rows}
    data: Any = held.get("data")
    labels: Any = held.get(label)
    images = isinstance(data, np.ndarray) and data.shape[1:] == (3072,) and data.dtype == np.uint8
    if not images or not _is_bytes(labels) or len(labels) != len(data):
        raise FormatError(f"{path}: no images in rows of 3072 bytes, with {label!r} for each")
    return data.reshape(data.shape[0], 3, 32, 32), labels


def _is_bytes(labels: Any) -> bool:
    return isinstance(labels, list) and all(type(v) is int and 0 <= v < 256 for v in labels)


@symbol("keras.datasets.cifar10.load_data")
def load_cifar10() -> Pairs:
    """(images [50000, 32, 32, 3], classes [50000, 1]), and 10000 for testing, uint8."""
    origin = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    folder = get_file("cifar-10-batches-py", origin=origin, untar=True)
    parts = [_cifar(os.path.join(folder, f"data_batch_{i}")) for i in range(1, 6)]
    x, y = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    x_test, y_test = _cifar(os.path.join(folder, "test_batch"))
    return _images(x, y), _images(x_test, y_test)


@symbol("keras.datasets.cifar100.load_data")
def load_cifar100(label_mode: str = "fine") -> Pairs:
    """(images [50000, 32, 32, 3], classes [50000, 1]), and 10000 for testing, uint8."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    origin = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    folder = get_file("cifar-100-python", origin=origin, untar=True)
    train, test = [
        _cifar(os.path.join(folder, n), f"{label_mode}_labels") for n in ("train", "test")
    ]
    return _images(*train), _images(*test)


def _images(x: Any, y: Any) -> tuple[Any, Any]:
    return x.transpose(0, 2, 3, 1), np.asarray(y, np.uint8).reshape(-1, 1)


@symbol("keras.datasets.boston_housing.load_data")
def load_boston_housing(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> Pairs:
    """13 numbers of each of 506 places, and the price of houses there."""
    file = get_file(path, origin=_AT + "boston_housing.npz")
    x, y = _named(file, "x", "y")
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    at = int(len(x) * (1 - test_split))
    return (x[:at], y[:at]), (x[at:], y[at:])


@symbol("keras.datasets.imdb.load_data")
def load_imdb(
    path: str = "imdb.npz",
    num_words: Optional[int] = None,
    skip_top: int = 0,
    maxlen: Optional[int] = None,
    seed: int = 113,
    start_char: Optional[int] = 1,
    oov_char: Optional[int] = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> Pairs:
    """Reviews as lists of numbers of words, and whether they praise; 25000 and 25000."""
    return _texts(
        get_file(path, origin=_AT + "imdb.npz"),
        num_words,
        skip_top,
        maxlen,
        seed,
        start_char,
        oov_char,
        index_from,
        None,
    )


@symbol("keras.datasets.reuters.load_data")
def load_reuters(
    path: str = "reuters.npz",
    num_words: Optional[int] = None,
    skip_top: int = 0,
    maxlen: Optional[int] = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: Optional[int] = 1,
    oov_char: Optional[int] = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> Pairs:
    """News as lists of numbers of words, and their topics."""
    return _texts(
        get_file(path, origin=_AT + "reuters.npz"),
        num_words,
        skip_top,
        maxlen,
        seed,
        start_char,
        oov_char,
        index_from,
        test_split,
    )


def _is_text(row: Any) -> bool:
    """Whether a row is a list of numbers; two lists of as many numbers are an array of two axes."""
    return isinstance(row, list) and set(map(type, row)) <= {int}


def _texts(
    file: str,
    num_words: Any,
    skip_top: int,
    maxlen: Any,
    seed: int,
    start: Any,
    unknown: Any,
    index_from: int,
    test_split: Any,
) -> Pairs:
    """The texts of a file, whose elements are lists."""
    wanted = ("x", "y") if test_split is not None else ("x_train", "y_train", "x_test", "y_test")
    arrays = _named(file, *wanted, lists=True)
    sets = list(zip(arrays[::2], arrays[1::2], strict=True))
    for x, y in sets:
        if x.ndim != 1 or x.shape != y.shape or not all(map(_is_text, x)):
            raise FormatError(f"{file}: no lists of numbers of words, with one label for each")
    random = np.random.RandomState(seed)
    shuffled = []
    for x, y in sets:
        order = np.arange(len(x))
        random.shuffle(order)
        shuffled.append((x[order], y[order]))
    xs = [list(row) for x, _ in shuffled for row in x]
    labels: Any = np.concatenate([y for _, y in shuffled])
    begin = [] if start is None else [start]
    more = index_from or 0
    xs = [[*begin, *[w + more for w in row]] for row in xs]
    if maxlen:
        xs, labels = remove_long_sequences(maxlen, xs, labels)
        if not xs:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no "
                "sequence was kept. Increase maxlen."
            )
    most = num_words or max(max(x) for x in xs)
    if unknown is not None:
        xs = [[w if skip_top <= w < most else unknown for w in x] for x in xs]
    else:
        xs = [[w for w in x if skip_top <= w < most] for x in xs]
    at = len(shuffled[0][0]) if test_split is None else int(len(xs) * (1 - test_split))
    texts = np.empty(len(xs), object)
    texts[:] = xs
    labels = np.asarray(labels)
    return (texts[:at], labels[:at]), (texts[at:], labels[at:])


@symbol("keras.datasets.imdb.get_word_index")
def imdb_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Word -> its number."""
    return _json(path)


@symbol("keras.datasets.reuters.get_word_index")
def reuters_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Word -> its number."""
    return _json(path)


def _json(path: str) -> dict[str, int]:
    with open(get_file(path, origin=_AT + path), encoding="utf-8") as file:
        words: dict[str, int] = json.load(file)
    return words
