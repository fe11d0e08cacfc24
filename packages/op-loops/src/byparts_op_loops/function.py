"""Ops that are functions of whole tensors: loops written out, with a default schedule.

An op along an axis sees its tensors as [outer, n, inner], and loops over `inner` are vectors.
Indices out of range are found before anything is read or written: the function then stores a 1 in
its last parameter, `error`, which index it was, and does no more (`checked`, `refuse`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import prod
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError, Op, Table, TensorType
from byparts_op_loops.narrow import held, of_narrow, wide
from byparts_tensor_ir.expression import (
    BYTES,
    INDEX,
    Expr,
    ExpressionError,
    as_expr,
    const,
    variable,
)
from byparts_tensor_ir.functions import cast, minimum, select
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store
from byparts_tensor_ir.tensor import MAX

ERROR_WORDS = 3
Body = tuple[Statement, ...]
Of = Callable[[Expr], Sequence[Statement]]


@dataclass(frozen=True)
class Function:
    """An op on inputs of some types.

    Attributes:
        func: of the inputs, the outputs, and `error_buffer()`, where indices are read.
        indices: the input of which an element may be out of range.
        inplace: pairs (input, output) that may be the same bytes.
        over: `func` where input 0 and output 0 are the same bytes; `None`: `func` itself.
        unscheduled: `func` without what its schedule does for a CPU; `None`: `func` itself.
    """

    func: Func
    indices: int | None = None
    inplace: tuple[tuple[int, int], ...] = ()
    over: Func | None = None
    unscheduled: Func | None = None


Rule = Callable[..., Function]
_moving: set[Rule] = set()


def of_bits(rule: Rule) -> Rule:
    """Decorator: the rule only moves elements, of any dtype, in buffers of `bits`."""
    _moving.add(rule)
    return rule


class Functions(Table[Rule]):
    """Rules that see wide dtypes for narrow ones, but for those that only move elements."""

    def get(self, op: Op | type[Op]) -> Rule | None:
        """The rule for an op, or `None`."""
        rule = super().get(op)
        return None if rule is None else partial(_of_bits if rule in _moving else _in_wide, rule)


def _in_wide(rule: Rule, op: Op, types: Sequence[TensorType]) -> Function:
    others = [TensorType(wide(t.dtype), t.shape) for t in types]
    wider = rule(op, others)
    if others == list(types):
        return wider
    dtypes = [t.dtype for t in (*types, *op.infer(*types))]
    return Function(of_narrow(wider.func, dtypes), wider.indices)


def _of_bits(rule: Rule, op: Op, types: Sequence[TensorType]) -> Function:
    """Only indices are computed with."""
    of_bits = rule(op, [TensorType(held(t.dtype), t.shape) for t in types])
    if (
        of_bits.indices is None
        or wide(types[of_bits.indices].dtype) == types[of_bits.indices].dtype
    ):
        return of_bits
    dtypes = ["" if i != of_bits.indices else t.dtype for i, t in enumerate(types)]
    over = None if of_bits.over is None else of_narrow(of_bits.over, dtypes)
    return replace(of_bits, func=of_narrow(of_bits.func, dtypes), over=over)


function: Table[Rule] = Functions.lazily(  # op -> rule(op, types of inputs)
    "function of loops",
    "byparts_op_loops",
    "byparts_opset",
    index="index argmax descend_rows",
    running="cumulative prod",
    random="random random_normal",
    window="conv2d",
    pooling="pool",
)


def folded(t: TensorType, axis: int) -> tuple[int, int, int]:
    """The extents (outer, n, inner) around an axis; a 0-d tensor has one element along it."""
    if not t.dims:
        return 1, 1, 1
    at = axis % len(t.dims)
    return prod(t.dims[:at]), t.dims[at], prod(t.dims[at + 1 :])


def buffer(name: str, dims: Sequence[int], dtype: str) -> Buffer:
    """A parameter.

    Raises:
        ExpressionError: no such dtype in expressions.
    """
    if dtype not in BYTES:
        raise ExpressionError(f"no arithmetic on {dtype}; one of {', '.join(BYTES)}")
    return Buffer(name, tuple(map(const, dims)), dtype)


def local(name: str, size: int, dtype: str) -> Buffer:
    """Memory of the function's own."""
    return Buffer(name, (const(size),), dtype, "local")


class Loops:
    """Makes loops, each with a name of its own."""

    def __init__(self) -> None:
        self.numbers = count()

    def over(self, n: int, body: Of, low: int = 0, kind: str = "serial") -> Body:
        """`body` for each number from `low` to n, in order; in no loop where it is one number."""
        if n <= low + 1:
            return tuple(body(const(low))) if n > low else ()
        var = variable(f"i{next(self.numbers)}", n - low, low)
        return (For(var, tuple(body(var)), kind),)

    def vector(self, n: int, body: Of) -> Body:
        """`body` for each number below n, many at a time."""
        return self.over(n, body, 0, "vectorize")

    def nest(self, dims: Sequence[int], body: Callable[..., Sequence[Statement]]) -> Body:
        """`body` for each index, the last dimension as vectors; nothing where there is no index."""
        if not all(dims):
            return ()
        if len(dims) == 1:
            return self.vector(dims[0], body)
        return self.over(dims[0], lambda i: self.nest(dims[1:], partial(body, i)))


def error_buffer() -> Buffer:
    """The parameter `error`: whether an index is out of range, k minus its position, and itself."""
    return buffer("error", (ERROR_WORDS,), "i64")


def checked(loops: Loops, indices: Buffer, size: int, error: Buffer, body: Body) -> Body:
    """`body` where all k indices are below `size`, else the first other one in `error`."""
    (k,) = (int(n.attr) for n in indices.shape)
    whether, place, index = map(const, range(ERROR_WORDS))
    if k == 0:
        return (Store("clear", (error,), (whether,), (const(0, "i64"),)), *body)

    def check(i: Expr) -> Body:
        at = cast(indices[i], "i64")
        outside = (at < 0) | (const(size, "i64") <= at)
        wrong = select(outside, cast(as_expr(k) - i, "i64"), const(0, "i64"))
        return (Store("check", (error,), (place,), (wrong,), MAX, (i,)),)

    back = as_expr(k) - cast(error[place], INDEX)
    first = cast(indices[minimum(back, as_expr(k - 1))], "i64")
    return (
        Store("clear", (error,), (place,), (const(0, "i64"),)),
        *loops.vector(k, check),
        Store("whether", (error,), (whether,), (cast(const(0, "i64") < error[place], "i64"),)),
        Store("index", (error,), (index,), (first,)),
        *((If(error[whether].equal(0), body),) if body else ()),
    )


def refuse(op: Any, types: Sequence[TensorType], position: int, error: Sequence[int]) -> None:
    """Say what a function has left in `error`, in the sentence of the op.

    Args:
        op: has `check_indices(types, indices)`, which raises for the first that is out of range.
        types: of its inputs.
        position: of the indices among these.
        error: `ERROR_WORDS` numbers, of which the first is not 0.

    Raises:
        GraphError: always.
    """
    t = types[position]
    indices = np.zeros(t.size, "i8")
    indices[t.size - error[1]] = error[2]
    op.check_indices(types, indices.reshape(t.dims))
    raise GraphError(f"{op.name}: index {error[2]} is out of range")
