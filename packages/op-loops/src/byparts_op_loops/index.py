"""Rows picked by indices, put in the place of others, or added; the places of extremes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import byparts_opset as ops
from byparts_graph_ir import FLOATS, TensorType
from byparts_op_loops.function import (
    Body,
    Function,
    Loops,
    buffer,
    checked,
    error_buffer,
    folded,
    function,
    local,
    of_bits,
)
from byparts_op_loops.narrow import bits, number
from byparts_tensor_ir.cascade import LONGEST
from byparts_tensor_ir.expression import INDEX, Expr, as_expr, const
from byparts_tensor_ir.functions import cast, minimum, select
from byparts_tensor_ir.statement import Buffer, Func, If, Reducer, Store
from byparts_tensor_ir.tensor import MAX, MIN

Types = Sequence[TensorType]
_FIRST = const(0)
_BLOCK = 256  # elements of a row whose extreme is kept
_SMALL = 1 << 20  # elements, of which a second copy takes little memory


@function.on(ops.Gather)
@of_bits
def _gather(op: ops.Gather, types: Types) -> Function:
    """y[o, k, j] = x[o, indices[k], j]."""
    x, indices, y, error = _indexed(types[0], types[1], types[0].dtype, op.axis)
    loops, (outer, k, inner) = Loops(), _numbers(y)

    def element(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("y", (y,), (o, i, j), (x[o, cast(indices[i], INDEX), j],)),)

    body = loops.nest((outer, k, inner), element)
    body = checked(loops, indices, _numbers(x)[1], error, body)
    return Function(Func("gather", (x, indices, y, error), (y, error), (), body), 1)


@function.on(ops.Scatter)
@of_bits
def _scatter(op: ops.Scatter, types: Types) -> Function:
    """y = x, then y[o, indices[k], j] = updates[o, k, j] for k in order."""
    x, indices, updates, error = _indexed(types[0], types[1], types[0].dtype, op.axis)
    y = Buffer("y", x.shape, x.dtype)
    loops, (outer, k, inner) = Loops(), _numbers(updates)

    def put(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("put", (y,), (o, cast(indices[i], INDEX), j), (updates[o, i, j],)),)

    def copy(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("copy", (y,), (o, i, j), (x[o, i, j],)),)

    def func(first: Body) -> Func:
        body = (*first, *loops.nest((outer, k, inner), put))
        body = checked(loops, indices, _numbers(x)[1], error, body)
        return Func("scatter", (x, indices, updates, y, error), (y, error), (), body)

    return Function(func(loops.nest(_numbers(x), copy)), 1, ((0, 0),), func(()))


@function.on(ops.ScatterAdd)
def _scatter_add(op: ops.ScatterAdd, types: Types) -> Function:
    """y = 0, then y[o, indices[k], j] += updates[o, k, j] for k in order.

    Many numbers of f32, which may all go to one place, are added up in f64 where y is small.
    """
    like, indices, updates, error = _indexed(types[2], types[0], types[1].dtype, op.axis)
    y = buffer("y", _numbers(like), updates.dtype)
    loops, (outer, k, inner) = Loops(), _numbers(updates)
    wide = y.dtype == "f32" and k > LONGEST and types[2].size <= _SMALL
    sums = Buffer("sums", y.shape, "f64", "local") if wide else y

    def add(o: Expr, i: Expr, j: Expr) -> Body:
        at = (o, cast(indices[i], INDEX), j)
        return (Store("add", (sums,), at, (sums[at] + cast(updates[o, i, j], sums.dtype),)),)

    def clear(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("zero", (sums,), (o, i, j), (const(0, sums.dtype),)),)

    def finish(o: Expr, i: Expr, j: Expr) -> Body:
        return (Store("y", (y,), (o, i, j), (cast(sums[o, i, j], y.dtype),)),)

    body = (*loops.nest(_numbers(y), clear), *loops.nest((outer, k, inner), add))
    body += loops.nest(_numbers(y), finish) if wide else ()
    body = checked(loops, indices, _numbers(y)[1], error, body)
    params = (indices, updates, like, y, error)
    func = Func("scatter_add", params, (y, error), (), body, (sums,) if wide else ())
    return Function(func, 0)


@function.on(ops.DescendRows)
def _descend_rows(op: ops.DescendRows, types: Types) -> Function:
    """y = w, then y[indices[k], j] -= rate * dw[k, j] for k in order, where there is such a row."""
    w, indices, dw, _ = _indexed(types[0], types[1], types[2].dtype, 0)
    rate, y = buffer("rate", (1,), "f32"), Buffer("y", w.shape, w.dtype)
    loops, (_, rows, width), n = Loops(), _numbers(w), types[1].size

    def move(k: Expr) -> Body:
        at = cast(indices[k], INDEX)

        def element(j: Expr) -> Body:
            step = dw[_FIRST, k, j] * cast(rate[_FIRST], y.dtype)
            return (Store("move", (y,), (_FIRST, at, j), (y[_FIRST, at, j] - step,)),)

        inside = (as_expr(0) <= at) & (at < rows)
        return (If(inside, loops.vector(width, element)),)

    def copy(i: Expr, j: Expr) -> Body:
        return (Store("copy", (y,), (_FIRST, i, j), (w[_FIRST, i, j],)),)

    def func(first: Body) -> Func:
        body = (*first, *loops.over(n if width else 0, move))
        return Func("descend_rows", (w, indices, dw, rate, y), (y,), (), body)

    return Function(func(loops.nest((rows, width), copy)), None, ((0, 0),), func(()))


@function.on(ops.InRange)
def _in_range(op: ops.InRange, types: Types) -> Function:
    """y = indices, where all are below `size`."""
    (t,) = types
    indices, y = (buffer(name, (t.size,), t.dtype) for name in ("indices", "y"))
    loops, error = Loops(), error_buffer()

    def func(body: Body) -> Func:
        body = checked(loops, indices, op.size, error, body)
        return Func("in_range", (indices, y, error), (y, error), (), body)

    copy = loops.nest((t.size,), lambda i: [Store("y", (y,), (i,), (indices[i],))])
    return Function(func(copy), 0, ((0, 0),), func(()))


@function.on(ops.OneHot)
def _one_hot(op: ops.OneHot, types: Types) -> Function:
    """A row of `off`, then `on` at the index."""
    (t,) = types
    indices = buffer("indices", (t.size,), t.dtype)
    y = buffer("y", (t.size, op.depth), bits(op.dtype))
    on, off = (number(value, op.dtype) for value in (op.on, op.off))
    loops = Loops()

    def row(r: Expr) -> Body:
        at = cast(indices[r], INDEX)
        inside = (as_expr(0) <= at) & (at < op.depth)
        cold = loops.vector(op.depth, lambda j: [Store("off", (y,), (r, j), (off,))])
        return (*cold, If(inside, (Store("on", (y,), (r, at), (on,)),)))

    body = loops.over(t.size if op.depth else 0, row)
    return Function(Func("one_hot", (indices, y), (y,), (), body))


@function.on(ops.ArgMax, ops.ArgMin)
def _extreme(op: ops.ArgMax | ops.ArgMin, types: Types) -> Function:
    """The extreme, then the first place where it, or a NaN, stands."""
    (t,) = types
    outer, n, inner = (1, t.size, 1) if op.axis is None else folded(t, op.axis)
    if inner == 1 and n > 2 * _BLOCK:
        return _extreme_of_rows(op, outer, n, t.dtype)
    x, y = buffer("x", (outer, n, inner), t.dtype), buffer("y", (outer, inner), "i64")
    extreme, place = local("extreme", inner, t.dtype), local("place", inner, _count(n))
    reducer, loops = MAX if isinstance(op, ops.ArgMax) else MIN, Loops()

    def best(o: Expr, i: Expr, j: Expr = _FIRST) -> Body:
        return (Store("best", (extreme,), (j,), (x[o, i, j],), reducer, (i,), True),)

    def find(o: Expr, i: Expr, j: Expr = _FIRST) -> Body:
        value = _if_here(x[o, i, j], extreme[j], i, n)
        return (Store("find", (place,), (j,), (value,), MIN, (i,), True),)

    def row(o: Expr) -> Body:
        def last(j: Expr) -> Body:
            return (Store("y", (y,), (o, j), (cast(place[j], "i64"),)),)

        dims = (n,) if inner == 1 else (n, inner)
        passes = [loops.nest(dims, partial(f, o)) for f in (best, find)]
        return (*passes[0], *passes[1], *loops.vector(inner, last))

    body = loops.over(outer if inner else 0, row)
    return Function(Func("extreme", (x, y), (y,), (), body, (extreme, place)))


def _extreme_of_rows(op: ops.ArgMax | ops.ArgMin, rows: int, n: int, dtype: str) -> Function:
    """The extremes of blocks; the first block that has that of all; its place in there.

    So a row is read once, and a block of it a second time.
    """
    x, y = buffer("x", (rows, n), dtype), buffer("y", (rows,), "i64")
    count, rest = n // _BLOCK, n % _BLOCK
    blocks = count + (rest > 0)
    extremes, extreme = local("extremes", blocks, dtype), local("extreme", 1, dtype)
    first, place = local("first", 1, _count(blocks)), local("place", 1, "i32")
    reducer, loops = MAX if isinstance(op, ops.ArgMax) else MIN, Loops()

    def combined(name: str, into: Buffer, at: Expr, value: Expr, i: Expr, how: Reducer) -> Body:
        return (Store(name, (into,), (at,), (value,), how, (i,), True),)

    def row(o: Expr) -> Body:
        def block(b: Expr, size: int = _BLOCK) -> Body:
            return loops.vector(
                size, lambda i: combined("best", extremes, b, x[o, b * _BLOCK + i], i, reducer)
            )

        def whole(b: Expr) -> Body:
            return combined("whole", extreme, _FIRST, extremes[b], b, reducer)

        def which(b: Expr) -> Body:
            value = _if_here(extremes[b], extreme[0], b, blocks)
            return combined("which", first, _FIRST, value, b, MIN)

        # The last block begins sooner than its number says; what it shares has no such element.
        start = minimum(cast(first[0], INDEX) * _BLOCK, as_expr(n - _BLOCK))

        def find(i: Expr) -> Body:
            value = _if_here(x[o, start + i], extreme[0], i, _BLOCK)
            return combined("find", place, _FIRST, value, i, MIN)

        result = Store("y", (y,), (o,), (cast(start + cast(place[0], INDEX), "i64"),))
        return (
            *(*loops.over(count, block), *block(const(count), rest)),
            *(*loops.vector(blocks, whole), *loops.vector(blocks, which)),
            *(*loops.vector(_BLOCK, find), result),
        )

    body = loops.over(rows, row)
    return Function(Func("extreme", (x, y), (y,), (), body, (extremes, extreme, first, place)))


def _if_here(e: Expr, extreme: Expr, i: Expr, none: int) -> Expr:
    """The position i where e is the extreme or NaN, else a number greater than all."""
    dtype = _count(none)
    here = e.equal(extreme)
    here = here | ~e.equal(e) if e.dtype in FLOATS else here
    return select(here, cast(i, dtype), const(none, dtype))


def _count(n: int) -> str:
    """A dtype for positions below n; lanes of i32 are twice as many."""
    return "i32" if n < 1 << 31 else "i64"


@function.on(ops.TopK)
def _top_k(op: ops.TopK, types: Types) -> Function:
    """Each element goes to its place among the k greatest so far: O(n k) at worst, mostly O(n)."""
    (t,) = types
    rows, n, _ = folded(t, -1)
    x = buffer("x", (rows, n), t.dtype)
    values, indices = buffer("values", (rows, op.k), t.dtype), buffer("at", (rows, op.k), "i64")
    loops = Loops()

    def beats(e: Expr, r: Expr, p: Expr) -> Expr:
        """Whether e comes before the entry at place p; an index of -1 marks an empty place."""
        v = values[r, p]
        more = v < e
        more = more | (~e.equal(e) & v.equal(v)) if t.dtype in FLOATS else more
        return (indices[r, p] < 0) | more

    def insert(r: Expr, i: Expr, back: Expr) -> Body:
        """Update one place, from the last to the first: shift the entry before, insert, or keep."""
        e, p = x[r, i], as_expr(op.k - 1) - back
        here = beats(e, r, p)

        def at(stored: Buffer, new: Expr) -> Expr:
            stays = select(here, new, stored[r, p])
            moves = select(beats(e, r, p - 1), stored[r, p - 1], stays)
            return select(as_expr(1) <= p, moves, stays)  # before the first place is nothing

        new = at(values, e), at(indices, cast(i, "i64"))
        return (Store("insert", (values, indices), (r, p), new),)

    def row(r: Expr) -> Body:
        nothing = (const(0, t.dtype), const(-1, "i64"))
        clear = loops.over(op.k, lambda p: [Store("clear", (values, indices), (r, p), nothing)])

        def element(i: Expr) -> Body:
            inserts = loops.over(op.k, lambda back: insert(r, i, back))
            return (If(beats(x[r, i], r, const(op.k - 1)), inserts),)

        return (*clear, *loops.over(n, element))

    body = loops.over(rows if op.k else 0, row)
    return Function(Func("top_k", (x, values, indices), (values, indices), (), body))


def _numbers(b: Buffer) -> tuple[int, ...]:
    return tuple([int(d.attr) for d in b.shape])


def _indexed(
    x: TensorType, indices: TensorType, dtype: str, axis: int
) -> tuple[Buffer, Buffer, Buffer, Buffer]:
    """x [outer, n, inner], indices [k], rows [outer, k, inner] of a dtype, and `error`."""
    outer, n, inner = folded(x, axis)
    return (
        buffer("x", (outer, n, inner), bits(x.dtype)),
        buffer("indices", (indices.size,), indices.dtype),
        buffer("rows", (outer, indices.size, inner), bits(dtype)),
        error_buffer(),
    )
