"""Python's operators on values, declared once; an op set says what they build.

`x + y` looks up "add" in `arithmetic`, which an op set fills when it is imported (opset does).
Until then values have no arithmetic, and say so.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn, TypeAlias

    from byparts_graph_ir.graph import Value

Operand: TypeAlias = "Value | float | int | bool"

# Keys: lift, add, sub, mul, div, floordiv, mod, pow, neg, abs, matmul, less, less_equal, greater,
# greater_equal, getitem.  `lift` makes values of the numbers in a tuple of operands.
arithmetic: dict[str, Callable[..., Any]] = {}


def arithmetic_rule(what: str) -> Callable[..., Any]:
    """What builds the operator called `what`.

    Raises:
        GraphError: no op set has been imported.
    """
    rule = arithmetic.get(what)
    if rule is None:
        raise GraphError(f"values have no {what!r} yet: import byparts_opset, or another op set")
    return rule


class Arithmetic:
    """The operators.  Numbers take the dtype of the value they meet."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy: leave `array + value` to the value, which refuses it clearly

    def __add__(self, other: Operand) -> Value:
        return _arithmetic("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return _arithmetic("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return _arithmetic("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return _arithmetic("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return _arithmetic("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return _arithmetic("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return _arithmetic("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _arithmetic("div", other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return _arithmetic("floordiv", self, other)

    def __rfloordiv__(self, other: Operand) -> Value:
        return _arithmetic("floordiv", other, self)

    def __mod__(self, other: Operand) -> Value:
        return _arithmetic("mod", self, other)

    def __rmod__(self, other: Operand) -> Value:
        return _arithmetic("mod", other, self)

    def __pow__(self, other: Operand) -> Value:
        return _arithmetic("pow", self, other)

    def __rpow__(self, other: Operand) -> Value:
        return _arithmetic("pow", other, self)

    def __matmul__(self, other: Value) -> Value:
        return _arithmetic("matmul", self, other)

    def __neg__(self) -> Value:
        return _arithmetic("neg", self)

    def __abs__(self) -> Value:
        return _arithmetic("abs", self)

    def __lt__(self, other: Operand) -> Value:
        return _arithmetic("less", self, other)

    def __le__(self, other: Operand) -> Value:
        return _arithmetic("less_equal", self, other)

    def __gt__(self, other: Operand) -> Value:
        return _arithmetic("greater", self, other)

    def __ge__(self, other: Operand) -> Value:
        return _arithmetic("greater_equal", self, other)

    def __getitem__(self, index: Any) -> Value:
        return _arithmetic("getitem", self, index)

    def __iter__(self) -> Iterator[Value]:
        kind = getattr(self, "type", self)
        raise GraphError(f"a value of type {kind} cannot be iterated; use split or slices")

    def __array__(self, *_: object, **__: object) -> NoReturn:  # or NumPy makes one of an object
        kind = getattr(self, "type", self)
        raise GraphError(f"a value of type {kind} has no numbers until the program runs")

    def __bool__(self) -> NoReturn:
        kind = getattr(self, "type", self)
        raise GraphError(
            f"a value of type {kind} has no truth until the program runs; "
            "choose inside the program, as in select(condition, x, y)"
        )


def _arithmetic(what: str, *operands: Any) -> Value:
    value: Value = arithmetic_rule(what)(*operands)
    return value
