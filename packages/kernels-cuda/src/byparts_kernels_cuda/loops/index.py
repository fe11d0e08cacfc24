"""Rows picked by indices, put in the place of others, or added.

Of updates of one row the last is put, and all are added in the order in which they stand, as on a
CPU.  So each update asks all others where they go: that is k^2 comparisons, shared among threads,
which for the tokens of a batch takes less time than to write the rows.  Where there are more
updates they are done in order, by a thread for each column.
"""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_graph_ir import TensorType
from byparts_kernels_cuda.loops import loops
from byparts_op_loops.function import (
    Body,
    Function,
    Loops,
    Of,
    buffer,
    checked,
    error_buffer,
    folded,
    function,
    local,
    of_bits,
)
from byparts_op_loops.narrow import bits
from byparts_tensor_ir.expression import INDEX, Expr, as_expr, const, variable
from byparts_tensor_ir.functions import cast, maximum, minimum, select
from byparts_tensor_ir.statement import Buffer, For, Func, If, Store, stores
from byparts_tensor_ir.tensor import MAX, SUM

Types = Sequence[TensorType]
_MOST = 1 << 17  # updates that ask all others


@loops.on(ops.Gather)
@of_bits
def _gather(op: ops.Gather, types: Types) -> Function:
    """y[o, k, j] = x[o, indices[k], j]; of an index out of range, a row that is there."""
    (outer, n, inner), k = folded(types[0], op.axis), types[1].size
    kind = bits(types[0].dtype)
    x, y = buffer("x", (outer, n, inner), kind), buffer("y", (outer, k, inner), kind)
    indices, error, nest = buffer("indices", (k,), types[1].dtype), error_buffer(), Loops()

    def element(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("y", (y,), (o, i, j), (x[o, _inside(indices[i], n), j],)),)

    body = checked(nest, indices, n, error, ())
    body += nest.nest((outer, k if n else 0, inner), element)
    return Function(Func("gather", (x, indices, y, error), (y, error), (), body), 1)


@loops.on(ops.Scatter)
@of_bits
def _scatter(op: ops.Scatter, types: Types) -> Function:
    """y = x, then each update that is the last of its row is put there."""
    (outer, n, inner), k = folded(types[0], op.axis), types[1].size
    if k > _MOST:
        return function[op](op, types)
    kind = bits(types[0].dtype)
    x, y = (buffer(name, (outer, n, inner), kind) for name in "xy")
    updates, indices = (
        buffer("updates", (outer, k, inner), kind),
        buffer("at", (k,), types[1].dtype),
    )
    error, last, nest = error_buffer(), local("last", 1, "i32"), Loops()

    def copy(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("copy", (y,), (o, i, j), (x[o, i, j],)),)

    def update(i: Expr) -> Body:
        def latest(e: Expr) -> Body:
            same = select(indices[e].equal(indices[i]), cast(e, "i32"), const(-1, "i32"))
            return (Store("last", (last,), (const(0),), (same,), MAX, (e,), True),)

        def put(o: Expr, j: Expr) -> Body:
            return (Store("put", (y,), (o, cast(indices[i], INDEX), j), (updates[o, i, j],)),)

        mine = last[0].equal(cast(i, "i32"))
        return (*_each(k, latest, "e"), If(mine, nest.nest((outer, inner), put)))

    def func(first: Body) -> Func:
        body = (*first, *_each(k if outer * inner else 0, update, "i", "parallel"))
        body = checked(nest, indices, n, error, body)
        return Func("scatter", (x, indices, updates, y, error), (y, error), (), body, (last,))

    return Function(func(nest.nest((outer, n, inner), copy)), 1, ((0, 0),), func(()))


