"""`tf.keras.utils`: classes as vectors, files of data, what is refused."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.atomic import beside, to_disk


@symbol("keras.utils.to_categorical")
def to_categorical(y: Any, num_classes: Optional[int] = None, dtype: Any = "float32") -> Any:
    """Classes [...] as vectors [..., num_classes] with a 1 each."""
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.ndim > 1 and y.shape[-1] == 1 else y.shape
    flat = y.ravel()
    count = num_classes or int(np.max(flat)) + 1
    rows = np.zeros((flat.shape[0], count), dtype=dtype)
    rows[np.arange(flat.shape[0]), flat] = 1
    return rows.reshape(*shape, count)


@symbol("keras.utils.normalize")
def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """Arrays of norm 1 along an axis."""
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, axis)


def cache_folder() -> str:
    """The folder where Keras keeps files: `~/.keras`, or KERAS_HOME."""
    return os.environ.get("KERAS_HOME", os.path.join(os.path.expanduser("~"), ".keras"))


@symbol("keras.utils.get_file")
def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: Optional[str] = None,
    file_hash: Optional[str] = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str = "auto",
    cache_dir: Optional[str] = None,
) -> str:
    """The path of a file in Keras's folder; it is fetched from `origin` if it is not there.

    Raises:
        OSError: it is not there and cannot be fetched.
        ValueError: what was fetched is another file than the hash says.
    """
    folder = os.path.join(cache_dir or cache_folder(), cache_subdir)
    path = os.path.join(folder, f"{fname}.tar.gz" if untar else fname)
    digest = file_hash or md5_hash
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        print("Downloading data from", origin)
        _fetch(origin, path, digest)
    if untar or extract:
        _extract(path, folder)
    return path.removesuffix(".tar.gz") if untar else path


class _OtherFile(ValueError):
    pass


def _fetch(origin: str, path: str, digest: Optional[str]) -> None:
    try:
        with urllib.request.urlopen(origin) as source, beside(path) as file:
            shutil.copyfileobj(source, file)
            to_disk(file)
            if digest and not _has_digest(file.name, digest):
                raise _OtherFile(f"{origin} is another file than its hash says: {digest}")
            os.replace(file.name, path)
    except _OtherFile:
        raise
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise OSError(
            f"{path} is not there, and {origin} cannot be fetched ({error}): put the file there"
        ) from error


def _has_digest(path: str, digest: str) -> bool:
    total = hashlib.sha256() if len(digest) == 64 else hashlib.md5()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest() == digest


def _extract(path: str, folder: str) -> None:
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)


@symbol("keras.utils.multi_gpu_model")
def multi_gpu_model(model: Any, gpus: Any, **kwargs: Any) -> Any:
    """Refused.

    Raises:
        ValueError: always: a session runs on one device.
    """
    raise ValueError(
        f"To call `multi_gpu_model` with `gpus={gpus}`, several devices are needed, and a session "
        "here has one: use the model itself"
    )


@symbol("keras.utils.plot_model")
def plot_model(model: Any, to_file: str = "model.png", **kwargs: Any) -> None:
    """Refused.

    Raises:
        ImportError: always: there is no Graphviz here; model.summary() prints the layers.
    """
    raise ImportError(
        "plot_model needs Graphviz, which is not used here: model.summary() prints the layers"
    )


@symbol("keras.utils.convert_all_kernels_in_model")
def convert_all_kernels_in_model(model: Any) -> None:
    """Nothing: kernels are TensorFlow's."""


SYMBOLS = {"keras.__version__": "VERSION"}
VERSION = "2.2.4-tf"
