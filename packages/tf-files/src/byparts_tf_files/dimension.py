"""`Dimension`: a size along one axis, known or not."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, Optional


class Dimension:
    """A size along one axis: a number, or not known (`value` is `None`)."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        if value is None or isinstance(value, Dimension):
            self.value: Optional[int] = None if value is None else value.value
            return
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(f"Ambiguous dimension: {value}")
        try:
            self.value = int(value) if isinstance(value, (str, float)) else index(value)
        except TypeError as error:
            raise TypeError(f"Dimension value must be integer or None, got {value!r}") from error
        if self.value < 0:
            raise ValueError(f"Dimension {self.value} must be >= 0")

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __int__(self) -> int:
        return int(self.value)  # type: ignore[arg-type]  # TensorFlow raises TypeError for None, too

    def __index__(self) -> int:
        return index(self.value)  # type: ignore[arg-type]  # likewise

    def is_compatible_with(self, other: Any) -> bool:
        """Whether the two may be equal."""
        other = Dimension(other)
        return self.value is None or other.value is None or self.value == other.value

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless the two may be equal."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Unite this size with another that is the same one: the known value, if either has it."""
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other.value if self.value is None else self.value)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a != b)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b)

    def _compared(self, other: Any, compare: Callable[[int, int], bool]) -> Any:
        try:
            right = Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        return None if self.value is None or right is None else compare(self.value, right)

    def _with(self, other: Any, combine: Callable[[int, int], int], turned: bool = False) -> Any:
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.value is None or other.value is None:
            return Dimension(None)
        pair = (other.value, self.value) if turned else (self.value, other.value)
        return Dimension(combine(*pair))

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b, True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a // b, True)

    __div__ = __floordiv__

    def __truediv__(self, other: Any) -> Any:
        raise TypeError("unsupported operand type(s) for /: 'Dimension', please use // instead")

    def __mod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a % b, True)
