"""IDX files, in which MNIST and its kin have images and labels."""

from __future__ import annotations

import gzip
import zlib
from math import prod
from typing import Any

import numpy as np

_MOST_BYTES = 1 << 30


def read_idx(path: str, rank: int) -> Any:
    """Read one file, plain or gzipped: u8 of `rank` axes.

    Raises:
        ValueError: it is none, or unpacks to more than 1 GiB.
    """
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: {error}") from error
    if data[:4] != bytes((0, 0, 8, rank)):
        raise ValueError(f"Invalid magic number {data[:4]!r} in MNIST file: {path}")
    if len(data) < 4 + 4 * rank:
        raise ValueError(f"{path}: ends in its head, of {len(data)} bytes")
    dims = [int(d) for d in np.frombuffer(data, ">u4", rank, offset=4)]
    if len(data) - 4 - 4 * rank != prod(dims):
        raise ValueError(f"{path}: says {dims}, and holds {len(data) - 4 - 4 * rank} bytes")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(dims)
