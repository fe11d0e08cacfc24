"""Writes PNG pictures: 8 bits, 1 to 4 channels (grey, grey with alpha, RGB, RGBA).

Source: "Portable Network Graphics (PNG) Specification", W3C.  Every row has filter 0.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png_of(image: NDArray[Any]) -> bytes:
    """The bytes of a picture.

    Args:
        image: uint8[height, width, channels], none of them 0.

    Raises:
        ValueError: an array that is no picture.
    """
    if image.ndim != 3 or image.dtype != np.uint8 or image.shape[2] not in _COLOUR_TYPES:
        raise ValueError(f"no picture is {image.dtype}{list(image.shape)}")
    height, width, channels = image.shape
    if not height or not width:
        raise ValueError(f"a picture of {height} by {width} pixels")
    rows = np.zeros((height, 1 + width * channels), np.uint8)
    rows[:, 1:] = image.reshape(height, -1)
    head = struct.pack(">2I5B", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    chunks = (b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join([_chunk(kind, data) for kind, data in chunks])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
