"""`mx.test_utils`: MNIST from files, and comparisons of arrays."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from byparts_frontend_mxnet.errors import MXNetError


def read_mnist(folder: Any, part: str) -> tuple[Any, Any]:
    """Images u8[n, 28, 28] and labels i32[n] of "train" or "t10k", from files as Yann LeCun's.

    Raises:
        MXNetError: a file is not there.
    """
    return (
        _read(folder, f"{part}-images-idx3-ubyte", 16).reshape(-1, 28, 28),
        _read(folder, f"{part}-labels-idx1-ubyte", 8).astype(np.int32),
    )


def _read(folder: Any, name: str, header_bytes: int) -> Any:
    for path in (Path(folder).expanduser() / name, Path(folder).expanduser() / f"{name}.gz"):
        if path.exists():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            return np.frombuffer(data, np.uint8, offset=header_bytes)
    raise MXNetError(
        f"MNIST: there is no file {name} or {name}.gz in {folder}, and nothing is downloaded; put "
        "it there, or use the digits of 8 by 8 pixels that byparts ships: byparts_nn.data.digits()"
    )


def get_mnist(path: Any = "data") -> dict[str, Any]:
    """train_data, train_label, test_data, test_label: images f32[n, 1, 28, 28] of [0, 1]."""
    named = {}
    for key, part in (("train", "train"), ("test", "t10k")):
        images, labels = read_mnist(path, part)
        named[f"{key}_data"] = images[:, None].astype(np.float32) / 255
        named[f"{key}_label"] = labels
    return named


def assert_almost_equal(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-20) -> None:
    """Raise AssertionError unless two arrays are nearly equal."""
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=atol)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays are equal."""
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


def download(url: str, fname: Any = None, dirname: Any = None, overwrite: bool = False) -> str:
    """The path where MXNet puts a file from the network, if the file is there.

    Raises:
        MXNetError: the file is not there.
    """
    path = Path(dirname or "") / (fname or url.rsplit("/", 1)[-1])
    if not path.exists():
        raise MXNetError(f"download: nothing is downloaded; fetch {url} and save it as {path}")
    return str(path)


def list_gpus() -> list[int]:
    """Numbers of the devices for which `mx.gpu` is more than a label: none."""
    return []


def default_context() -> Any:
    """The device of new arrays."""
    from byparts_frontend_mxnet.context import current_context

    return current_context()
