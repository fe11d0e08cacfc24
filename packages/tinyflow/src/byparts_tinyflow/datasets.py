"""Handwritten digits and small photographs, as TinyFlow's programs ask for them.

The real files are read from a folder: MNIST's four IDX files or CIFAR-10's "binary version", plain
or gzipped.  Where there is no folder, the 1797 digits shipped with this part stand in, enlarged to
the size that the programs expect, with a warning that says so once.  Nothing is ever downloaded.
"""

from __future__ import annotations

import gzip
import os
import struct
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FormatError, GraphError

Images = NDArray[np.float32]
Folder = Optional[os.PathLike[str]]
DIGITS = Path(__file__).parent / "data" / "digits.npz"
_MOST_BYTES = 1 << 30  # of an unpacked file; the largest of these has 150 MB
TRAIN_SHARE = 5 / 6  # of the shipped digits, for training


class ArrayPacker:
    """Images with labels, handed out in batches, in the same order in every epoch."""

    def __init__(self, images: Images, labels: Images) -> None:
        self.images, self.labels = images, labels
        self._next = 0

    def next_batch(self, batch_size: int) -> tuple[Images, Images]:
        """The next images and labels; from the beginning where too few are left.

        TinyFlow's never gave the last full batch of an epoch; this does.

        Raises:
            GraphError: a batch larger than the whole set.
        """
        if not 0 < batch_size <= len(self.images):
            raise GraphError(f"next_batch: {batch_size} of {len(self.images)} images")
        if self._next + batch_size > len(self.images):
            self._next = 0
        batch = slice(self._next, self._next + batch_size)
        self._next += batch_size
        return self.images[batch], self.labels[batch]


class Dataset(NamedTuple):
    """A dataset, which programs call `mnist` or `cifar`."""

    train: ArrayPacker
    test: ArrayPacker


def get_mnist(flatten: bool = False, onehot: bool = False, folder: Folder = None) -> Dataset:
    """Digits in [0, 1]: [n, 1, 28, 28], or [n, 784] if `flatten`; labels 0. to 9., or one-hot.

    Args:
        flatten: rows of pixels instead of images.
        onehot: labels [n, 10] instead of [n].
        folder: with train-images-idx3-ubyte and the other three; else the environment variable
            BYPARTS_MNIST names it; else the shipped digits.
    """
    images, labels, train = _find(folder, "BYPARTS_MNIST", _read_mnist, 28)
    pixels = images[:, None].astype("float32") / 255
    pixels = pixels.reshape(len(pixels), -1) if flatten else pixels
    return _split(pixels, np.eye(10, dtype="float32")[labels] if onehot else labels, train)


def get_cifar10(swap_axes: bool = False, folder: Folder = None) -> Dataset:
    """Photographs with values 0. to 255.: [n, 3, 32, 32], or [n, 32, 32, 3] if `swap_axes`.

    Args:
        swap_axes: channels last.
        folder: with data_batch_1.bin to 5 and test_batch.bin; else the environment variable
            BYPARTS_CIFAR10 names it; else the shipped digits, three times the same channel.
    """
    images, labels, train = _find(folder, "BYPARTS_CIFAR10", _read_cifar10, 32)
    if images.ndim == 3:
        images = np.repeat(images[:, None], 3, axis=1)
    return _split((images.transpose(0, 2, 3, 1) if swap_axes else images), labels, train)


Read = tuple[NDArray[np.uint8], NDArray[np.uint8], int]


def _find(folder: Folder, variable: str, read: Callable[[Path], Read], side: int) -> Read:
    given = os.environ.get(variable) if folder is None else folder
    if given:
        return read(Path(given))
    _say_once(variable)
    with np.load(DIGITS, allow_pickle=False) as file:
        images, labels = _enlarge(file["images"], side), file["labels"]
    return images, labels, int(len(images) * TRAIN_SHARE)


def _split(images: NDArray[Any], labels: NDArray[Any], train: int) -> Dataset:
    """Shuffle by a fixed seed, as TinyFlow did, and cut."""
    order = np.random.RandomState(1234).permutation(len(images))
    x = np.ascontiguousarray(images[order], "float32")
    y = np.ascontiguousarray(labels[order], "float32")
    return Dataset(ArrayPacker(x[:train], y[:train]), ArrayPacker(x[train:], y[train:]))


