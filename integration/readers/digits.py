"""MNIST's files, as frontend-tf reads them: images plain, labels gzipped."""

from __future__ import annotations

import gzip
import struct
from random import Random

import numpy as np

from byparts_conformance.fuzz.mutations import changed_bytes
from byparts_conformance.fuzz.reader import Data, Reader, scratch_folder
from byparts_tinyflow.datasets import Dataset, get_mnist

_NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz")
_OTHERS = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz")


def reader() -> Reader:
    """One of the four files is changed; which, its first byte says."""
    images = struct.pack(">4B3I", 0, 0, 8, 3, 2, 4, 4) + bytes(range(32))
    labels = gzip.compress(struct.pack(">4BI", 0, 0, 8, 1, 2) + b"\3\7", mtime=0)
    folder = scratch_folder()
    right = (images, labels)
    for name, data in zip((*_NAMES, *_OTHERS), (*right, *right), strict=True):
        (folder / name).write_bytes(data)

    def read(data: bytes) -> Dataset:
        which = data[0] % 2 if data else 0
        (folder / _NAMES[which]).write_bytes(data[1:])
        (folder / _NAMES[1 - which]).write_bytes(right[1 - which])
        return get_mnist(folder=folder, onehot=True)

    return Reader("digits", [(0, images), (1, labels)], _mutate, read, _check)


def _mutate(random: Random, seed: tuple[int, bytes]) -> Data:
    which, data = seed
    if which and random.random() < 0.5:
        data = gzip.compress(changed_bytes(random, gzip.decompress(data)), mtime=0)
    else:
        data = changed_bytes(random, data)
    return bytes([which]) + data


def _check(found: Dataset) -> None:
    for part in found:
        assert len(part.images) == len(part.labels), len(part.labels)
        assert part.labels.shape[1:] == (10,), part.labels.shape
        assert part.images.size == 0 or 0 <= part.images.min() <= part.images.max() <= 1
        assert part.images.dtype == np.float32
