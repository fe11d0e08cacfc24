"""Data packed by snappy."""

from pathlib import Path

import numpy as np
import pytest

from byparts_tf_files.snappy import unpacked
from byparts_tf_files.wire import DecodeError


def test_what_snappy_packed() -> None:
    """Repeats near and far, and what does not repeat."""
    with np.load(Path(__file__).parent / "recorded" / "snappy.npz") as file:
        assert unpacked(file["packed"].tobytes()) == file["plain"].tobytes()


@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        (b"\0", b""),
        (b"\3\x08abc", b"abc"),
        (b"\x09\x08abc\x09\3", b"abcabcabc"[:9]),
        (b"\x07\0a\x16\1\0", b"a" * 7),
        (b"\x07\0a\x17\1\0\0\0", b"a" * 7),
        (b"\x3d\xf0\x3c" + b"x" * 61, b"x" * 61),
    ],
)
def test_each_kind_of_element(packed: bytes, plain: bytes) -> None:
    """Short and long literals; copies of three kinds, which may overlap what they make."""
    assert unpacked(packed) == plain


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"", "byte 0: a varint"),
        (b"\3\x08ab", "byte 1: 3 bytes of a literal; 2 are left"),
        (b"\4\x08abc", "byte 5: 3 bytes; expected the 4"),
        (b"\2\x08abc", "byte 1: more than the 2 bytes"),
        (b"\7\x08abc\x01\4", "byte 5: a copy from 4 bytes before byte 3"),
        (b"\7\x08abc\x01\0", "byte 5: a copy from 0 bytes before byte 3"),
        (b"\7\x08abc\x02\1", "byte 5: a copy that reaches beyond the end"),
        (b"\xff\xff\xff\xff\x0f\0a", "byte 0: 4294967295 bytes cannot be packed in 2"),
    ],
)
def test_damage_is_named_with_its_byte(packed: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        unpacked(packed)