def _enlarge(images: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """8 x 8 images with values 0..16 -> side x side with values 0..255.

    Each pixel becomes a block, in the middle five sevenths: MNIST's 20 x 20 digits in 28 x 28, so
    that a learning rate chosen for those does for these.
    """
    inner = side * 5 // 7
    pixel = np.arange(inner) * images.shape[1] // inner
    digits = (images[:, pixel][:, :, pixel].astype("uint16") * 255 // 16).astype("uint8")
    before = (side - inner) // 2
    behind = side - inner - before
    return np.pad(digits, ((0, 0), (before, behind), (before, behind)))


@cache
def _say_once(variable: str) -> None:
    warnings.warn(
        f"no folder given and {variable} is not set: using the 1797 digits shipped with "
        f"byparts-frontend-tf, enlarged, instead of the real data",
        stacklevel=4,
    )


def _read_mnist(folder: Path) -> Read:
    images = [_read_idx(folder / f"{part}-images-idx3-ubyte", 3) for part in ("train", "t10k")]
    labels = [_read_idx(folder / f"{part}-labels-idx1-ubyte", 1) for part in ("train", "t10k")]
    for x, y in zip(images, labels, strict=True):
        if len(x) != len(y):
            raise FormatError(f"{folder}: {len(x)} images and {len(y)} labels")
    if images[0].shape[1:] != images[1].shape[1:]:
        sizes = " and ".join([str(x.shape[1:]) for x in images])
        raise FormatError(f"{folder}: images of {sizes} pixels; expected all of one size")
    return np.concatenate(images), np.concatenate(labels), len(images[0])


def _read_idx(path: Path, rank: int) -> NDArray[np.uint8]:
    """Read a file of http://yann.lecun.com/exdb/mnist: magic, sizes (big-endian), bytes."""
    data = _bytes(path)
    head = 4 + 4 * rank
    if len(data) < head or data[:4] != bytes((0, 0, 8, rank)):
        what = f"not an IDX file of {rank} dimensions (begins {data[:4]!r})"
        raise FormatError(f"{path}: byte 0: {what}")
    shape = struct.unpack(f">{rank}I", data[4:head])
    if len(data) - head != prod(shape):
        raise FormatError(f"{path}: byte 4: says {shape}, and holds {len(data) - head} bytes")
    array = np.frombuffer(data, "uint8", offset=head).reshape(shape)
    if rank == 1:
        _check_labels(path, array)
    return array


def _read_cifar10(folder: Path) -> Read:
    parts = [_read_batch(folder / f"data_batch_{i}.bin") for i in range(1, 6)]
    records = np.concatenate([*parts, _read_batch(folder / "test_batch.bin")])
    images = records[:, 1:].reshape(-1, 3, 32, 32)
    return images, records[:, 0], sum(map(len, parts))


def _read_batch(path: Path) -> NDArray[np.uint8]:
    """Records of one label byte and 3 x 32 x 32 pixels (https://www.cs.toronto.edu/~kriz/cifar.html)."""
    data = _bytes(path)
    if not data or len(data) % 3073:
        whole = len(data) // 3073 * 3073
        raise FormatError(f"{path}: byte {whole}: {len(data)} bytes are not whole records of 3073")
    records = np.frombuffer(data, "uint8").reshape(-1, 3073)
    _check_labels(path, records[:, 0])
    return records


def _check_labels(path: Path, labels: NDArray[np.uint8]) -> None:
    if labels.size and labels.max() > 9:
        k = int(np.argmax(labels > 9))
        raise FormatError(f"{path}: label {k} is {labels[k]}; expected 0 to 9")


def _bytes(path: Path) -> bytes:
    packed = path.with_name(path.name + ".gz")
    if not packed.exists():
        if not path.exists():
            raise GraphError(f"{path}: no such file, nor {packed.name}")
        return path.read_bytes()
    with packed.open("rb") as raw:
        try:
            with gzip.open(raw) as file:
                data = file.read(_MOST_BYTES + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FormatError(f"{packed}: byte {raw.tell()}: {error}") from error
    if len(data) > _MOST_BYTES:
        raise FormatError(f"{packed}: more than {_MOST_BYTES} bytes; expected images or labels")
    return data
