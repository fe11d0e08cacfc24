"""Loops that find the positions of extremes, and the k greatest in falling order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import byparts_opset as ops
from byparts_graph_ir import FLOATS, TensorType
from byparts_kernels_cuda.loops import loops
from byparts_op_loops.function import Body, Function, Loops, buffer, folded, local
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.functions import cast, select
from byparts_tensor_ir.statement import For, Func, Store
from byparts_tensor_ir.tensor import ARGMAX, ARGMIN, identity_values

Types = Sequence[TensorType]


@loops.on(ops.ArgMax, ops.ArgMin)
def _extreme(op: ops.ArgMax | ops.ArgMin, types: Types) -> Function:
    """The extreme and its place at once, so that x is read once."""
    (t,) = types
    outer, n, inner = (1, t.size, 1) if op.axis is None else folded(t, op.axis)
    x, y = buffer("x", (outer, n, inner), t.dtype), buffer("y", (outer, inner), "i64")
    extreme = replace(buffer("extreme", (outer, inner), t.dtype), scope="local")
    place = replace(extreme, name="place", dtype="i64")
    reducer, nest = ARGMAX if isinstance(op, ops.ArgMax) else ARGMIN, Loops()

    def best(o: Expr, j: Expr) -> Body:
        i = variable("i", n)
        pair = x[o, i, j], cast(i, "i64")
        return (For(i, (Store("best", (extreme, place), (o, j), pair, reducer, (i,), True),)),)

    def last(o: Expr, j: Expr) -> Body:
        return (Store("y", (y,), (o, j), (place[o, j],)),)

    body = (*nest.nest((outer, inner), best), *nest.nest((outer, inner), last))
    return Function(Func("extreme", (x, y), (y,), (), body, (extreme, place)))


@loops.on(ops.TopK)
def _top_k(op: ops.TopK, types: Types) -> Function:
    """The greatest, then the greatest of those behind it, and so on.  O(n k), shared by threads."""
    (t,) = types
    rows, n, _ = folded(t, -1)
    x = buffer("x", (rows, n), t.dtype)
    values, indices = buffer("values", (rows, op.k), t.dtype), buffer("at", (rows, op.k), "i64")
    best, place = local("best", 1, t.dtype), local("place", 1, "i64")
    last, behind = local("last", 1, t.dtype), local("behind", 1, "i64")
    none, nest, zero = identity_values(ARGMAX, (best, place)), Loops(), const(0)

    def comes_later(e: Expr, i: Expr) -> Expr:
        """Whether an element comes after the one that was found last, NaN before all others."""
        v = last[0]
        later = (e < v) | (e.equal(v) & (behind[0] < i))
        if t.dtype not in FLOATS:
            return later
        nan = ~v.equal(v)
        return (later & ~nan) | (nan & (e.equal(e) | (behind[0] < i)))

    def row(r: Expr) -> Body:
        p, i = variable("p", op.k), variable("i", n)
        e, at = x[r, i], cast(i, "i64")
        fits = (behind[0] < 0) | comes_later(e, at)
        pair = select(fits, e, none[0]), select(fits, at, none[1])
        find = Store("best", (best, place), (zero,), pair, ARGMAX, (i,), True)
        result = Store("y", (values, indices), (r, p), (best[0], place[0]))
        keep = Store("keep", (last, behind), (zero,), (best[0], place[0]))
        start = Store("start", (last, behind), (zero,), (none[0], const(-1, "i64")))
        return start, For(p, (For(i, (find,)), result, keep))

    body = nest.over(rows if op.k else 0, row)
    locals = (best, place, last, behind)
    return Function(Func("top_k", (x, values, indices), (values, indices), (), body, locals))
