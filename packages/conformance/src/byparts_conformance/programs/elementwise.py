"""Makers of elementwise nodes: arithmetic that wraps and rounds, choices, casts, functions."""

from __future__ import annotations

from functools import partial
from typing import Optional

import numpy as np

import byparts_opset as ops
from byparts_conformance.programs.growing import (
    Growing,
    Maker,
    fits,
    is_float,
    is_integer,
    is_number,
)
from byparts_graph_ir import FLOATS, UNSIGNED, Value
from byparts_opset.dtypes import wide

_BINARY = ("add", "sub", "mul", "maximum", "minimum", "squared_difference")
_OF_INTEGERS = ("floordiv", "mod", "bitwise_and", "bitwise_or", "bitwise_xor", "mul", "add")
_OF_BOOLS = ("logical_and", "logical_or", "logical_xor", "equal", "not_equal")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_UNARY = ("neg", "abs", "square", "sign", "relu", "identity", "neg", "stop_gradient")
_FUNCTIONS = (
    *("exp", "tanh", "sigmoid", "softplus", "erf", "sin", "cos", "gelu", "silu", "softsign"),
    *("sqrt", "log", "rsqrt", "reciprocal", "expm1", "log1p", "atan", "sinh", "cosh", "asinh"),
    *("elu", "leaky_relu", "relu6", "selu", "erfc", "tan", "asin", "acos", "atanh", "erfinv"),
)
_WITHIN_ONE = ("asin", "acos", "atanh", "erfinv")
_SMOOTH = (
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "softplus",
    "square",
    "erf",
    "gelu",
    "silu",
    "atan",
)
_ROUNDINGS = ("floor", "ceil", "round", "trunc")


def second(g: Growing, x: Value) -> Value:
    """An operand that fits x: another value, x itself, or a constant."""
    if g.chance(0.35):
        shape = g.any_of(((), (), x.type.dims))
        return g.constant(x.type.dtype, shape)
    return g.value_or(x, lambda v: fits(x, v))


def binary(g: Growing) -> None:
    """Two operands, in either order."""
    x = g.value()
    if x is None:
        return
    pair = [x, second(g, x)]
    if g.chance(0.5):
        pair.reverse()
    if x.type.dtype == "bool":
        names: tuple[str, ...] = _OF_BOOLS
    elif is_integer(x):
        names = (*_BINARY, *_OF_INTEGERS)
    else:
        names = _BINARY if g.plain else (*_BINARY, *_BINARY, "div", "floordiv", "mod", "atan2")
    if g.plain:
        names = ("add", "sub", "mul")
    g.add(lambda: getattr(ops, g.any_of(names))(*pair))


def chain(g: Growing) -> None:
    """Several binary nodes in a row, each of which reads the one before: (i * h + j) * w + k."""
    x = g.value(is_number)
    for _ in range(g.random.randrange(2, 5)):
        if x is None:
            return
        y, name = second(g, x), g.any_of(("mul", "add", "mul", "add", "sub"))
        operands = (x, y) if g.chance(0.7) else (y, x)
        x = g.add(partial(getattr(ops, name), *operands))


def quotient(g: Growing) -> None:
    """(x * a) // a, (x * a) % a, (x // a) * a + x % a: identities of indices that values break."""
    x = g.value(is_integer)
    if x is None:
        return
    a = second(g, x)
    product = ops.mul(x, a)
    forms = (
        lambda: ops.floordiv(product, a),
        lambda: ops.mod(product, a),
        lambda: ops.mod(ops.add(product, x), a),
        lambda: ops.add(ops.mul(ops.floordiv(x, a), a), ops.mod(x, a)),
        lambda: ops.floordiv(ops.floordiv(x, a), a),
    )
    g.add(g.any_of(forms))


def powers(g: Growing) -> None:
    """Whole powers of integers, which wrap, and small ones of floats."""
    x = g.value(is_number)
    if x is not None:
        exponent = g.any_of((0, 1, 2, 3, 5))
        shape = x.type.dims if len(g.known) % 2 else ()
        g.add(lambda: ops.pow(x, ops.fill(exponent, x.type.dtype, shape)))


