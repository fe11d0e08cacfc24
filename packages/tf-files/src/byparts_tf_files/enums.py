"""Enumerations of messages: numbers with names."""

from __future__ import annotations

from byparts_tf_files.scalars import SCALARS, Scalar
from byparts_tf_files.wire import VARINT


class Enum:
    """Numbers with names.  A file may have numbers without one.

    Args:
        name: of the enumeration.
        numbers: name -> number.
    """

    def __init__(self, name: str, **numbers: int) -> None:
        self.name, self._numbers = name, numbers
        self._names = {number: key for key, number in numbers.items()}
        int32 = SCALARS["int32"]
        self.scalar = Scalar("enum", VARINT, 0, self._checked, of_varint=int32.of_varint)

    def Name(self, number: int) -> str:  # noqa: N802 - protobuf's name
        """The name of a number.

        Raises:
            ValueError: it has none.
        """
        if number not in self._names:
            raise ValueError(f"Enum {self.name} has no name defined for value {number}")
        return self._names[number]

    def Value(self, name: str) -> int:  # noqa: N802 - protobuf's name
        """The number of a name.

        Raises:
            ValueError: there is no such name.
        """
        if name not in self._numbers:
            raise ValueError(f"Enum {self.name} has no value defined for name {name!r}")
        return self._numbers[name]

    def keys(self) -> list[str]:
        """The names."""
        return list(self._numbers)

    def values(self) -> list[int]:
        """The numbers."""
        return list(self._numbers.values())

    def items(self) -> list[tuple[str, int]]:
        """Names with their numbers."""
        return list(self._numbers.items())

    def __getattr__(self, name: str) -> int:
        if name.startswith("__") or name not in self._numbers:
            raise AttributeError(f"enum has no name {name!r}")
        return self._numbers[name]

    def _checked(self, value: object) -> int:
        if isinstance(value, str):
            return self.Value(value)
        checked: int = SCALARS["int32"].checked(value)
        return checked
