"""Compares what a program printed with a recorded log: text exactly, fractions within a tolerance.

Numbers with a point or an exponent are compared by value; all else, integers too, as it stands.
What NumPy 2 prints as `np.float32(1.5)` is `1.5`, as it was when the programs were written.
"""

from __future__ import annotations

import re
from itertools import zip_longest

_TOKEN = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|\w+|\S")
_FRACTION = re.compile(r"[-+]?(?:\d*\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)")
_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool|str|bytes)\w*\(([^()]*)\)")


def differences(expected: str, given: str, tolerance: float) -> list[str]:
    """The lines that differ, each as a sentence with both; none if `given` is right.

    Args:
        expected: the recorded lines.
        given: what was printed now.
        tolerance: how far a fraction may be from the expected one: relative to it where it is
            larger than 1 or has an exponent, else absolute; at least one unit of its last digit.
    """
    pairs = zip_longest(expected.splitlines(), given.splitlines())
    return [
        f"line {number}: expected {line!r}, but it is {other!r}"
        for number, (line, other) in enumerate(pairs, 1)
        if line is None or other is None or not _same_line(line, other, tolerance)
    ]


def _same_line(expected: str, given: str, tolerance: float) -> bool:
    left, right = _tokens(expected), _tokens(given)
    if len(left) != len(right):
        return False
    return all(a == b or _close(a, b, tolerance) for a, b in zip(left, right, strict=True))


def _tokens(line: str) -> list[str]:
    return [str(token) for token in _TOKEN.findall(_SCALAR.sub(r"\1", line))]


def _close(expected: str, given: str, tolerance: float) -> bool:
    if not (_FRACTION.fullmatch(expected) and _FRACTION.fullmatch(given)):
        return False
    a, b = float(expected), float(given)
    mantissa, _, exponent = expected.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    scale = abs(a) if exponent else max(1.0, abs(a))
    return abs(a - b) <= max(tolerance * scale, 1.01 * 10.0**-digits)
