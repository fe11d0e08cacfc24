"""Byte counts for people."""

from __future__ import annotations


def human(size_bytes: int) -> str:
    """A byte count as text, with three or four digits, in units of powers of 1024.

    >>> human(999), human(4096), human(205_841_920)
    ('999 B', '4.00 KiB', '196.3 MiB')
    """
    if size_bytes < 1024:
        return f"{size_bytes} B"
    if size_bytes >= 1 << 60:  # more than a float may hold
        return f"{size_bytes >> 40} TiB"
    size, unit = float(size_bytes), -1
    while size >= 1024 and unit < 3:
        size, unit = size / 1024, unit + 1
    return f"{size:.{2 if size < 10 else 1}f} {('KiB', 'MiB', 'GiB', 'TiB')[unit]}"


def size_bytes(text: str) -> int:
    """Read a byte count, with a unit or without; MB is a million bytes, MiB is 1024 x 1024.

    >>> size_bytes("1048576"), size_bytes("1 MiB"), size_bytes("1.5kB")
    (1048576, 1048576, 1500)

    Raises:
        ValueError: it is neither, or a part of a byte.
    """
    number = text.strip().lower()
    for power, unit in enumerate("kmgt", 1):
        for ending, base in ((f"{unit}ib", 1024), (f"{unit}b", 1000)):
            if number.endswith(ending):
                return _whole(text, number[: -len(ending)], base**power)
    return _whole(text, number.removesuffix("b"), 1)


def _whole(text: str, number: str, unit: int) -> int:
    digits, _, fraction = number.strip().partition(".")
    part = unit == 1 and fraction.strip("0")
    if part or not f"{digits}{fraction}".isdecimal() or len(number) > 30:
        raise ValueError(f"{text!r} is not an amount; expected bytes, such as 1048576 or 1MiB")
    scale: int = 10 ** len(fraction)
    return int(f"{digits}{fraction}") * unit // scale
