"""Running sums and products along an axis.

Long sums of f32 are added up in f64, so that their error is a rounding of the result and 2^-53 for
each number before it, not 2^-24.
"""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_graph_ir import TensorType
from byparts_op_loops.function import (
    Body,
    Function,
    Loops,
    buffer,
    folded,
    function,
    local,
)
from byparts_tensor_ir.cascade import LONGEST
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.statement import Func, Store


@function.on(ops.CumSum)
def _cumsum(op: ops.CumSum, types: Sequence[TensorType]) -> Function:
    """Add along an axis; `sums` holds the sums so far, in a register if a row has one element."""
    (t,) = types
    outer, n, inner = folded(t, op.axis)
    x, y = (buffer(name, (outer, n, inner), t.dtype) for name in "xy")
    dtype = "f64" if t.dtype == "f32" and n > LONGEST else t.dtype
    sums, loops = local("sums", inner, dtype), Loops()

    def row(o: Expr) -> Body:
        def add(i: Expr, j: Expr) -> Body:
            at = (o, n - 1 - i if op.reverse else i, j)
            more = Store("add", (sums,), (j,), (sums[j] + cast(x[at], dtype),))
            result = Store("y", (y,), at, (cast(sums[j], t.dtype),))
            return (result, more) if op.exclusive else (more, result)

        clear = loops.vector(inner, lambda j: [Store("clear", (sums,), (j,), (const(0, dtype),))])
        return (*clear, *loops.nest((n, inner), add))

    body = loops.over(outer if t.size else 0, row)
    return Function(Func("cumsum", (x, y), (y,), (), body, (sums,)))


@function.on(ops.ProdOfOthers)
def _prod_of_others(op: ops.ProdOfOthers, types: Sequence[TensorType]) -> Function:
    """The product of those before, times the product of those behind."""
    (t,) = types
    outer, n, inner = folded(t, op.axis)
    x, y = (buffer(name, (outer, n, inner), t.dtype) for name in "xy")
    products, loops = local("products", inner, t.dtype), Loops()

    def row(o: Expr) -> Body:
        def before(i: Expr, j: Expr) -> Body:
            at = (o, i, j)
            more = Store("before", (products,), (j,), (products[j] * x[at],))
            return Store("y", (y,), at, (products[j],)), more

        def behind(i: Expr, j: Expr) -> Body:
            at = (o, n - 1 - i, j)
            more = Store("behind", (products,), (j,), (products[j] * x[at],))
            return Store("times", (y,), at, (y[at] * products[j],)), more

        def clear() -> Body:
            one = const(1, t.dtype)
            return loops.vector(inner, lambda j: [Store("one", (products,), (j,), (one,))])

        passes = [(*clear(), *loops.nest((n, inner), f)) for f in (before, behind)]
        return (*passes[0], *passes[1])

    body = loops.over(outer if t.size else 0, row)
    return Function(Func("prod_of_others", (x, y), (y,), (), body, (products,)))
