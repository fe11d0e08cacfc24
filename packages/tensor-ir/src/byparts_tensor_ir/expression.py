"""Scalar expressions: what one element of a tensor is, and where it stands.

An expression is a node `Expr(op, args, dtype, attr)`.  Equal expressions are one object (hash
consing), so `is` compares them and a shared subexpression is shared.

Indices are not values.  Loop variables, sizes and positions have a dtype of their own, `index`:
their arithmetic never overflows, so it is kept in a normal form, a sum of products with numbers in
front: `linear(atoms, (coefficients, constant))`.  Equal indices are one object whatever way they
were written, and bounds are sums of bounds (`index.py`).  Elements of buffers are never of dtype
`index`: integers (`i64` too) wrap and floats round, so they are left as they were written.  A value
becomes a position by `cast(value, INDEX)`, an index a value by `cast(i, "i64")`.  `//` and `%`
round towards minus infinity, as in Python.

Operations, with NumPy's meaning:

    const var load                       numbers, loop variables and sizes, elements of buffers
    linear mul floordiv mod min max      on indices: `mul` has two factors or more
    add sub mul div neg abs fma sqrt floor ceil rint trunc     on floats (fma rounds once)
    min max                              of two values; of floats they pass NaN on
    add sub mul floordiv mod and or xor shl shr       on integers, modulo 2^bits
    lt le eq ne and or not               to and on bool
    select                               only the arm that is chosen is read
    cast bitcast                         to another dtype; of the same bits
    exp expm1 log log1p tanh erf ...     `functions.FUNCTIONS`: what an emitter expands

Halves (f16, bf16) are dtypes of memory; a value of one is an f32 that it can hold.  Only what is
exact is an operation on them (`const load min max neg abs floor ceil rint trunc lt le eq ne
select`, `cast` to f32), and the `cast` from f32, which rounds to nearest even; arithmetic written
on halves is cast to f32 and back.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, Union
from weakref import WeakValueDictionary

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression_text import expression_text

INDEX = "index"  # of loop variables, sizes, positions: 64 bits that never overflow
HALVES = ("f16", "bf16")
FLOATS = ("f32", "f64", *HALVES)
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
BYTES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "i32": 4, "u32": 4, "f32": 4}  # of an element
BYTES |= {"i64": 8, "u64": 8, "f64": 8, "f16": 2, "bf16": 2, "u16": 2}
VALUE_BYTES = BYTES | dict.fromkeys(HALVES, 4) | {INDEX: 8}  # of a value in a register
Number = Union[int, float, bool]


class ExpressionError(GraphError):
    """Operands that an operation does not take; the message shows them with their dtypes."""


class Variable:
    """The variable behind a `var`: of a loop, or a size where `extent` is `None`.

    Attributes:
        name: as printed.
        low: the least value.
        extent: how many values, as an expression; the greatest is `low + extent - 1`.
    """

    __slots__ = ("extent", "low", "name")

    def __init__(self, name: str, extent: Expr | None = None, low: int = 0) -> None:
        self.name, self.low, self.extent = name, low, extent

    def __repr__(self) -> str:
        return self.name


class Expr:
    """An expression; make one with the operators and the functions of this module."""

    __slots__ = ("__weakref__", "args", "attr", "dtype", "op", "serial")

    op: str
    args: tuple[Expr, ...]
    dtype: str
    attr: Any
    serial: int  # of creation; orders the terms of a sum

    def __add__(self, other: Operand) -> Expr:
        return arithmetic("add", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return arithmetic("add", other, self)

    def __sub__(self, other: Operand) -> Expr:
        return arithmetic("sub", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return arithmetic("sub", other, self)

    def __mul__(self, other: Operand) -> Expr:
        return arithmetic("mul", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return arithmetic("mul", other, self)

    def __truediv__(self, other: Operand) -> Expr:
        return arithmetic("div", self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return arithmetic("div", other, self)

    def __floordiv__(self, other: Operand) -> Expr:
        return arithmetic("floordiv", self, other)

    def __rfloordiv__(self, other: Operand) -> Expr:
        return arithmetic("floordiv", other, self)

    def __mod__(self, other: Operand) -> Expr:
        return arithmetic("mod", self, other)

    def __rmod__(self, other: Operand) -> Expr:
        return arithmetic("mod", other, self)

    def __and__(self, other: Operand) -> Expr:
        return arithmetic("and", self, other)

    def __or__(self, other: Operand) -> Expr:
        return arithmetic("or", self, other)

    def __xor__(self, other: Operand) -> Expr:
        return arithmetic("xor", self, other)

    def __lshift__(self, other: Operand) -> Expr:
        return arithmetic("shl", self, other)

    def __rshift__(self, other: Operand) -> Expr:
        return arithmetic("shr", self, other)

    def __invert__(self) -> Expr:
        return logical_not(self)

    def __neg__(self) -> Expr:
        return (
            arithmetic("sub", 0, self) if self.dtype == INDEX else make("neg", (self,), self.dtype)
        )

    def __lt__(self, other: Operand) -> Expr:
        return comparison("lt", self, other)

    def __le__(self, other: Operand) -> Expr:
        return comparison("le", self, other)

    def __gt__(self, other: Operand) -> Expr:
        return comparison("lt", *pair(self, other)[::-1])

    def __ge__(self, other: Operand) -> Expr:
        return comparison("le", *pair(self, other)[::-1])

    def equal(self, other: Operand) -> Expr:
        """Elementwise equality; `==` compares the expressions themselves."""
        return comparison("eq", self, other)

    def __bool__(self) -> bool:
        if self.op == "const":
            return bool(self.attr)
        raise ExpressionError(
            f"{self} has no truth value before the code runs; use select(condition, a, b), and "
            "`&`, `|`, `~` instead of and, or, not"
        )

    def __repr__(self) -> str:
        return expression_text(self)

    def __reduce__(self) -> Any:
        raise TypeError("expressions are not pickled; keep the tensor expression or the C source")


Operand = Union[Expr, int, float, bool]
# Operation -> function of two indices; `index.py` fills it, which needs this module.
INDEX_ARITHMETIC: dict[str, Callable[[Expr, Expr], Expr]] = {}
_known: WeakValueDictionary[Any, Expr] = WeakValueDictionary()
_count = 0


def make(op: str, args: tuple[Expr, ...], dtype: str, attr: Any = None) -> Expr:
    """The one expression of these parts, not simplified."""
    global _count
    key = (op, args, dtype, repr(attr) if attr.__class__ is float else attr)
    known = _known.get(key)
    if known is None:
        known = object.__new__(Expr)
        _count += 1
        known.op, known.args, known.dtype, known.attr, known.serial = op, args, dtype, attr, _count
        _known[key] = known
    return known


def const(value: Number, dtype: str = INDEX) -> Expr:
    """A number of the dtype; integers are taken modulo 2^bits."""
    if dtype in HALVES:
        return make("const", (), dtype, nearest_half(float(value), dtype))
    if dtype in FLOATS:
        return make("const", (), dtype, float(value))
    if dtype == "bool":
        return make("const", (), dtype, bool(value))
    bits = 8 * VALUE_BYTES[dtype]
    number = int(value) & ((1 << bits) - 1)
    if dtype[0] == "i" and number >> (bits - 1):
        number -= 1 << bits
    return make("const", (), dtype, number)


def half_bits(x: float, half: str) -> int:
    """The 16 bits of the number of f16 or bf16 nearest to x, ties to even."""
    kind, of_bits = ("<e", "<H") if half == "f16" else ("<f", "<I")
    try:
        (bits,) = struct.unpack(of_bits, struct.pack(kind, x))
    except OverflowError:
        return half_bits(float("inf") if x > 0 else float("-inf"), half)
    if half == "f16":
        return int(bits)
    return int(bits + 0x7FFF + (bits >> 16 & 1) if x == x else bits) >> 16


def nearest_half(x: float, half: str) -> float:
    """The number of f16 or bf16 nearest to x, ties to even; beyond the largest an infinity."""
    bits = half_bits(x, half)
    if half == "f16":
        return float(struct.unpack("<e", struct.pack("<H", bits))[0])
    return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


def widened(x: Expr) -> Expr:
    """A half as f32; any other value as it is."""
    return make("cast", (x,), "f32") if x.dtype in HALVES else x


def narrowed(x: Expr, half: str) -> Expr:
    """An f32 rounded to f16 or bf16; what is one already is not rounded."""
    exact = _exact_half(x, half)
    return make("cast", (x,), half) if exact is None else exact


def _exact_half(x: Expr, half: str) -> Expr | None:
    """x as an expression of halves, where it takes no rounding."""
    if x.op == "cast" and x.args[0].dtype == half:
        return x.args[0]
    if x.op == "const" and (nearest_half(x.attr, half) == x.attr or x.attr != x.attr):
        return const(x.attr, half)
    first = 1 if x.op == "select" else 0
    if (x.op not in _EXACT and not first) or x.attr is not None:
        return None
    halves = [_exact_half(a, half) for a in x.args[first:]]
    kept = [a for a in halves if a is not None]
    return make(x.op, (*x.args[:first], *kept), half) if len(kept) == len(halves) else None


_EXACT = ("neg", "abs", "min", "max", "floor", "ceil", "rint", "trunc")


def in_f32(function: Callable[..., Expr], *operands: Expr) -> Expr | None:
    """The function of halves: computed in f32 and rounded; `None` if no operand is a half."""
    half = next((x.dtype for x in operands if x.dtype in HALVES), None)
    return None if half is None else narrowed(function(*map(widened, operands)), half)


def variable(name: str, extent: Operand | None = None, low: int = 0) -> Expr:
    """A new variable: of a loop with this extent, or a size (no extent, at least `low`)."""
    limit = None if extent is None else as_expr(extent)
    return make("var", (), INDEX, Variable(name, limit, low))


def as_expr(value: Operand, dtype: str = INDEX) -> Expr:
    """The expression itself, or the number as a constant of this dtype.

    Raises:
        ExpressionError: a float where an integer is meant, or neither number nor expression.
    """
    if isinstance(value, Expr):
        return value
    if not isinstance(value, (int, float)) and hasattr(value, "__index__"):
        value = value.__index__()
    if not isinstance(value, (int, float)) or (isinstance(value, float) and dtype not in FLOATS):
        raise ExpressionError(f"{value!r} is not an expression of {dtype}")
    return const(value, dtype)


def as_index(value: Operand) -> Expr:
    """The position that an integer names: an index as it is, a value converted.

    Raises:
        ExpressionError: a float or a bool.
    """
    e = as_expr(value)
    if e.dtype == INDEX:
        return e
    if e.dtype not in INTEGERS:
        raise ExpressionError(f"{e} is {e.dtype} and no position; cast it: cast(x, {INDEX!r})")
    return const(e.attr) if e.op == "const" else make("cast", (e,), INDEX)


def pair(a: Operand, b: Operand) -> tuple[Expr, Expr]:
    """Both as expressions of one dtype; a number takes the dtype of the other.

    Raises:
        ExpressionError: the dtypes differ.
    """
    a = as_expr(a, b.dtype if isinstance(b, Expr) else INDEX)
    b = as_expr(b, a.dtype)
    if a.dtype != b.dtype:
        raise ExpressionError(f"{a} is {a.dtype} and {b} is {b.dtype}; cast one: cast(x, dtype)")
    return a, b


_FLOAT_ONLY, _INTEGER_ONLY = ("div",), ("floordiv", "mod", "xor", "shl", "shr")


def arithmetic(op: str, first: Operand, second: Operand) -> Expr:
    """`first op second` for two operands of one dtype; indices in normal form."""
    a, b = pair(first, second)
    if (rounded := in_f32(partial(arithmetic, op), a, b)) is not None:
        return rounded
    if a.dtype == "bool" and op in ("and", "or", "xor"):
        return _logical(op, a, b)
    floating = a.dtype in FLOATS
    if (
        a.dtype == "bool"
        or op in (_INTEGER_ONLY if floating else _FLOAT_ONLY)
        or (floating and op in ("and", "or"))
    ):
        raise ExpressionError(f"{op} of {a} and {b}: not defined for {a.dtype}")
    if a.dtype == INDEX and op in INDEX_ARITHMETIC:
        return INDEX_ARITHMETIC[op](a, b)
    return make(op, (a, b), a.dtype)


def comparison(op: str, first: Operand, second: Operand) -> Expr:
    """lt le eq ne of two operands of one dtype: a bool.  NaN is unequal to all."""
    a, b = pair(first, second)
    if a.dtype not in FLOATS:
        if a is b:
            return const(op in ("le", "eq"), "bool")
        if a.op == b.op == "const":
            x, y = a.attr, b.attr
            return const({"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y}[op], "bool")
    return make(op, (a, b), "bool")


def _logical(op: str, a: Expr, b: Expr) -> Expr:
    for x, y in ((a, b), (b, a)):
        if x.op == "const":
            if op == "xor":
                return logical_not(y) if x.attr else y
            return y if x.attr == (op == "and") else x
    return a if a is b and op != "xor" else make(op, (a, b), "bool")


def logical_not(x: Expr) -> Expr:
    """The other truth value."""
    if x.dtype != "bool":
        raise ExpressionError(f"`~` of {x}: only for bool, not {x.dtype}")
    if x.op == "const":
        return const(not x.attr, "bool")
    return x.args[0] if x.op == "not" else make("not", (x,), "bool")
