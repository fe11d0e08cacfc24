"""Byte counts for people."""

from __future__ import annotations


def human(size_bytes: int) -> str:
    """With three digits or four, in powers of 1024.

    >>> human(999), human(4096), human(205_841_920)
    ('999 B', '4.00 KiB', '196.3 MiB')
    """
    if size_bytes < 1024:
        return f"{size_bytes} B"
    size, unit = float(size_bytes), -1
    while size >= 1024 and unit < 3:
        size, unit = size / 1024, unit + 1
    return f"{size:.{2 if size < 10 else 1}f} {('KiB', 'MiB', 'GiB', 'TiB')[unit]}"
