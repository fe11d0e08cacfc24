"""Weights in HDF5, as Keras lays them out, by h5py where it is installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from byparts_frontend_tf.api.logging import warning
from byparts_tf_files.atomic import beside
from byparts_tf_files.damage import refusing
from byparts_tf_keras import array_tree
from byparts_tf_keras.values import batch_get_value, batch_set_value

_SIGN = b"\x89HDF\r\n\x1a\n"


def opened(path: str, mode: str) -> AbstractContextManager[Any]:
    """A file of groups of arrays: HDF5 by h5py; without h5py, a zip of arrays of the same tree.

    One that is written has its name when the body has ended well; until then the older one stands.

    Raises:
        ImportError: the file is HDF5, and h5py is not installed.
        FormatError: the file is damaged.
    """
    try:
        library = import_module("h5py")
    except ImportError:
        library = None
    if mode == "r" and not _is_hdf5(path):
        return array_tree.File(path, mode)
    if library is not None:
        return library.File(path, "r") if mode == "r" else _replacing(path, library.File)
    if mode == "r":
        raise ImportError(f"{path} is HDF5, which needs h5py: pip install h5py")
    warning(
        f"{path} is written as a zip of arrays, which only byparts reads: for HDF5, pip install "
        "h5py"
    )
    return _replacing(path, array_tree.File)


@contextmanager
def _replacing(path: str, kind: Callable[[str, str], Any]) -> Iterator[Any]:
    with beside(path) as part:
        with kind(part.name, "w") as file:
            yield file
        with open(part.name, "rb") as written:
            os.fsync(written.fileno())
        os.replace(part.name, path)


def holds_layers(path: str) -> bool:
    """Whether a file is of groups of arrays: HDF5, or a zip."""
    with open(path, "rb") as file:
        return file.read(8).startswith((_SIGN, b"PK"))


def _is_hdf5(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(8) == _SIGN


def save_weights(path: str, layers: list[Any]) -> None:
    """Write the weights of the layers."""
    with opened(path, "w") as file:
        write_layers(file, layers)


def load_weights(path: str, layers: list[Any], by_name: bool) -> None:
    """Read the weights of the layers, by their order or by their names."""
    with refusing(path), opened(path, "r") as file:
        group = file if "layer_names" in file.attrs else file["model_weights"]
        (read_by_name if by_name else read_layers)(group, layers)


def write_layers(group: Any, layers: list[Any]) -> None:
    """Write a group for each layer, and their names."""
    group.attrs["layer_names"] = [layer.name.encode() for layer in layers]
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = b"2.2.4-tf"
    for layer in layers:
        inner = group.create_group(layer.name)
        weights = layer.weights
        write_weights(inner, weights)


def write_weights(group: Any, weights: list[Any]) -> None:
    """Write variables by their names."""
    group.attrs["weight_names"] = [w.name.encode() for w in weights]
    for w, value in zip(weights, batch_get_value(weights), strict=True):
        group.create_dataset(w.name, data=np.asarray(value))


def _texts(names: Any) -> list[str]:
    return [n.decode() if isinstance(n, bytes) else str(n) for n in names]


def arrays_of(group: Any) -> list[Any]:
    """The arrays of a group, in their order."""
    return [np.asarray(group[name]) for name in _texts(group.attrs["weight_names"])]


def read_layers(group: Any, layers: list[Any]) -> None:
    """Give layers the arrays of a file, one after the other.

    Raises:
        ValueError: there are others.
    """
    own = [layer for layer in layers if layer.weights]
    named = [n for n in _texts(group.attrs["layer_names"]) if len(group[n].attrs["weight_names"])]
    if len(own) != len(named):
        raise ValueError(
            f"You are trying to load a weight file containing {len(named)} layers into a model "
            f"with {len(own)} layers."
        )
    pairs: list[Any] = []
    for layer, name in zip(own, named, strict=True):
        pairs += _pairs(layer, name, arrays_of(group[name]))
    batch_set_value(pairs)


def read_by_name(group: Any, layers: list[Any]) -> None:
    """Give layers the arrays of those of their names; others are left as they are."""
    named = set(_texts(group.attrs["layer_names"]))
    pairs: list[Any] = []
    for layer in layers:
        if layer.name in named:
            pairs += _pairs(layer, layer.name, arrays_of(group[layer.name]))
    batch_set_value(pairs)


def _pairs(layer: Any, name: str, arrays: list[Any]) -> list[Any]:
    weights = layer.weights
    if len(weights) != len(arrays):
        raise ValueError(
            f'Layer "{layer.name}" expects {len(weights)} weight(s), but the saved weights of '
            f'"{name}" have {len(arrays)} element(s).'
        )
    count = 3 if len(arrays) % 3 == 0 else len(arrays)  # a recurrent layer, or both of two
    parts = [arrays[i : i + count] for i in range(0, len(arrays), count)]
    shapes = [tuple(w.shape.as_list()) for w in weights]
    arrays = [a for i, part in enumerate(parts) for a in not_cudnn(part, shapes[i * count :])]
    for w, a in zip(weights, arrays, strict=True):
        if tuple(w.shape.as_list()) != a.shape:
            raise ValueError(
                f'Layer "{layer.name}": weight {w.name} has shape {w.shape}, but the saved weight '
                f"has shape {a.shape}."
            )
    return list(zip(weights, arrays, strict=True))


def not_cudnn(arrays: list[Any], shapes: list[Any]) -> list[Any]:
    """The kernel, recurrent kernel and bias of `CuDNNLSTM` or `CuDNNGRU` for `LSTM` or `GRU`.

    Others are given back as they are: what was saved by cuDNN's layers has two biases in one.
    """
    if len(arrays) != 3 or arrays[2].ndim != 1 or shapes[:2] != [a.shape for a in arrays[:2]]:
        return arrays
    units, size = arrays[1].shape[0], arrays[2].size
    gates = size // (2 * units)
    if gates not in (3, 4) or size != 2 * units * gates or shapes[2] == arrays[2].shape:
        return arrays
    kernels = [k.T.reshape(k.shape, order="F") for k in np.hsplit(arrays[0], gates)]
    recurrent = [k.T for k in np.hsplit(arrays[1], gates)]
    both = arrays[2].reshape(2, -1)
    return [np.hstack(kernels), np.hstack(recurrent), both.sum(0) if gates == 4 else both]
