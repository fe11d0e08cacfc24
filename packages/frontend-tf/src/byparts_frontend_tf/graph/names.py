"""Names as TensorFlow gives them: `x`, `x_1`, `x_2`, whatever the case of the letters."""

from __future__ import annotations

import re

_VALID_OP = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_VALID_SCOPE = re.compile(r"^[A-Za-z0-9_.\-/]*$")


class Names:
    """The names taken in a graph."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}  # in small letters -> the number to try next

    def unique(self, name: str, mark: bool = True) -> str:
        """`name`, with a number behind it if it is taken; `mark`: it is taken from now on."""
        key = name.lower()
        number = self._taken.get(key, 0)
        if mark:
            self._taken[key] = number + 1
        if number == 0:
            return name
        base = key
        while key in self._taken:
            key = f"{base}_{number}"
            number += 1
        if mark:
            self._taken[key] = 1
        return f"{name}_{number - 1}"

    def is_taken(self, name: str) -> bool:
        """Whether an operation or scope has the name, whatever the case of its letters."""
        return name.lower() in self._taken


def check_op_name(name: str) -> None:
    """Raise ValueError unless an operation may be called so."""
    if not _VALID_OP.match(name):
        raise ValueError(f"{name!r} is not a valid node name")


def check_scope_name(name: str, inside: bool) -> None:
    """Raise ValueError unless a scope may be called so, inside another one or at the root."""
    if not (_VALID_SCOPE if inside else _VALID_OP).match(name):
        raise ValueError(f"{name!r} is not a valid scope name")
