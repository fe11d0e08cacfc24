"""Protobuf's wire format: numbers, texts and lengths as bytes.

Source: "Protocol Buffers: Encoding" (protobuf.dev/programming-guides/encoding).  A message is a
row of fields; a field is a tag (number of the field, wire type) and a value: a varint, 4 or 8
bytes, or a length and so many bytes.  Groups (wire types 3 and 4), which proto3 no longer has, are
refused, as are varints of more than 10 bytes and whatever reaches beyond its end.  Every refusal
is a `DecodeError` with the byte where it stands.
"""

from __future__ import annotations

import numpy as np

from byparts_graph_ir import FormatError

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
MAX_DEPTH = 100  # protobuf's own limit of messages in messages
_ALL = (1 << 64) - 1


class DecodeError(FormatError):
    """Bytes that are no message; the text says at which byte."""


def fault(at: int, what: str) -> DecodeError:
    """The error that says what is wrong at byte `at`."""
    return DecodeError(f"byte {at}: {what}")


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number, in [0, 2**64), that begins at byte `at`, and the byte behind it.

    Raises:
        DecodeError: it has more than 10 bytes, or reaches byte `end`.
    """
    value = shift = 0
    start = at
    while at < end:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value & _ALL, at
        shift += 7
        if shift == 70:
            raise fault(start, "a varint of more than 10 bytes")
    raise fault(start, "a varint that reaches beyond its end")


def varint(value: int) -> bytes:
    """The bytes of a number; a negative one is taken modulo 2**64."""
    if 0 <= value < 0x80:
        return bytes((value,))
    value &= _ALL
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def read_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Read the length in front of a value; returns the bytes where the value begins and ends.

    Raises:
        DecodeError: it reaches beyond byte `end`.
    """
    start = at + 1
    if at < end and data[at] < 0x80:
        length = data[at]
    else:
        length, start = read_varint(data, at, end)
    if length > end - start:
        raise fault(at, f"a length of {length} bytes; {end - start} are left")
    return start, start + length


def read_tag(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """The number and the wire type of the field at byte `at`, and the byte behind the tag.

    Raises:
        DecodeError: it is no tag.
    """
    tag, behind = data[at], at + 1
    if tag >= 0x80:
        tag, behind = read_varint(data, at, end)
    if not 8 <= tag < 1 << 32:
        raise fault(at, f"field {tag >> 3}; expected 1 to 536870911")
    return tag >> 3, tag & 7, behind


def skip(data: bytes, at: int, end: int, wire: int) -> int:
    """The byte behind a value of this wire type that begins at byte `at`.

    Raises:
        DecodeError: it is a group, or reaches beyond byte `end`.
    """
    if wire == VARINT:
        return read_varint(data, at, end)[1]
    if wire == LENGTH:
        return read_length(data, at, end)[1]
    if wire not in (FIXED32, FIXED64):
        raise fault(at, f"wire type {wire}; expected 0, 1, 2 or 5 (groups are not read)")
    behind = at + (4 if wire == FIXED32 else 8)
    if behind > end:
        raise fault(at, f"{behind - at} bytes of a number; {end - at} are left")
    return behind


def read_varints(data: bytes, at: int, end: int) -> list[int]:
    """All numbers in the bytes [at, end)."""
    piece = data[at:end]
    if piece.isascii():
        return list(piece)
    if len(piece) < 64:
        numbers: list[int] = []
        while at < end:
            number, at = read_varint(data, at, end)
            numbers.append(number)
        return numbers
    raw = np.frombuffer(piece, np.uint8)
    lasts = np.flatnonzero(raw < 0x80)
    if not len(lasts) or lasts[-1] != len(raw) - 1:
        raise fault(end, "a varint that reaches beyond its end")
    starts = np.concatenate(([0], lasts[:-1] + 1))
    lengths = lasts - starts + 1
    if lengths.max() > 10:
        raise fault(at + int(starts[lengths.argmax()]), "a varint of more than 10 bytes")
    shifts = (7 * (np.arange(len(raw)) - np.repeat(starts, lengths))).astype(np.uint64)
    parts = (raw & 0x7F).astype(np.uint64) << shifts
    many: list[int] = np.add.reduceat(parts, starts).tolist()
    return many
