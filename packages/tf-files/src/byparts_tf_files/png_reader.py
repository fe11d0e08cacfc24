"""Reads PNG pictures without a library: all but interlaced ones.

Source: "Portable Network Graphics (PNG) Specification", W3C.  Sizes are checked before memory is
taken, and checksums before anything else.  A picture has at most `MOST_BYTES`, and at most
`MOST_RATIO` times the file and `SPARE_BYTES`; reading it takes at most four times as much.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from byparts_tf_files.wire import DecodeError, fault

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_BYTES = 1 << 29  # of a picture, as TensorFlow has it
MOST_RATIO, SPARE_BYTES = 1100, 1 << 24  # zlib packs bytes 1032 times; pixels may be bits
_PIECE = 1 << 14  # bytes or pixels of which lists and indices are made at a time
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


class Head(NamedTuple):
    """Header of a picture (IHDR)."""

    width: int
    height: int
    depth: int
    colour_type: int
    compression: int
    filter: int
    interlaced: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, without that of its filter."""
        return (self.width * _CHANNELS[self.colour_type] * self.depth + 7) // 8

    def picture_bytes(self, channels: int) -> int:
        """Bytes of the picture: a byte or two for each number, however few bits it has."""
        return self.height * self.width * channels * max(1, self.depth // 8)


def array_of_png(data: bytes) -> NDArray[Any]:
    """A picture: uint8 or uint16 [height, width, 1 to 4 channels].

    Raises:
        DecodeError: it is damaged; at which byte.
        NotImplementedError: it is interlaced.
    """
    if not data.startswith(SIGNATURE):
        raise fault(0, "no PNG signature")
    chunks = _chunks(data)
    head = _head(chunks.get(b"IHDR", b""))
    if head.interlaced:
        raise NotImplementedError("an interlaced PNG is read by Pillow: pip install pillow")
    channels = _CHANNELS[head.colour_type]
    if head.colour_type == 3:
        channels = 4 if b"tRNS" in chunks else 3
    if head.picture_bytes(channels) > min(MOST_BYTES, MOST_RATIO * len(data) + SPARE_BYTES):
        what = f"a picture of {head.width} by {head.height} pixels in {len(data)} bytes"
        raise fault(16, f"{what}: more than {MOST_RATIO} times the file and {SPARE_BYTES} bytes")
    rows = _rows(chunks.get(b"IDAT", b""), head)
    pixels = _pixels(rows, head)
    if head.colour_type == 3:
        return _coloured(pixels, chunks.get(b"PLTE", b""), chunks.get(b"tRNS", b""))
    return pixels


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The content of each kind of chunk; of several of a kind, joined."""
    found: dict[bytes, list[bytes]] = {}
    at, kind = len(SIGNATURE), b""
    while kind != b"IEND":
        if at + 12 > len(data):
            raise fault(at, "a PNG that ends too early")
        length, kind = struct.unpack_from(">I4s", data, at)
        if at + 12 + length > len(data):
            raise fault(at, f"a chunk of {length} bytes; {len(data) - at - 12} are left")
        content = data[at + 8 : at + 8 + length]
        if zlib.crc32(kind + content) != int.from_bytes(
            data[at + 8 + length : at + 12 + length], "big"
        ):
            raise fault(at, f"the checksum of chunk {kind!r} is another")
        found.setdefault(kind, []).append(content)
        at += 12 + length
    return {k: b"".join(parts) for k, parts in found.items()}


def _head(content: bytes) -> Head:
    if len(content) != 13:
        raise fault(8, "no IHDR chunk of 13 bytes")
    head = Head(*struct.unpack(">2I5B", content))
    if head.depth not in _DEPTHS.get(head.colour_type, ()):
        raise fault(24, f"colour type {head.colour_type} of {head.depth} bits")
    if head.compression or head.filter or head.interlaced > 1:
        raise fault(26, "another compression, filter or interlacing than there are")
    if not head.width or not head.height or head.height * (head.row_bytes + 1) > MOST_BYTES:
        raise fault(16, f"a picture of {head.width} by {head.height} pixels")
    return head


def _rows(packed: bytes, head: Head) -> NDArray[Any]:
    """The rows without their filters: uint8 [height, row_bytes]."""
    size = head.height * (head.row_bytes + 1)
    try:
        plain = zlib.decompressobj().decompress(packed, size)
    except zlib.error as error:
        raise fault(8, f"the pixels: {error}") from error
    if len(plain) != size:
        raise fault(8, f"{len(plain)} bytes of pixels; expected {size}")
    filtered = np.frombuffer(plain, np.uint8).reshape(head.height, -1)
    step = max(1, _CHANNELS[head.colour_type] * head.depth // 8)
    before = np.zeros(head.row_bytes, np.uint8)
    made = np.empty((head.height, head.row_bytes), np.uint8)
    for i, row in enumerate(filtered):
        before = made[i] = _unfiltered(int(row[0]), row[1:], before, step)
    return made


def _unfiltered(filter: int, row: Any, above: Any, step: int) -> Any:
    if filter == 0:
        return row
    if filter == 2:
        return row + above
    if filter == 1:
        sums = np.zeros(-(-len(row) // step) * step, np.uint8)
        sums[: len(row)] = row
        pixels = sums.reshape(-1, step)
        np.cumsum(pixels, 0, np.uint8, pixels)  # modulo 256
        return sums[: len(row)]
    if filter not in (3, 4):
        raise DecodeError(f"a row of filter {filter}")
    guess, done = _average if filter == 3 else _paeth, np.empty(len(row), np.uint8)
    made, up = [0] * step, [0] * step
    for start in range(0, len(row), _PIECE):
        made = made[-step:] + row[start : start + _PIECE].tolist()
        up = up[-step:] + above[start : start + _PIECE].tolist()
        for i in range(step, len(made)):
            made[i] = made[i] + guess(made[i - step], up[i], up[i - step]) & 255
        done[start : start + _PIECE] = made[step:]
    return done


def _average(left: int, up: int, corner: int) -> int:
    return (left + up) // 2


def _paeth(left: int, up: int, corner: int) -> int:
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def _pixels(rows: NDArray[Any], head: Head) -> NDArray[Any]:
    channels = _CHANNELS[head.colour_type]
    shape = head.height, head.width, channels
    if head.depth == 16:
        return rows.view(">u2").astype(np.uint16).reshape(shape)
    if head.depth == 8:
        return rows.reshape(shape)
    largest = (1 << head.depth) - 1
    scale = 1 if head.colour_type == 3 else 255 // largest
    made = np.empty((head.height, head.row_bytes, 8 // head.depth), np.uint8)
    for i in range(8 // head.depth):  # the first pixel has the highest bits
        made[:, :, i] = ((rows >> (8 - head.depth * (i + 1))) & largest) * scale
    return made.reshape(head.height, -1)[:, : head.width].reshape(shape)


def _coloured(pixels: NDArray[Any], palette: bytes, alphas: bytes) -> NDArray[Any]:
    """The colours that a palette has for numbers, with alpha where it says any."""
    colours = np.frombuffer(palette[: len(palette) // 3 * 3], np.uint8).reshape(-1, 3)
    if pixels.max(initial=0) >= len(colours):
        raise DecodeError(f"colour {pixels.max()} of a palette of {len(colours)}")
    if alphas:
        opacity = np.full((len(colours), 1), 255, np.uint8)
        given = np.frombuffer(alphas[: len(colours)], np.uint8)
        opacity[: len(given), 0] = given
        colours = np.concatenate([colours, opacity], 1)
    numbers = pixels.reshape(-1)
    made = np.empty((numbers.size, colours.shape[1]), np.uint8)
    for start in range(0, numbers.size, _PIECE):  # an index takes 8 bytes
        made[start : start + _PIECE] = colours[numbers[start : start + _PIECE]]
    return made.reshape(*pixels.shape[:2], -1)
