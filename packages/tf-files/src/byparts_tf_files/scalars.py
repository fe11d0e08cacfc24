"""The kinds of values that are no messages: how each is checked, read and written.

Numbers are kept as protobuf keeps them: a `float` is rounded to 32 bits when it is set, integers
must be in range, texts are UTF-8.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from byparts_tf_files.wire import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    fault,
    read_length,
    read_varint,
    read_varints,
    skip,
    varint,
)


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
        many_checked: `checked` for many values at once; `None` of it leaves them to `checked`.
    """

    name: str
    wire: int
    default: Any
    checked: Callable[[Any], Any]
    format: str = ""
    of_varint: Callable[[int], Any] = bool
    many_checked: Callable[[Scalar, Sequence[Any]], list[Any] | None] | None = None

    def all_checked(self, values: Iterable[Any]) -> list[Any]:
        """The values as they are kept.

        Raises:
            TypeError: one is of another kind.
            ValueError: one is out of range.
        """
        given = values.tolist() if isinstance(values, np.ndarray) else list(values)
        checked = self.many_checked(self, given) if self.many_checked else None
        return [*map(self.checked, given)] if checked is None else checked

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
            numbers = read_varints(data, at, end)
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
    return array("f", (_double(value),))[0]


def _integers(kind: Scalar, values: Sequence[Any]) -> list[Any] | None:
    """All of them if they are integers of the kind, else `None`."""
    try:
        numbers = [*map(index, values)]
        kind.checked(min(numbers, default=0))
        kind.checked(max(numbers, default=0))
    except (TypeError, ValueError):
        return None  # and `checked` says which one
    return numbers


def _singles(kind: Scalar, values: Sequence[Any]) -> list[Any] | None:
    """All of them if they are numbers, else `None`."""
    try:
        return array("f", values).tolist()
    except TypeError:
        return None


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
    Scalar("int32", VARINT, 0, _integer(32, True), "", _signed(32), _integers),
    Scalar("int64", VARINT, 0, _integer(64, True), "", _signed(64), _integers),
    Scalar("uint32", VARINT, 0, _integer(32, False), of_varint=lambda n: n & 0xFFFFFFFF),
    Scalar("uint64", VARINT, 0, _integer(64, False), of_varint=int),
    Scalar("bool", VARINT, False, _bool),
    Scalar("fixed32", FIXED32, 0, _integer(32, False), "I"),
    Scalar("fixed64", FIXED64, 0, _integer(64, False), "Q"),
    Scalar("float", FIXED32, 0.0, _single, "f", many_checked=_singles),
    Scalar("double", FIXED64, 0.0, _double, "d"),
    Scalar("string", LENGTH, "", _string),
    Scalar("bytes", LENGTH, b"", _bytes),
)
SCALARS = {kind.name: kind for kind in _KINDS}
