"""Functions of expressions: choices, conversions, and the functions of mathematics."""

from __future__ import annotations

from functools import partial

from byparts_tensor_ir.expression import (
    BYTES,
    FLOATS,
    HALVES,
    INTEGERS,
    VALUE_BYTES,
    Expr,
    ExpressionError,
    Operand,
    as_expr,
    const,
    in_f32,
    make,
    narrowed,
    pair,
    widened,
)

# Name -> number of operands.  For f32 `mathematics.py` gives each as arithmetic; f64 is libm.
_OF_ONE = (
    *("exp", "exp2", "expm1", "log", "log2", "log1p", "sigmoid", "softplus", "rsqrt", "erf"),
    "erfc",
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
FUNCTIONS = dict.fromkeys(_OF_ONE, 1) | dict.fromkeys(("pow", "atan2", "fmod"), 2)


def unary(op: str, x: Operand) -> Expr:
    """neg abs sqrt floor ceil rint trunc, and each of `FUNCTIONS` of one argument."""
    x = as_expr(x, "f32")
    if x.dtype not in FLOATS and not (op in ("neg", "abs") and x.dtype in INTEGERS):
        raise ExpressionError(f"{op} of {x}: not defined for {x.dtype}")
    if (rounded := in_f32(partial(unary, op), x)) is not None:
        return rounded
    return make(op, (x,), x.dtype)


def call(name: str, *operands: Operand) -> Expr:
    """A function of `FUNCTIONS` on floats of one dtype."""
    if FUNCTIONS.get(name) != len(operands):
        raise ExpressionError(f"no function {name} of {len(operands)} arguments")
    args = operands if len(operands) == 1 else pair(*operands)
    if not isinstance(args[0], Expr) or args[0].dtype not in FLOATS:
        raise ExpressionError(f"{name} of {', '.join(map(str, args))}: only for {FLOATS}")
    known: tuple[Expr, ...] = tuple(args)  # type: ignore[arg-type]  # checked
    if (rounded := in_f32(partial(call, name), *known)) is not None:
        return rounded
    return make(name, known, known[0].dtype)


def fma(a: Expr, b: Operand, c: Operand) -> Expr:
    """a * b + c, rounded once."""
    b, c = pair(a, b)[1], pair(a, c)[1]
    if (rounded := in_f32(fma, a, b, c)) is not None:
        return rounded
    return make("fma", (a, b, c), a.dtype)


def minimum(a: Operand, b: Operand) -> Expr:
    """The lesser; of floats NaN where one is NaN."""
    return _extreme("min", *pair(a, b))


def maximum(a: Operand, b: Operand) -> Expr:
    """The greater; of floats NaN where one is NaN."""
    return _extreme("max", *pair(a, b))


def _extreme(op: str, a: Expr, b: Expr) -> Expr:
    if a is b:
        return a
    if a.op == b.op == "const" and a.dtype not in FLOATS:
        return const(min(a.attr, b.attr) if op == "min" else max(a.attr, b.attr), a.dtype)
    return make(op, (a, b), a.dtype)


def select(condition: Expr, a: Operand, b: Operand) -> Expr:
    """`a` where the condition holds, else `b`; the other is not read."""
    a, b = pair(a, b)
    if condition.dtype != "bool":
        raise ExpressionError(f"select({condition}, ...): the condition is {condition.dtype}")
    if condition.op == "const":
        return a if condition.attr else b
    return a if a is b else make("select", (condition, a, b), a.dtype)


def cast(x: Expr, dtype: str) -> Expr:
    """The value in another dtype; float to integer truncates, integers wrap.

    To a half by way of f32, from f64 so that it is rounded as if once; from a half exact.
    """
    if dtype not in VALUE_BYTES:
        raise ExpressionError(f"no dtype {dtype!r}; one of {', '.join(VALUE_BYTES)}")
    if x.dtype == dtype:
        return x
    if dtype in HALVES:
        return narrowed(_odd(x) if x.dtype == "f64" else cast(x, "f32"), dtype)
    if x.dtype in HALVES and dtype != "f32":
        return cast(widened(x), dtype)
    if x.op == "const" and x.dtype not in FLOATS:
        return const(x.attr, dtype)
    return make("cast", (x,), dtype)


def _odd(x: Expr) -> Expr:
    """An f64 as f32; if inexact with an odd last bit, so that to round it again is right."""
    y = make("cast", (x,), "f32")
    bits, back = make("bitcast", (y,), "i32"), make("cast", (y,), "f64")
    beyond = unary("abs", x) < unary("abs", back)
    odd = (bits - cast(beyond, "i32")) | 1
    return select(back.equal(x) | ~x.equal(x), y, make("bitcast", (odd,), "f32"))


def bitcast(x: Expr, dtype: str) -> Expr:
    """The same bits read as another dtype of the same size."""
    if BYTES.get(x.dtype) != BYTES.get(dtype) or dtype not in BYTES:
        raise ExpressionError(f"{x} of {x.dtype} has not as many bytes as {dtype}")
    if x.dtype == dtype:
        return x
    if x.dtype in HALVES and dtype in HALVES:
        x = bitcast(x, "i16")
    return make("bitcast", (x,), dtype)