def unary(g: Growing) -> None:
    """Add an op of one operand, of numbers."""
    x = g.value(is_number)
    if x is not None:
        names = ("neg", "square", "identity") if g.plain else _UNARY
        g.add(lambda: getattr(ops, g.any_of(names))(x))


def function(g: Growing) -> None:
    """A function of mathematics, held within where it is defined now and then."""
    x = g.value(is_float)
    if x is None:
        return
    name = g.any_of(_SMOOTH if g.plain else _FUNCTIONS)
    if name in _WITHIN_ONE:
        most = 1.0 if g.not_finite else 0.875  # some are infinite at 1
        inside = g.add(lambda: ops.clip(x, -most, most))
        if inside is not None:
            g.add(lambda: getattr(ops, name)(inside))
    elif name in ("log", "sqrt", "rsqrt", "log1p") and g.chance(0.7):
        positive = g.add(lambda: ops.add(ops.abs(x), 0.125))
        if positive is None:
            return
        g.add(lambda: getattr(ops, name)(positive))
    else:
        g.add(lambda: getattr(ops, name)(x))


def rounding(g: Growing) -> None:
    """Whole numbers of floats."""
    x = g.value(is_float)
    if x is not None:
        g.add(lambda: getattr(ops, g.any_of(_ROUNDINGS))(x))


def comparison(g: Growing) -> None:
    """A condition, and often a choice by it."""
    x = g.value(is_number)
    if x is None:
        return
    y = second(g, x)
    condition = g.add(lambda: getattr(ops, g.any_of(_COMPARISONS))(x, y))
    if condition is None:
        return
    if g.chance(0.3):
        condition = ops.logical_not(condition)
    if g.chance(0.7):
        pair = g.any_of(((x, y), (y, x), (x, x)))
        g.add(lambda: ops.select(condition, *pair))


def choice(g: Growing) -> None:
    """A choice by any condition of a fitting shape, or the ends of a range."""
    x = g.value(is_number)
    c = g.value(lambda v: v.type.dtype == "bool")
    if x is None:
        return
    if c is None or g.chance(0.3):
        low, high = sorted([g.number(x.type.dtype), g.number(x.type.dtype)])
        g.add(lambda: ops.clip(x, low, high))
    else:
        y = second(g, x)
        g.add(lambda: ops.select(c, x, y))


def cast(g: Growing) -> None:
    """Another dtype; floats are first held within what the integers can hold."""
    x = g.value()
    if x is not None:
        as_dtype(g, x, g.any_of((*g.dtypes, "bool")))


def as_dtype(g: Growing, x: Value, dtype: str) -> Optional[Value]:
    """x in another dtype.  Floats that no integer holds have no defined cast, so they are cut."""
    if x.type.dtype in FLOATS and dtype not in (*FLOATS, "bool"):
        held = wide(g.array(x)).astype(np.float64)
        least, most = {"i4": (-8, 7)}.get(dtype, (0, 255) if dtype in UNSIGNED else (-100, 100))
        if not np.all(np.isfinite(held)):
            finite = g.add(lambda: ops.select(ops.is_finite(x), x, ops.fill(1, x.type.dtype)))
            return None if finite is None else as_dtype(g, finite, dtype)
        if g.chance(0.5) or np.any((held < least) | (held > most)):
            cut = g.add(lambda: ops.clip(x, least, most))
            return None if cut is None else g.add(lambda: ops.cast(cut, dtype))
    return g.add(lambda: ops.cast(x, dtype))


def tests(g: Growing) -> None:
    """Whether floats are finite."""
    x = g.value(is_float)
    if x is not None:
        g.add(lambda: getattr(ops, g.any_of(("is_nan", "is_inf", "is_finite")))(x))


MAKERS: tuple[Maker, ...] = (
    *(binary,) * 6,
    *(chain,) * 3,
    quotient,
    powers,
    *(unary,) * 2,
    *(function,) * 4,
)
MAKERS += (rounding, *(comparison,) * 2, choice, *(cast,) * 3, tests)
SMOOTH: tuple[Maker, ...] = (*(binary,) * 4, *(chain,) * 2, unary, *(function,) * 3)
