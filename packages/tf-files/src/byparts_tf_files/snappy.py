"""Unpacks data that snappy has packed.

Source: "Snappy compressed format description" (google/snappy, `format_description.txt`): the length
of the result as a varint, then literals and copies of what came before.
"""

from __future__ import annotations

from byparts_tf_files.wire import fault, read_varint

_MOST = 64 // 3 + 1  # bytes of a result for one byte of a copy


def unpacked(data: bytes) -> bytes:
    """Unpack data in the format of Snappy.

    Raises:
        DecodeError: it is damaged; at which byte.
    """
    length, at = read_varint(data, 0, len(data))
    if length > (len(data) - at) * _MOST:
        raise fault(0, f"{length} bytes cannot be packed in {len(data) - at}")
    made = bytearray()
    while at < len(data):
        start, tag = at, data[at]
        if tag & 3 == 0:
            at = _literal(data, at, made)
        else:
            size, distance, at = _copy(data, at)
            if not 0 < distance <= len(made):
                raise fault(start, f"a copy from {distance} bytes before byte {len(made)}")
            _repeat(made, distance, size)
        if len(made) > length:
            raise fault(start, f"more than the {length} bytes it begins with")
    if len(made) != length:
        raise fault(at, f"{len(made)} bytes; expected the {length} it begins with")
    return bytes(made)


def _literal(data: bytes, at: int, made: bytearray) -> int:
    """Take over a literal; the byte behind it."""
    size, start = data[at] >> 2, at + 1
    if size >= 60:
        start += size - 59
        size = int.from_bytes(data[at + 1 : start], "little")
    end = start + size + 1
    if end > len(data):
        raise fault(at, f"{size + 1} bytes of a literal; {max(0, len(data) - start)} are left")
    made += data[start:end]
    return end


def _copy(data: bytes, at: int) -> tuple[int, int, int]:
    """The size and distance in bytes of a copy, and the byte behind it."""
    tag, kind = data[at], data[at] & 3
    behind = at + {1: 2, 2: 3, 3: 5}[kind]
    if behind > len(data):
        raise fault(at, "a copy that reaches beyond the end")
    distance = int.from_bytes(data[at + 1 : behind], "little")
    if kind == 1:
        return (tag >> 2 & 7) + 4, tag >> 5 << 8 | distance, behind
    return (tag >> 2) + 1, distance, behind


def _repeat(made: bytearray, distance: int, size: int) -> None:
    """Add `size` bytes, each the one `distance` bytes before it."""
    start = len(made) - distance
    piece = made[start : start + size]
    made += (piece * (size // len(piece) + 1))[:size]
