"""Each operation on each dtype, compiled: the interpreter's answer to the bit, as numbers and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from emitters import each_emitter

from byparts_tensor_ir.build import build
from byparts_tensor_ir.expression import (
    BYTES,
    FLOATS,
    Expr,
    arithmetic,
    comparison,
    const,
    variable,
)
from byparts_tensor_ir.functions import bitcast, cast, fma, maximum, minimum, select, unary
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.statement import Buffer, For, Func, Store

Rule = Callable[[Expr, Expr], Expr]
_ORDINARY = [0.0, 1.0, -1.0, 1.5, -2.5, 0.5, 3.25, -7.0, 100.25, -0.3]
_SPECIAL = [-0.0, np.inf, -np.inf, np.nan, 1e-40, 1e30]


def operands(dtype: str) -> tuple[Any, Any]:
    """All pairs of numbers that are likely to go wrong."""
    values: list[Any] = [False, True]
    if dtype in FLOATS:
        values = _ORDINARY + _SPECIAL
    elif dtype != "bool":
        bits = 8 * BYTES[dtype]
        most = (1 << (bits - (dtype[0] == "i"))) - 1
        values = [0, 1, 2, 3, 7, 100, bits - 1, bits, most, most - 1, most // 2 + 1]
        values += [-1, -2, -3, -7, -100, -most, -most - 1] if dtype[0] == "i" else []
    kind = NUMPY[dtype]
    if dtype == "f16":
        values[-1] = 3e4  # 1e30 is infinite
    count = len(values)
    while len(values) ** 2 < 35:  # more than two vectors and a rest, at 16 bytes
        values += values[:count]
    pairs: Any = np.array([(a, b) for a in values for b in values], kind)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def convertible(dtype: str) -> tuple[Any, Any]:
    """Pairs of numbers that any dtype holds, but for a fraction, or modulo 2^bits."""
    if dtype in FLOATS:
        return (np.array(_ORDINARY * 4, NUMPY[dtype]),) * 2
    return operands(dtype)


def rules(dtype: str) -> Iterator[tuple[str, Rule]]:
    """Each operation on operands a and b of the dtype."""
    two = ["and", "or", "xor"]
    if dtype in FLOATS:
        two = ["add", "sub", "mul", "div"]
    elif dtype != "bool":
        two += ["add", "sub", "mul", "floordiv", "mod", "shl", "shr"]
    for op in two:
        yield op, lambda a, b, op=op: arithmetic(op, a, b)  # type: ignore[misc]
    for op in ("lt", "le", "eq", "ne"):
        yield op, lambda a, b, op=op: comparison(op, a, b)  # type: ignore[misc]
    yield "select bool", lambda a, b: select(a < b, a.equal(b), b <= a)
    if dtype == "bool":
        yield "not", lambda a, b: ~a
        yield "select", lambda a, b: select(a, b, ~b)
        yield "select by one", lambda a, b: select(~const(False, "bool"), b, a)
        return
    yield "min", minimum
    yield "max", maximum
    yield "neg", lambda a, b: -a
    yield "abs", lambda a, b: unary("abs", a)
    yield "select", lambda a, b: select(a < b, b, a + b)
    if dtype in FLOATS:
        for op in ("sqrt", "floor", "ceil", "rint", "trunc"):
            yield op, lambda a, b, op=op: unary(op, a)  # type: ignore[misc]
        yield "fma", lambda a, b: fma(a, b, a)


def casts(dtype: str) -> Iterator[tuple[str, Rule]]:
    for other in BYTES:
        yield f"to {other}", lambda a, b, other=other: cast(a, other)  # type: ignore[misc]
        if BYTES[other] == BYTES[dtype] and "bool" not in (dtype, other):
            yield f"as {other}", lambda a, b, other=other: bitcast(a, other)  # type: ignore[misc]


def func_of(dtype: str, rules: list[tuple[str, Rule]], n: int) -> Func:
    """Of each rule two loops, of numbers and of vectors, over n operands of the dtype."""
    a, b = Buffer("A", (const(n),), dtype), Buffer("B", (const(n),), dtype)
    outputs, loops = [], []
    for k, (_, rule) in enumerate(rules):
        for kind in ("serial", "vectorize"):
            i = variable("i", n)
            value = rule(a[i], b[i])
            outputs.append(Buffer(f"O{k}{kind[0]}", (const(n),), value.dtype))
            loops.append(For(i, (Store("O", (outputs[-1],), (i,), (value,)),), kind))
    return Func("f", (a, b, *outputs), tuple(outputs), (), tuple(loops))


def check(
    dtype: str, rules: list[tuple[str, Rule]], inputs: Any, made: Callable[[Func], Any]
) -> None:
    """What is made of the function gives the interpreter's bits."""
    func = func_of(dtype, rules, len(inputs[0]))
    answers: list[Any] = [np.zeros(len(inputs[0]), NUMPY[o.dtype]) for o in func.outputs]
    results = [x.copy() for x in answers]
    interpret(func, *inputs, *answers)
    made(func)(*inputs, *results)
    for k, (answer, result) in enumerate(zip(answers, results, strict=True)):
        np.testing.assert_array_equal(
            _bits(result), _bits(answer), f"{rules[k // 2][0]}, loop {k % 2}"
        )


def _bits(x: Any) -> Any:
    """Floats as integers, all NaN alike."""
    if x.dtype.kind not in "fV":  # bf16 is of kind V
        return x
    with np.errstate(invalid="ignore"):  # some NaNs signal
        nan = np.isnan(x)
    return np.where(nan, 0x7FC00000, x.view(f"i{x.itemsize}"))


@pytest.mark.long
@each_emitter
@pytest.mark.parametrize("dtype", BYTES)
def test_operations(dtype: str, emitter: str) -> None:
    check(dtype, list(rules(dtype)), operands(dtype), partial(build, emitter=emitter))


@pytest.mark.long
@each_emitter
@pytest.mark.parametrize("dtype", BYTES)
def test_casts(dtype: str, emitter: str) -> None:
    """Floats to integers of which the whole part fits, or of which it is taken modulo 2^bits."""
    inputs = convertible(dtype)
    check(dtype, list(casts(dtype)), inputs, partial(build, emitter=emitter))
