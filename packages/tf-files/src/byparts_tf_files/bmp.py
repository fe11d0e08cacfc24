"""Reads BMP pictures of 8, 24 and 32 bits a pixel that are not packed, as TensorFlow does."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_tf_files.wire import fault


def array_of_bmp(data: bytes) -> NDArray[Any]:
    """A picture: uint8 [height, width, 1, 3 or 4 channels].

    Raises:
        DecodeError: it is damaged, or of another kind; at which byte.
    """
    if len(data) < 32 or data[:2] != b"BM":
        raise fault(0, "no BMP: it does not begin with BM, or ends in its head")
    start, _, width, height = struct.unpack_from("<4i", data, 10)
    (bits,) = struct.unpack_from("<H", data, 28)
    if bits not in (8, 24, 32):
        raise fault(28, f"{bits} bits per pixel; there are 8, 24 and 32")
    channels, rows = bits // 8, abs(height)
    row_bytes = (channels * width + 3) // 4 * 4
    if width <= 0 or not rows or start < 0 or start + row_bytes * rows > len(data):
        raise fault(18, f"a picture of {width} by {height} pixels, in {len(data)} bytes")
    pixels = np.frombuffer(data, np.uint8, row_bytes * rows, start).reshape(rows, row_bytes)
    image = pixels[:, : width * channels].reshape(rows, width, channels)
    image = image if height < 0 else image[::-1]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
    return image[..., order]
