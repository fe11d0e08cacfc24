"""Running sums in parts: the sums of the parts, what stands before each, and the sums within."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import byparts_opset as ops
from byparts_graph_ir import TensorType
from byparts_kernels_cuda.loops import loops
from byparts_op_loops.function import (
    Body,
    Function,
    Loops,
    buffer,
    folded,
    function,
    local,
)
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.functions import minimum, select
from byparts_tensor_ir.statement import For, Func, If, Store
from byparts_tensor_ir.tensor import SUM

_LEAST = 64  # elements of a row in parts
_MANY = 1 << 14  # rows that each have a thread


@loops.on(ops.CumSum)
def _cumsum(op: ops.CumSum, types: Sequence[TensorType]) -> Function:
    (t,) = types
    outer, n, inner = folded(t, op.axis)
    if n < _LEAST or outer * inner >= _MANY:
        return function[op](op, types)
    parts = 1 << (isqrt(n - 1).bit_length())
    size = -(-n // parts)
    x, y = (buffer(name, (outer, n, inner), t.dtype) for name in "xy")
    totals, starts = local("totals", parts, t.dtype), local("starts", parts, t.dtype)
    run, nest, nothing = local("run", 1, t.dtype), Loops(), const(0, t.dtype)

    def place(i: Expr) -> Expr:
        return n - 1 - i if op.reverse else i

    def row(o: Expr, j: Expr) -> Body:
        c, d, e = (variable(name, parts) for name in ("c", "d", "e"))
        k, m, f = variable("k", size), variable("m", size), variable("f", parts)
        there = c * size + k < n
        value = select(there, x[o, place(minimum(c * size + k, n - 1)), j], nothing)
        total = Store("totals", (totals,), (c,), (value,), SUM, (k,), True)
        before = select(f < d, totals[f], nothing)
        start = Store("starts", (starts,), (d,), (before,), SUM, (f,), True)
        at = (o, place(e * size + m), j)
        more = Store("run", (run,), (const(0),), (run[0] + x[at],))
        result = Store("y", (y,), at, (run[0],))
        steps = (result, more) if op.exclusive else (more, result)
        begin = Store("begin", (run,), (const(0),), (starts[e],))
        return (
            For(c, (For(k, (total,)),)),
            For(d, (For(f, (start,)),)),
            For(e, (begin, For(m, (If(e * size + m < n, steps),)))),
        )

    body = nest.nest((outer, inner), row)
    return Function(Func("cumsum", (x, y), (y,), (), body, (totals, starts, run)))
