"""What `x == y` of two values of a graph gives: whether both are one value, which is no number.

Dictionaries, sets, `in` and `if` ask for its truth, and that is all it has.  A bool would count as
0 or 1 in arithmetic, so `(x != y) * 1.0`, which in other libraries is a mask, would be 1.0 in
silence; here it is an error that says what to write.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Sameness:
    """Whether two values are one, asked with `sign`; true or false, and an error as a number."""

    __slots__ = ("_holds", "sign")

    def __init__(self, holds: bool, sign: str) -> None:
        self._holds, self.sign = holds, sign

    def __bool__(self) -> bool:
        return self._holds

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (bool, Sameness)) and bool(other) is self._holds

    def __hash__(self) -> int:
        return hash(self._holds)

    def __repr__(self) -> str:
        return repr(self._holds)

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Say that identity was asked for, and how to ask for equal elements.

        Raises:
            ArgumentError: always.
        """
        name = "equal" if self.sign == "==" else "not_equal"
        raise ArgumentError(
            f"x {self.sign} y compares identity of graph values; write ops.{name}(x, y)"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __neg__ = __pos__ = __abs__ = refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = refuse
    __int__ = __float__ = __index__ = __array__ = refuse


# Of the sign, and whether both are one value.  `__eq__` says bool to type checkers.
EQUAL: Any = {same: Sameness(same, "==") for same in (True, False)}
NOT_EQUAL: Any = {same: Sameness(not same, "!=") for same in (True, False)}
