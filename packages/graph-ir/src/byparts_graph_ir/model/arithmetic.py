"""Python's operators on values, declared once; an op set says what they build.

`x + y` looks up "add" in `arithmetic`, which an op set fills when it is imported (opset does).
Until then values have no arithmetic, and say so.

`x == y` is whether both are one value, as dictionaries keyed by values need, and as a number it is
an error (`sameness.py`).  A value compared with a number or an array would always be another one,
which whoever writes `x == 0.0` does not mean: an error, too.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ArgumentError, GraphError
from byparts_graph_ir.model.sameness import EQUAL, NOT_EQUAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn, TypeAlias

    from byparts_graph_ir.model.types import Shape, TensorType
    from byparts_graph_ir.model.value import Value

Operand: TypeAlias = "Value | float | int"

# Keys: lift, add, sub, mul, div, floordiv, mod, pow, neg, abs, matmul, and, or, xor, invert,
# lshift, rshift, less, less_equal, greater, greater_equal, getitem, transpose.
# `lift(operands, op name)` makes values of the numbers in a tuple of operands.
arithmetic: dict[str, Callable[..., Any]] = {}


def arithmetic_rule(what: str) -> Callable[..., Any]:
    """The function that builds the operator called `what`.

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
    __hash__ = object.__hash__
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

    def __rmatmul__(self, other: Value) -> Value:
        return _arithmetic("matmul", other, self)

    def __and__(self, other: Operand) -> Value:
        return _arithmetic("and", self, other)

    def __rand__(self, other: Operand) -> Value:
        return _arithmetic("and", other, self)

    def __or__(self, other: Operand) -> Value:
        return _arithmetic("or", self, other)

    def __ror__(self, other: Operand) -> Value:
        return _arithmetic("or", other, self)

    def __xor__(self, other: Operand) -> Value:
        return _arithmetic("xor", self, other)

    def __rxor__(self, other: Operand) -> Value:
        return _arithmetic("xor", other, self)

    def __lshift__(self, other: Operand) -> Value:
        return _arithmetic("lshift", self, other)

    def __rlshift__(self, other: Operand) -> Value:
        return _arithmetic("lshift", other, self)

    def __rshift__(self, other: Operand) -> Value:
        return _arithmetic("rshift", self, other)

    def __rrshift__(self, other: Operand) -> Value:
        return _arithmetic("rshift", other, self)

    def __invert__(self) -> Value:
        return _arithmetic("invert", self)

    def __neg__(self) -> Value:
        return _arithmetic("neg", self)

    def __abs__(self) -> Value:
        return _arithmetic("abs", self)

    def __eq__(self, other: object) -> bool:
        return _same(self, other, EQUAL, "==", "equal")

    def __ne__(self, other: object) -> bool:
        return _same(self, other, NOT_EQUAL, "!=", "not_equal")

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

    @property
    def dtype(self) -> str:
        """The dtype of the elements, as "f32"."""
        return _type_of(self).dtype

    @property
    def shape(self) -> Shape:
        """A tuple of numbers, symbols and `None`; `None` where the rank is unknown."""
        return _type_of(self).shape

    @property
    def ndim(self) -> int | None:
        """Number of dimensions, `None` where unknown."""
        return _type_of(self).rank

    @property
    def size(self) -> int:
        """Number of elements.

        Raises:
            ShapeError: some dimension is not known.
        """
        return _type_of(self).size

    @property
    def T(self) -> Value:  # noqa: N802  # NumPy's name
        """The value with its axes turned round."""
        return _arithmetic("transpose", self)

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


class _Absent(str):
    """An attribute that values do not have; the error says what to write instead.

    One `__getattr__` would do for all names, and slow every `value.type` down: building a node took
    9 % longer.
    """

    __slots__ = ()
    advice: Callable[[str], str]

    def __get__(self, value: object, owner: type) -> NoReturn:
        name = str(self)
        missing = f"{owner.__name__!r} object has no attribute {name!r}"
        raise AttributeError(f"{missing}; use {self.advice(name)}")


def advise(names: Iterable[str], advice: Callable[[str], str]) -> None:
    """Let `x.name` say what to write instead, for NumPy's names of what an op set has.

    Names that values have are left as they are.
    """
    absent: Any = type("_Absent", (_Absent,), {"advice": staticmethod(advice), "__slots__": ()})
    for name in map(absent, set(names).difference(dir(Arithmetic))):
        setattr(Arithmetic, name, name)


def _type_of(value: Any) -> TensorType:
    kind: TensorType = value.type
    return kind


def _same(value: Any, other: object, answers: Any, sign: str, name: str) -> bool:
    """The answer for another value; `NotImplemented` for what is no number and no array.

    Raises:
        ArgumentError: a number or an array.
    """
    if isinstance(other, Arithmetic):
        return answers[value is other]  # type: ignore[no-any-return]  # it has a truth
    if isinstance(other, (int, float, complex, list, tuple)) or hasattr(other, "dtype"):
        raise ArgumentError(
            f"x {sign} {other!r:.40} asks whether a value of type {value.type} is that very "
            f"{type(other).__name__}, which it never is; use ops.{name}(x, {other!r:.40})"
        )
    return NotImplemented  # type: ignore[no-any-return]  # as Python asks of `__eq__`


def _arithmetic(what: str, *operands: Any) -> Value:
    value: Value = arithmetic_rule(what)(*operands)
    return value