@loops.on(ops.ScatterAdd)
def _scatter_add(op: ops.ScatterAdd, types: Types) -> Function:
    """y = 0; updates in the order of their rows; each row's are added by the first of them."""
    (outer, n, inner), k = folded(types[2], op.axis), types[0].size
    if k > _MOST:
        return function[op](op, types)
    dtype = types[1].dtype
    indices, like = (
        buffer("at", (k,), types[0].dtype),
        buffer("like", (outer, n, inner), types[2].dtype),
    )
    updates, y = buffer("updates", (outer, k, inner), dtype), buffer("y", (outer, n, inner), dtype)
    error, nest = error_buffer(), Loops()
    order, count, sum = local("order", k, "i32"), local("count", k, "i32"), local("sum", 1, dtype)
    ranked, ranks = _ranked(indices, order, count, k)

    def clear(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("zero", (y,), (o, i, j), (const(0, dtype),)),)

    def add(p: Expr) -> Body:
        def row(o: Expr, j: Expr) -> Body:
            s = variable("s", cast(count[p], INDEX))
            at = cast(order[minimum(p + s, k - 1)], INDEX)
            value = updates[o, _inside(at, k), j]
            into = (o, _inside(indices[_inside(order[p], k)], n), j)
            total = Store("sum", (sum,), (const(0),), (value,), SUM, (s,), True)
            return For(s, (total,)), Store("y", (y,), into, (sum[0],))

        return (If(const(0, "i32") < count[p], nest.nest((outer, inner), row)),)

    body = checked(nest, indices, n, error, _each(k if n else 0, add, "p", "parallel"))
    body = (*nest.nest((outer, n, inner), clear), *ranked, *body)
    params, locals = (indices, updates, like, y, error), (order, count, *ranks, sum)
    return Function(Func("scatter_add", params, (y, error), (), body, locals), 0)


def _ranked(
    indices: Buffer, order: Buffer, count: Buffer, k: int
) -> tuple[Body, tuple[Buffer, ...]]:
    """Statements that put updates in the order of their rows, and their local buffers.

    `order[p]` becomes the number of the update at place p; `count[p]` the number of updates of its
    row where it is the first of them, else 0.
    """
    smaller, before, alike = (local(name, 1, "i32") for name in ("smaller", "before", "alike"))

    def place(i: Expr) -> Body:
        def compared(e: Expr) -> Body:
            same = indices[e].equal(indices[i])
            conditions = (indices[e] < indices[i], same & (e < i), same)
            return tuple(
                [
                    Store(b.name, (b,), (const(0),), (cast(f, "i32"),), SUM, (e,), True)
                    for b, f in zip((smaller, before, alike), conditions, strict=True)
                ]
            )

        at = cast(smaller[0] + before[0], INDEX)
        first = before[0].equal(const(0, "i32"))
        stores = (
            Store("order", (order,), (at,), (cast(i, "i32"),)),
            Store("count", (count,), (at,), (select(first, alike[0], const(0, "i32")),)),
        )
        return (*_each(k, compared, "e"), *stores)

    return _each(k, place, "i", "parallel"), (smaller, before, alike)


@loops.on(ops.OneHot)
def _one_hot(op: ops.OneHot, types: Types) -> Function:
    """y[r, j] = `on` where j is the index, else `off`."""
    general = function[op](op, types)
    values = {s.block: s.values[0] for s in stores(general.func.body)}
    (indices, y), nest = general.func.params, Loops()

    def element(r: Expr, j: Expr) -> Body:
        here = cast(indices[r], INDEX).equal(j)
        return (Store("y", (y,), (r, j), (select(here, values["on"], values["off"]),)),)

    body = nest.nest((types[0].size, op.depth), element)
    return Function(Func("one_hot", (indices, y), (y,), (), body))


def _inside(index: Expr, n: int) -> Expr:
    """The index, or the nearest that is in range."""
    return minimum(maximum(cast(index, INDEX), as_expr(0)), as_expr(n - 1))


def _each(n: int, body: Of, name: str, kind: str = "serial") -> Body:
    """A loop; of one that is parallel we know that its rounds are independent."""
    if n == 0:
        return ()
    var = variable(name, n)
    return (For(var, tuple(body(var)), kind),)
