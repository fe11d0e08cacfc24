"""The checksum of short and of long data."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from byparts_tf_files.crc32c import crc32c, masked_crc32c


def _bit_by_bit(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_published_checksums(data: bytes, expected: int) -> None:
    """RFC 3720, appendix B.4."""
    assert crc32c(data) == expected


@given(st.binary(max_size=3000))
def test_bit_by_bit(data: bytes) -> None:
    assert crc32c(data) == _bit_by_bit(data)


@pytest.mark.parametrize("size", [5000, 136_439, 136_440, 136_441, 400_003])
def test_long_data(size: int) -> None:
    """On both sides of where it is made short first."""
    data = np.random.default_rng(size).bytes(size)

    assert crc32c(data) == _bit_by_bit(data) == crc32c(memoryview(bytearray(data)))


def test_the_mask_of_tensorflow() -> None:
    """Of the length of a record of 62 bytes, as TensorFlow writes it."""
    assert masked_crc32c((62).to_bytes(8, "little")).to_bytes(4, "little").hex() == "d9d240e7"
