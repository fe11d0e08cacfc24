"""GPU functions written by hand, with inputs and the answers of NumPy, for tests of emitters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf, sqrt
from typing import Any

import numpy as np

from byparts_tensor_ir.expression import Expr, Operand, const, variable
from byparts_tensor_ir.functions import call, cast, maximum, minimum, select, unary
from byparts_tensor_ir.interpret import NUMPY
from byparts_tensor_ir.statement import (
    WARP,
    Barrier,
    Buffer,
    Exchange,
    For,
    Func,
    If,
    Shuffle,
    Statement,
    Store,
)

Case = tuple[Func, list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]


def buffer(name: str, *shape: int, dtype: str = "f32", scope: str = "global") -> Buffer:
    return Buffer(name, tuple([const(n) for n in shape]), dtype, scope)


def local(name: str, *shape: int, dtype: str = "f32") -> Buffer:
    return buffer(name, *shape, dtype=dtype, scope="local")


def put(target: Buffer, index: Sequence[Operand], value: Operand) -> Store:
    """A store of one value, of which the block is the name of the target."""
    at = tuple([i if isinstance(i, Expr) else const(i) for i in index])
    stored = value if isinstance(value, Expr) else const(value, target.dtype)
    return Store(target.name, (target,), at, (stored,))


def bound(body: Sequence[Statement], **loops: Expr) -> tuple[For, ...]:
    """Statements in a nest: `bx=i` binds i to blockIdx.x, `ty=j` j to threadIdx.y; outermost first."""
    inner: tuple[Statement, ...] = tuple(body)
    for name, var in reversed(loops.items()):
        inner = (For(var, inner, f"{'block' if name[0] == 'b' else 'thread'}Idx.{name[1]}"),)
    return inner  # type: ignore[return-value]  # there is a loop


def over_the_warp(
    value: Buffer, other: Buffer, combine: Callable[[Expr, Expr], Expr]
) -> list[Statement]:
    """Lane 0 of each warp ends with the combination of all lanes."""
    out: list[Statement] = []
    for delta in (16, 8, 4, 2, 1):
        out += [Shuffle(other, value[()], delta), put(value, (), combine(value[()], other[()]))]
    return out


def over_the_block(
    value: Buffer,
    other: Buffer,
    red: Buffer,
    t: Expr,
    threads: int,
    combine: Callable[[Expr, Expr], Expr],
    identity: float,
) -> list[Statement]:
    """All threads of a block end with the combination of theirs; `red` has an element a warp."""
    warp = over_the_warp(value, other, combine)
    first = [
        put(value, (), select(t < threads // WARP, red[t], identity)),
        *warp,
        If(t < 1, (put(red, (0,), value[()]),)),
    ]
    return [
        *warp,
        If((t % WARP).equal(0), (put(red, (t // WARP,), value[()]),)),
        Barrier(),
        If(t < WARP, tuple(first)),
        Barrier(),
        put(value, (), red[0]),
        Barrier(),
    ]


def _add(a: Expr, b: Expr) -> Expr:
    return a + b


def softmax(rows: int = 3, n: int = 200, threads: int = 64) -> Case:
    """A block for each row: the greatest, the sum of the exponentials, the quotients."""
    x, y = buffer("x", rows, n), buffer("y", rows, n)
    most, total, other = local("most"), local("total"), local("other")
    red = buffer("red", threads // WARP, scope="shared")
    row, t = variable("row", rows), variable("t", threads)

    def columns(body: Callable[[Expr], Store]) -> For:
        k = variable("k", -(-n // threads))
        return For(k, (If(k * threads + t < n, (body(k * threads + t),)),))

    body: list[Statement] = [
        put(most, (), float("-inf")),
        columns(lambda c: put(most, (), maximum(most[()], x[row, c]))),
        *over_the_block(most, other, red, t, threads, maximum, float("-inf")),
        put(total, (), 0.0),
        columns(lambda c: put(total, (), total[()] + call("exp", x[row, c] - most[()]))),
        *over_the_block(total, other, red, t, threads, _add, 0.0),
        columns(lambda c: put(y, (row, c), call("exp", x[row, c] - most[()]) / total[()])),
    ]
    nest = bound(body, bx=row, tx=t)
    func = Func("softmax", (x, y), (y,), (), nest, (most, total, other, red), "train.py:41")
    given = _normal(rows, n)
    e = np.exp(given - given.max(1, keepdims=True))
    return func, [given], [e / e.sum(1, keepdims=True)]


def gelu(rows: int = 3, n: int = 512, threads: int = 64) -> Case:
    """The gelu of x g + b, four neighbours for each thread."""
    x, g, b, y = buffer("x", rows, n), buffer("g", n), buffer("b", n), buffer("y", rows, n)
    row, part, t, v = [
        variable(name, extent)
        for name, extent in zip(
            ("row", "part", "t", "v"), (rows, -(-n // (4 * threads)), threads, 4), strict=True
        )
    ]
    first = (part * threads + t) * 4
    z = x[row, first + v] * g[first + v] + b[first + v]
    value = z * 0.5 * (call("erf", z * 0.7071067811865476) + 1.0)
    lanes = For(v, (put(y, (row, first + v), value),), "vectorize")
    nest = bound([If(first < n, (lanes,))], bx=row, by=part, tx=t)
    func = Func("gelu", (x, g, b, y), (y,), (), nest, (), "model.py:7")
    given = [_normal(rows, n), _normal(n), _normal(n)]
    inner = given[0] * given[1] + given[2]
    return func, given, [inner * 0.5 * (1 + np.vectorize(erf)(inner / sqrt(2)))]


def matmul(m: int = 33, n: int = 40, k: int = 20, tile: int = 16, deep: int = 8) -> Case:
    """A tile of C for each block, one element for each thread, tiles of A and B in shared memory."""
    a, b, c = buffer("A", m, k), buffer("B", k, n), buffer("C", m, n)
    left = buffer("left", tile, deep + 1, scope="shared")
    right = buffer("right", deep, tile, scope="shared")
    acc = local("acc")
    by, bx = variable("by", -(-m // tile)), variable("bx", -(-n // tile))
    ty, tx = variable("ty", tile), variable("tx", tile)
    step, kk = variable("step", -(-k // deep)), variable("kk", deep)
    i, j = by * tile + ty, bx * tile + tx
    body: list[Statement] = [
        If(
            tx < deep,
            (
                put(
                    left,
                    (ty, tx),
                    select((i < m) & (step * deep + tx < k), a[i, step * deep + tx], 0.0),
                ),
            ),
        ),
        If(
            ty < deep,
            (
                put(
                    right,
                    (ty, tx),
                    select((step * deep + ty < k) & (j < n), b[step * deep + ty, j], 0.0),
                ),
            ),
        ),
        Barrier(),
        For(kk, (put(acc, (), acc[()] + left[ty, kk] * right[kk, tx]),), "unroll"),
        Barrier(),
    ]
    thread: list[Statement] = [
        put(acc, (), 0.0),
        For(step, tuple(body)),
        If((i < m) & (j < n), (put(c, (i, j), acc[()]),)),
    ]
    func = Func(
        "matmul", (a, b, c), (c,), (), bound(thread, by=by, bx=bx, ty=ty, tx=tx), (left, right, acc)
    )
    given = [_normal(m, k), _normal(k, n)]
    return func, given, [given[0] @ given[1]]


def gather(rows: int = 7, count: int = 5, n: int = 64) -> Case:
    """Rows of x by their numbers, kept within bounds; two neighbours for each thread."""
    x, at, y = buffer("x", rows, n), buffer("at", count, dtype="i32"), buffer("y", count, n)
    i, t, v = variable("i", count), variable("t", n // 2), variable("v", 2)
    row = maximum(minimum(cast(at[i], "index"), const(rows - 1)), const(0))
    lanes = For(v, (put(y, (i, t * 2 + v), x[row, t * 2 + v]),), "vectorize")
    func = Func("gather", (x, at, y), (y,), (), bound([lanes], bx=i, tx=t))
    given = [_normal(rows, n), np.array([3, -1, 6, 9, 0], np.int32)[:count]]
    return func, given, [given[0][np.clip(given[1], 0, rows - 1)]]


def column_sum(rows: int = 50, n: int = 40, threads: int = 8) -> Case:
    """Sums of columns: rows of threads add up, then one row of threads adds their sums."""
    x, y = buffer("x", rows, n), buffer("y", n)
    part = buffer("part", threads, WARP, scope="shared")
    total = local("total")
    bx, ty, tx = variable("bx", -(-n // WARP)), variable("ty", threads), variable("tx", WARP)
    k, q = variable("k", -(-rows // threads)), variable("q", threads)
    column, row = bx * WARP + tx, k * threads + ty
    body: list[Statement] = [
        put(total, (), 0.0),
        For(k, (If((row < rows) & (column < n), (put(total, (), total[()] + x[row, column]),)),)),
        put(part, (ty, tx), total[()]),
        Barrier(),
        If(
            (ty < 1) & (column < n),
            (
                put(total, (), 0.0),
                For(q, (put(total, (), total[()] + part[q, tx]),), "unroll"),
                put(y, (column,), total[()]),
            ),
        ),
    ]
    func = Func("column_sum", (x, y), (y,), (), bound(body, bx=bx, ty=ty, tx=tx), (part, total))
    given = _normal(rows, n)
    return func, [given], [given.sum(0)]


def sums_of_warps(threads: int = 96) -> Case:
    """Each thread has the sum of all 32 of its warp."""
    x, y = buffer("x", threads), buffer("y", threads)
    value, other, t = local("value"), local("other"), variable("t", threads)
    body: list[Statement] = [put(value, (), x[t])]
    for mask in (16, 8, 4, 2, 1):
        body += [Exchange(other, value[()], mask), put(value, (), value[()] + other[()])]
    func = Func(
        "sums_of_warps",
        (x, y),
        (y,),
        (),
        bound([*body, put(y, (t,), value[()])], tx=t),
        (value, other),
    )
    a = _normal(threads)
    return func, [a], [np.repeat(a.astype(np.float64).reshape(-1, WARP).sum(1), WARP)]


def transpose(rows: int = 40, n: int = 50, threads: int = 8) -> Case:
    """Tiles of 32 x 32 through shared memory, whose rows are one element longer than they need."""
    x, y = buffer("x", rows, n), buffer("y", n, rows)
    tile = buffer("tile", WARP, WARP + 1, scope="shared")
    by, bx = variable("by", -(-rows // WARP)), variable("bx", -(-n // WARP))
    ty, tx = variable("ty", threads), variable("tx", WARP)
    k, q = variable("k", WARP // threads), variable("q", WARP // threads)
    i, j = by * WARP + k * threads + ty, bx * WARP + tx
    column, row = bx * WARP + q * threads + ty, by * WARP + tx
    body: list[Statement] = [
        For(k, (If((i < rows) & (j < n), (put(tile, (k * threads + ty, tx), x[i, j]),)),)),
        Barrier(),
        For(
            q,
            (
                If(
                    (row < rows) & (column < n),
                    (put(y, (column, row), tile[tx, q * threads + ty]),),
                ),
            ),
        ),
    ]
    func = Func("transpose", (x, y), (y,), (), bound(body, by=by, bx=bx, ty=ty, tx=tx), (tile,))
    given = _normal(rows, n)
    return func, [given], [given.T]


def argmax(rows: int = 4, n: int = 70) -> Case:
    """The place of the greatest element of each row, the first of equals: a warp for a row."""
    x, y = buffer("x", rows, n), buffer("y", rows, dtype="i32")
    best, other, at = local("best"), local("other"), local("at", dtype="i32")
    other_at = local("other_at", dtype="i32")
    row, t, k = variable("row", rows), variable("t", WARP), variable("k", -(-n // WARP))
    column = k * WARP + t

    def better(value: Expr, place: Expr) -> Store:
        """Both at once: neither reads what the other has become."""
        wins = (best[()] < value) | (value.equal(best[()]) & (place < at[()]))
        values = (select(wins, value, best[()]), select(wins, place, at[()]))
        return Store("better", (best, at), (), values)

    body: list[Statement] = [
        put(best, (), float("-inf")),
        put(at, (), const(n, "i32")),
        For(k, (If(column < n, (better(x[row, column], cast(column, "i32")),)),)),
    ]
    for delta in (16, 8, 4, 2, 1):
        body += [Shuffle(other, best[()], delta), Shuffle(other_at, at[()], delta)]
        body.append(better(other[()], other_at[()]))
    body.append(If(t < 1, (put(y, (row,), at[()]),)))
    locals_ = (best, other, at, other_at)
    func = Func("argmax", (x, y), (y,), (), bound(body, bx=row, tx=t), locals_)
    given = np.round(_normal(rows, n))
    return func, [given], [given.argmax(1)]


def adam(n: int = 600, threads: int = 64) -> Case:
    """A step of Adam, of four weights for each thread: three results of one statement."""
    w, dw, m, v = (buffer(name, n) for name in ("w", "dw", "m", "v"))
    new_w, new_m, new_v = (buffer(name, n) for name in ("new_w", "new_m", "new_v"))
    bx, t, lane = variable("bx", -(-n // (4 * threads))), variable("t", threads), variable("v", 4)
    first = (bx * threads + t) * 4
    i = first + lane
    mean = m[i] * 0.9 + dw[i] * 0.1
    square = v[i] * 0.999 + dw[i] * dw[i] * 0.001
    step = mean * 0.01 / (unary("sqrt", square) + 1e-8)
    store = Store("adam", (new_w, new_m, new_v), (i,), (w[i] - step, mean, square))
    nest = bound([If(first < n, (For(lane, (store,), "vectorize"),))], bx=bx, tx=t)
    func = Func(
        "adam", (w, dw, m, v, new_w, new_m, new_v), (new_w, new_m, new_v), (), nest, (), "fit.py:3"
    )
    given = [_normal(n), _normal(n)[::-1].copy(), _normal(n) / 2, np.abs(_normal(n))]
    mean_, square_ = 0.9 * given[2] + 0.1 * given[1], 0.999 * given[3] + 0.001 * given[1] ** 2
    return func, given, [given[0] - 0.01 * mean_ / (np.sqrt(square_) + 1e-8), mean_, square_]


def half_scale(n: int = 256, threads: int = 32) -> Case:
    """Halves read widely, added and scaled in f32, rounded to halves."""
    x, y, z = buffer("x", n, dtype="f16"), buffer("y", n, dtype="f16"), buffer("z", n, dtype="f16")
    bx, t, v = variable("bx", n // (4 * threads)), variable("t", threads), variable("v", 4)
    i = (bx * threads + t) * 4 + v
    value = (cast(x[i], "f32") + cast(y[i], "f32")) * 0.1
    lanes = For(v, (put(z, (i,), cast(value, "f16")),), "vectorize")
    func = Func("half_scale", (x, y, z), (z,), (), bound([lanes], bx=bx, tx=t))
    a, b = _normal(n).astype(np.float16), _normal(n)[::-1].astype(np.float16)
    total = a.astype(np.float32) + b.astype(np.float32)
    return func, [a, b], [(total * np.float32(0.1)).astype(np.float16)]


def _normal(*shape: int) -> np.ndarray[Any, Any]:
    values: np.ndarray[Any, Any] = np.random.default_rng(0).standard_normal(shape)
    return values.astype(np.float32)


def empty(func: Func) -> list[Any]:
    """Arrays for the outputs, of numbers that no kernel here computes."""
    return [np.full([d.attr for d in b.shape], 77, NUMPY[b.dtype]) for b in func.outputs]


KERNELS: dict[str, Callable[[], Case]] = {
    f.__name__: f
    for f in (
        *(softmax, gelu, matmul, gather, column_sum, sums_of_warps, transpose, argmax, adam),
        half_scale,
    )
}
