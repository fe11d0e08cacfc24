"""`tf.keras.datasets`: from files in Keras's folder, fetched by a call if they are not there."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.keras_api.sequences import remove_long_sequences
from byparts_frontend_tf.keras_api.utilities import get_file
from byparts_frontend_tf.symbols import symbol

_AT = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
Pairs = tuple[tuple[Any, Any], tuple[Any, Any]]


@symbol("keras.datasets.mnist.load_data")
def load_mnist(path: str = "mnist.npz") -> Pairs:
    """(images [60000, 28, 28], digits), (images [10000, 28, 28], digits), uint8."""
    file = get_file(path, origin=_AT + "mnist.npz")
    with np.load(file) as arrays:
        return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


def _idx_pairs(folder: str) -> Pairs:
    import gzip  # only here

    names = ("train-labels-idx1", "train-images-idx3", "t10k-labels-idx1", "t10k-images-idx3")
    files = [
        get_file(f"{n}-ubyte.gz", origin=f"{_AT}{n}-ubyte.gz", cache_subdir=folder) for n in names
    ]
    arrays = []
    for file, begin in zip(files, (8, 16, 8, 16), strict=True):
        with gzip.open(file, "rb") as opened:
            arrays.append(np.frombuffer(opened.read(), np.uint8, offset=begin))
    y, x, y_test, x_test = arrays
    return (x.reshape(len(y), 28, 28), y), (x_test.reshape(len(y_test), 28, 28), y_test)


@symbol("keras.datasets.fashion_mnist.load_data")
def load_fashion_mnist() -> Pairs:
    """(images [60000, 28, 28], classes), (images [10000, 28, 28], classes), uint8."""
    return _idx_pairs(os.path.join("datasets", "fashion-mnist"))


class _Plain(pickle.Unpickler):
    """Reads dicts, arrays, lists and strings, as the files of CIFAR and of texts hold them."""

    _NAMES = frozenset(
        {
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy._core.multiarray", "_reconstruct"),
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("_codecs", "encode"),
        }
    )

    def find_class(self, module: str, name: str) -> Any:
        """The class, if it is one of those.

        Raises:
            pickle.UnpicklingError: it is another.
        """
        if (module, name) not in self._NAMES:
            raise pickle.UnpicklingError(f"the file asks for {module}.{name}")
        return super().find_class(module, name)


def _cifar(path: str, label: str = "labels") -> tuple[Any, Any]:
    with open(path, "rb") as file:
        held = {
            k.decode() if isinstance(k, bytes) else k: v
            for k, v in _Plain(file, encoding="bytes").load().items()
        }
    data = held["data"]
    return data.reshape(data.shape[0], 3, 32, 32), held[label]


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
    with np.load(file) as arrays:
        x, y = arrays["x"], arrays["y"]
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
    **given: Any,
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
    **given: Any,
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


def _arrays_of_lists(path: str) -> dict[str, Any]:
    """The arrays of an .npz file; those of lists are pickles, of which no code is run."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            with archive.open(member) as stream:
                old = np.lib.format.read_magic(stream) == (1, 0)
                read = "read_array_header_1_0" if old else "read_array_header_2_0"
                shape, _, dtype = getattr(np.lib.format, read)(stream)
                name = member.removesuffix(".npy")
                if dtype.hasobject:
                    arrays[name] = np.reshape(_Plain(stream).load(), shape)
                    continue
            with archive.open(member) as stream:
                arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
    return arrays


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
    """The texts of a file; its arrays are lists, which NumPy keeps by pickle."""
    arrays = _arrays_of_lists(file)
    if test_split is None:
        sets = [(arrays[f"x_{n}"], arrays[f"y_{n}"]) for n in ("train", "test")]
    else:
        sets = [(arrays["x"], arrays["y"])]
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
    made = np.empty(len(xs), object)
    made[:] = xs
    labels = np.asarray(labels)
    return (made[:at], labels[:at]), (made[at:], labels[at:])


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
