"""WAV files of 16 bits, as TensorFlow reads and writes them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_tf_files.wire import fault

_PCM, _BITS = 1, 16


def samples_of_wav(data: bytes) -> tuple[NDArray[Any], int]:
    """Samples f32 [samples, channels] in [-1, 1), and how many there are in a second.

    Raises:
        DecodeError: it is damaged, or of another kind; at which byte.
    """
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise fault(0, "Header mismatch: Expected RIFF and WAVE")
    at, kind = 12, (0, 0)
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        start = at + 8
        if start + size > len(data):
            raise fault(
                at, f"Data too short: a chunk of {size} bytes, {len(data) - start} are left"
            )
        if name == b"fmt ":
            kind = _format(data, start, size)
        elif name == b"data":
            channels, rate = kind
            if not channels:
                raise fault(at, "samples before their format")
            count = size // (2 * channels)
            flat = np.frombuffer(data, "<i2", count * channels, start)
            return flat.astype(np.float32).reshape(count, channels) / np.float32(1 << 15), rate
        at = start + size + size % 2
    raise fault(at, "a WAV file without samples")


def _format(data: bytes, at: int, size: int) -> tuple[int, int]:
    """Channels, and samples in a second."""
    if size < 16:
        raise fault(at, f"Bad format chunk size for WAV: Expected 16 or 18, but got {size}")
    kind, channels, rate, _, _, bits = struct.unpack_from("<2H2I2H", data, at)
    if kind != _PCM:
        raise fault(at, f"Bad audio format for WAV: Expected 1 (PCM), but got {kind}")
    if bits != _BITS:
        raise fault(at + 14, f"Can only read 16-bit WAV files, but received {bits}")
    if not channels or not rate:
        raise fault(at + 2, f"Bad sample rate or number of channels: {rate}, {channels}")
    return channels, rate


def wav_of(samples: NDArray[Any], rate: int) -> bytes:
    """The bytes of samples f32 [samples, channels].

    Raises:
        ValueError: they have another rank, or the rate is not positive.
    """
    if samples.ndim != 2 or rate <= 0:
        raise ValueError(
            f"audio must be 2-dimensional, and the rate positive: {samples.shape}, {rate}"
        )
    scaled = samples.astype(np.float32) * np.float32(1 << 15)
    whole = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    body: bytes = np.clip(whole, -(1 << 15), (1 << 15) - 1).astype("<i2").tobytes()
    channels = samples.shape[1]
    head = struct.pack("<2H2I2H", _PCM, channels, rate, rate * channels * 2, channels * 2, _BITS)
    riff = struct.pack("<4sI4s4sI", b"RIFF", 36 + len(body), b"WAVE", b"fmt ", 16)
    return riff + head + struct.pack("<4sI", b"data", len(body)) + body
