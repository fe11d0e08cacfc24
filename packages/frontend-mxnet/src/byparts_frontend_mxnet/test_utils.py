"""`mx.test_utils`: MNIST from files."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_frontend_mxnet.errors import MXNetError
from byparts_graph_ir import ArgumentError


def read_mnist(folder: Any, part: str) -> tuple[Any, Any]:
    """Images u8[n, 28, 28] and labels i32[n] of "train" or "t10k", from files as Yann LeCun's.

    Raises:
        MXNetError: a file is not there.
    """
    images = _read(folder, f"{part}-images-idx3-ubyte")
    return images, _read(folder, f"{part}-labels-idx1-ubyte").astype(np.int32)


def _read(folder: Any, name: str) -> Any:
    for path in (Path(folder).expanduser() / name, Path(folder).expanduser() / f"{name}.gz"):
        if path.exists():
            return read_idx(str(path))
    raise MXNetError(
        f"MNIST: there is no file {name} or {name}.gz in {folder}, and nothing is downloaded; put "
        "it there, or use the digits of 8 by 8 pixels that byparts ships: byparts_nn.data.digits()"
    )


def read_idx(path: str) -> NDArray[Any]:
    """The array of bytes u8 of a file in MNIST's format, plain or .gz.

    Raises:
        ArgumentError: it has another format.
    """
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        content = file.read()
    zeros, kind, rank = struct.unpack(">HBB", content[:4])
    if zeros or kind != 8:
        raise ArgumentError(
            f"{path} is no file of bytes in MNIST's format: it begins with {content[:4]!r}"
        )
    shape = struct.unpack(f">{rank}I", content[4 : 4 + 4 * rank])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(shape)


def get_mnist(path: Any = "data") -> dict[str, Any]:
    """train_data, train_label, test_data, test_label: images f32[n, 1, 28, 28] of [0, 1]."""
    named = {}
    for key, part in (("train", "train"), ("test", "t10k")):
        images, labels = read_mnist(path, part)
        named[f"{key}_data"] = images[:, None].astype(np.float32) / 255
        named[f"{key}_label"] = labels
    return named


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
