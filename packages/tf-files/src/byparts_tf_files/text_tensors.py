"""Tensors of texts in a checkpoint: their lengths, a checksum of these, and all texts in a row.

Source: TensorFlow's `core/util/tensor_bundle/tensor_bundle.cc`, "On-disk format" of strings.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_tf_files.crc32c import crc32c, masked
from byparts_tf_files.wire import fault, read_varint, varint


def texts_of(data: bytes, count: int) -> list[bytes]:
    """The texts.

    Raises:
        DecodeError: the bytes are not `count` texts.
    """
    lengths, at = [], 0
    if count > len(data):
        raise fault(0, f"{count} texts in {len(data)} bytes")
    for _ in range(count):
        length, at = read_varint(data, at, len(data))
        lengths.append(length)
    expected = masked(crc32c(_numbers(lengths))).to_bytes(4, "little")
    if data[at : at + 4] != expected:
        raise fault(at, "the checksum of the lengths of the texts differs")
    at += 4
    if sum(lengths) != len(data) - at:
        raise fault(at, f"{len(data) - at} bytes of texts; their lengths are {sum(lengths)}")
    texts = []
    for length in lengths:
        texts.append(data[at : at + length])
        at += length
    return texts


def bytes_of_texts(texts: Sequence[bytes]) -> bytes:
    """The bytes of texts, as they stand in a data file."""
    lengths = [len(text) for text in texts]
    check = masked(crc32c(_numbers(lengths))).to_bytes(4, "little")
    return b"".join([*map(varint, lengths), check, *texts])


def checksum_of_texts(texts: Sequence[bytes]) -> int:
    """The checksum that the index has: of the lengths as numbers, their checksum and the texts."""
    numbers = _numbers([len(text) for text in texts])
    return crc32c(b"".join([numbers, masked(crc32c(numbers)).to_bytes(4, "little"), *texts]))


def _numbers(lengths: Sequence[int]) -> bytes:
    """Lengths as 4 bytes each, or 8 where 4 are too few."""
    return b"".join([n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths])
