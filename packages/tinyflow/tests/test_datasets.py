"""Files as their publishers lay them out, and the digits that stand in for them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from byparts_graph_ir import FormatError, GraphError
from byparts_tinyflow.datasets import _say_once, get_cifar10, get_mnist


def idx(array: np.ndarray) -> bytes:
    return (
        bytes((0, 0, 8, array.ndim))
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


@pytest.fixture
def mnist_folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for part, n in (("train", 6), ("t10k", 4)):
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(
            idx(rng.integers(0, 256, (n, 28, 28), "uint8"))
        )
        labels = gzip.compress(idx(rng.integers(0, 10, (n,), "uint8")))
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(labels)
    return tmp_path


def test_idx_files_are_read(mnist_folder: Path) -> None:
    """Plain and gzipped; shapes, ranges and split as TinyFlow's record."""
    mnist = get_mnist(folder=mnist_folder)
    flat = get_mnist(flatten=True, onehot=True, folder=mnist_folder)

    assert mnist.train.images.shape == (6, 1, 28, 28) and mnist.test.labels.shape == (4,)
    assert flat.train.images.shape == (6, 784) and flat.test.labels.shape == (4, 10)
    assert mnist.train.images.dtype == "float32" and 0.5 < mnist.train.images.max() <= 1


def test_a_folder_in_the_environment(mnist_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BYPARTS_MNIST names it once for all programs."""
    monkeypatch.setenv("BYPARTS_MNIST", str(mnist_folder))

    assert len(get_mnist().train.images) == 6


def test_cifar_files_are_read(tmp_path: Path) -> None:
    """Records of a label and three planes; values stay 0..255."""
    record = np.arange(3073, dtype="uint32").astype("uint8")
    for name in (
        "data_batch_1",
        "data_batch_2",
        "data_batch_3",
        "data_batch_4",
        "data_batch_5",
        "test_batch",
    ):
        (tmp_path / f"{name}.bin").write_bytes(record.tobytes() * 2)
    cifar = get_cifar10(folder=tmp_path)

    assert cifar.train.images.shape == (10, 3, 32, 32) and cifar.train.labels[0] == record[0]
    assert get_cifar10(swap_axes=True, folder=tmp_path).test.images.shape == (2, 32, 32, 3)
    assert cifar.test.images.max() == 255


def test_the_shipped_digits_stand_in_and_say_so_once() -> None:
    """Enlarged to what programs expect; one warning."""
    _say_once.cache_clear()
    with pytest.warns(UserWarning, match="BYPARTS_MNIST is not set: using the 1797 digits"):
        mnist = get_mnist(flatten=True)
    again = get_mnist(onehot=True)

    assert mnist.train.images.shape == (1497, 784) and again.test.labels.shape == (300, 10)
    assert set(np.unique(mnist.test.labels)) == set(range(10))


def test_batches_wrap_and_deliver_all(mnist_folder: Path) -> None:
    """The last full batch of an epoch comes too; TinyFlow left it out."""
    train = get_mnist(folder=mnist_folder).train
    firsts = [train.next_batch(3)[0][0] for _ in range(3)]

    assert np.array_equal(firsts[0], firsts[2]) and np.array_equal(firsts[1], train.images[3])
    with pytest.raises(GraphError, match="next_batch: 7 of 6 images"):
        train.next_batch(7)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello", "byte 0: not an IDX file of 3 dimensions"),
        (idx(np.zeros((2, 28, 28), "uint8"))[:-1], "byte 4: .* holds 1567 bytes"),
        (idx(np.zeros((6, 9, 9), "uint8")), r"images of \(9, 9\) and \(28, 28\) pixels"),
        (idx(np.zeros((5, 28, 28), "uint8")), "5 images and 6 labels"),
    ],
)
def test_damaged_files_are_named(mnist_folder: Path, data: bytes, message: str) -> None:
    """Path, what was expected, what was found."""
    (mnist_folder / "train-images-idx3-ubyte").write_bytes(data)
    with pytest.raises(FormatError, match=message):
        get_mnist(folder=mnist_folder)
    with pytest.raises(GraphError, match=r"no such file, nor data_batch_1\.bin\.gz"):
        get_cifar10(folder=mnist_folder)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(idx(np.zeros(6, "uint8")), mtime=0)[:-9], "Compressed file ended before"),
        (b"hello", "Not a gzipped file"),
        (
            gzip.compress(idx(np.zeros(6, "uint8")), mtime=0)[:10] + b"\xff" * 20,
            "decompressing data",
        ),
        (gzip.compress(idx(np.full(6, 10, "uint8")), mtime=0), r"label 0 is 10; expected 0 to 9"),
        (gzip.compress(b"0" * 300, mtime=0), "more than 200 bytes; expected images or labels"),
    ],
    ids=["cut", "no archive", "damaged", "label", "too long"],
)
def test_damaged_archives_are_named(
    mnist_folder: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, message: str
) -> None:
    """And one that unpacks to more than any of these files is not unpacked."""
    monkeypatch.setattr("byparts_tinyflow.datasets._MOST_BYTES", 200)
    for part in ("train", "t10k"):
        (mnist_folder / f"{part}-images-idx3-ubyte").write_bytes(idx(np.zeros((6, 2, 2), "uint8")))
        (mnist_folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(data)

    with pytest.raises(FormatError, match=message):
        get_mnist(folder=mnist_folder)
