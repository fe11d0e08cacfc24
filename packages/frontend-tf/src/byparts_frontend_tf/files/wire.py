"""Protobuf's wire format: numbers, texts and lengths as bytes.

Source: "Protocol Buffers: Encoding" (protobuf.dev/programming-guides/encoding).  A message is a
row of fields; a field is a tag (number of the field, wire type) and a value: a varint, 4 or 8
bytes, or a length and so many bytes.  Groups (wire types 3 and 4), which proto3 no longer has, are
refused, as are varints of more than 10 bytes and whatever reaches beyond its end.  Every refusal
is a `DecodeError` with the byte where it stands.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import index
from typing import Any

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
    """Of a value with its length in front: the bytes where it begins and ends.

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


@dataclass(frozen=True)
class Scalar:
    """A kind of value that is no message.

    Attributes:
        name: as protobuf calls it.
        wire: its wire type.
        default: what a field that is not there has.
        checked: the value as it is kept; TypeError or ValueError if it is none of this kind.
        format: of `struct`, for values of 4 or 8 bytes.
        of_varint: the value of a number in [0, 2**64).
    """

    name: str
    wire: int
    default: Any
    checked: Callable[[Any], Any]
    format: str = ""
    of_varint: Callable[[int], Any] = bool

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        """The value at byte `at`, and the byte behind it.

        Raises:
            DecodeError: it is damaged.
        """
        if self.wire == VARINT:
            number, at = read_varint(data, at, end)
            return self.of_varint(number), at
        if self.wire == LENGTH:
            start, at = read_length(data, at, end)
            return (_text(data, start, at) if self.name == "string" else data[start:at]), at
        behind = skip(data, at, end, self.wire)
        return struct.unpack_from(f"<{self.format}", data, at)[0], behind

    def read_packed(self, data: bytes, at: int, end: int) -> Iterable[Any]:
        """The values that fill the bytes [at, end).

        Raises:
            DecodeError: they are damaged.
        """
        if self.wire == VARINT:
            numbers = _varints(data, at, end)
            return numbers if self.name == "uint64" else map(self.of_varint, numbers)
        size_bytes = 4 if self.wire == FIXED32 else 8
        count, more = divmod(end - at, size_bytes)
        if more:
            raise fault(at, f"{end - at} bytes of numbers of {size_bytes} bytes each")
        return struct.unpack_from(f"<{count}{self.format}", data, at)

    def written(self, value: Any) -> bytes:
        """The bytes of a value, without a tag."""
        if self.wire == VARINT:
            return varint(value)
        if self.wire == LENGTH:
            data: bytes = value.encode() if self.name == "string" else value
            return varint(len(data)) + data
        return struct.pack(f"<{self.format}", value)

    def written_packed(self, values: list[Any]) -> bytes:
        """The bytes of values one behind the other."""
        if self.wire != VARINT:
            return struct.pack(f"<{len(values)}{self.format}", *values)
        if max(values) < 0x80 and min(values) >= 0:
            return bytes(values)
        return b"".join(map(varint, values))


def _text(data: bytes, start: int, end: int) -> str:
    piece = data[start:end]
    try:
        return piece.decode()
    except UnicodeDecodeError as error:
        raise fault(start, f"a string that is no UTF-8: {piece[:40]!r}") from error


def _varints(data: bytes, at: int, end: int) -> list[int]:
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


def _integer(bits: int, signed: bool) -> Callable[[Any], int]:
    lower, upper = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)

    def checked(value: Any) -> int:
        try:
            number = index(value)
        except TypeError as error:
            raise _wrong(value, "int") from error
        if not lower <= number < upper:
            raise ValueError(f"Value out of range: {number}")
        return number

    return checked


def _signed(bits: int) -> Callable[[int], int]:
    half, whole = 1 << bits - 1, 1 << bits
    return lambda number: ((number + half) & whole - 1) - half


def _bool(value: Any) -> bool:
    if not isinstance(value, (int, np.bool_, np.integer)):
        raise _wrong(value, "bool, int")
    return bool(value)


def _double(value: Any) -> float:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise _wrong(value, "int, float")
    return float(value)


def _single(value: Any) -> float:
    """The nearest number of 32 bits; too large ones are infinite."""
    with np.errstate(over="ignore"):
        return float(np.float32(_double(value)))


def _string(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{value!r} has type bytes, but isn't valid UTF-8") from error
    if not isinstance(value, str):
        raise _wrong(value, "bytes, str")
    value.encode()  # half a surrogate pair is a UnicodeEncodeError, which is a ValueError
    return str(value)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _wrong(value, "bytes")
    return bytes(value)


def _wrong(value: Any, expected: str) -> TypeError:
    return TypeError(f"{value!r:.80} has type {type(value)}, but expected one of: {expected}")


_KINDS = (
    Scalar("int32", VARINT, 0, _integer(32, True), of_varint=_signed(32)),
    Scalar("int64", VARINT, 0, _integer(64, True), of_varint=_signed(64)),
    Scalar("uint32", VARINT, 0, _integer(32, False), of_varint=lambda n: n & 0xFFFFFFFF),
    Scalar("uint64", VARINT, 0, _integer(64, False), of_varint=int),
    Scalar("bool", VARINT, False, _bool),
    Scalar("fixed32", FIXED32, 0, _integer(32, False), "I"),
    Scalar("fixed64", FIXED64, 0, _integer(64, False), "Q"),
    Scalar("float", FIXED32, 0.0, _single, "f"),
    Scalar("double", FIXED64, 0.0, _double, "d"),
    Scalar("string", LENGTH, "", _string),
    Scalar("bytes", LENGTH, b"", _bytes),
)
SCALARS = {kind.name: kind for kind in _KINDS}
