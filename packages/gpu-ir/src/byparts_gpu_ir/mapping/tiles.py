"""Transpositions by tiles in shared memory, so that a warp reads and writes neighbours.

    for i: for j: y[i, j] = f(x[j, i])     is, for each 32 x 32 of them,

    tile[j, i] = x[j, i]                   a warp has one j: neighbours of x
    barrier
    y[i, j] = f(tile[j, i])                a warp has one i: neighbours of y

A line of the tile is one element longer, so that what stands in a column lies in different banks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from byparts_gpu_ir.launches import size_bytes
from byparts_gpu_ir.mapping.piece import Piece
from byparts_gpu_ir.mapping.stages import Stage
from byparts_gpu_ir.mapping.traffic import Access
from byparts_tensor_ir.access import is_safe
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.statement import WARP, Barrier, Buffer, For, If, Statement, Store
from byparts_tensor_ir.substitute import in_statements, loads, substituted

_LEAST = WARP // 2  # rounds of a loop of which a warp takes 32


@dataclass(frozen=True)
class _Turned:
    """A store whose neighbours are read far apart.

    Attributes:
        store: the statement.
        i: the loop over neighbours of what is read.
        j: the loop over neighbours of what is written.
        reads: the loads that are made in the order of i.
    """

    store: Store
    i: Expr
    j: Expr
    reads: tuple[Expr, ...]


def tiled(stage: Stage) -> Piece | None:
    """The piece that reads through tiles, if the stage is one transposing store; else `None`."""
    turned = _turned(stage)
    threads = stage.team.threads
    if turned is None or threads % WARP or WARP % (threads // WARP):
        return None
    tiles = [_tile(k, read.attr.dtype) for k, read in enumerate(turned.reads)]
    if sum(size_bytes(b) for b in tiles) > stage.machine.shared_bytes:
        return None
    pairs = [*zip(tiles, turned.reads, strict=True)]
    thread = variable("t", threads)
    lane, lines = thread % WARP, threads // WARP
    first, second = (variable(name, WARP // lines) for name in ("read", "write"))
    j, i = (thread // WARP + k * lines for k in (first, second))
    fill = [Store(b.name, (b,), (j, lane), (e,)) for b, e in pairs]
    value = substituted(turned.store.values[0], {e: b[lane, i] for b, e in pairs})
    empty = [replace(turned.store, values=(value,))]
    block, at = _places(stage, turned)
    body: tuple[Statement, ...] = (
        For(first, _element(fill, turned, at, lane, j), "unroll"),
        Barrier(),
        For(
            second,
            _element(empty, turned, at, i, lane),
            "unroll",
        ),
    )
    for condition in reversed(stage.conditions):
        body = (If(condition, body),)
    return Piece(block, thread, body, tuple(tiles))


def _turned(stage: Stage) -> _Turned | None:
    """The one store of the stage, where some of what it reads lies the other way round."""
    if stage.team.size != 1 or len(stage.rows.body) != 1:
        return None
    (store,) = stage.rows.body
    if not isinstance(store, Store) or store.reducer is not None or len(store.targets) != 1:
        return None
    (target,), memory = store.targets, stage.rows.around.memory
    if any(v.attr.extent.op != "const" for v in stage.rows.loops):
        return None  # a tile that sizes decide is not worked out
    wide = [v for v in stage.rows.loops if int(v.attr.extent.attr) >= _LEAST]
    j = next((v for v in wide if Access(target, store.index).stride(v) == 1), None)
    if j is None or target.scope != "global":
        return None
    far_reads: dict[Expr, list[Expr]] = {}
    for read in dict.fromkeys(loads(store.values[0])):
        access = Access(read.attr, read.args)
        far = access.stride(j) not in (None, -1, 0, 1)
        for i in wide if far and is_safe(read) and memory(read.attr) is not memory(target) else ():
            if access.stride(i) == 1:
                far_reads.setdefault(i, []).append(read)
    if not far_reads:
        return None
    i, reads = max(far_reads.items(), key=lambda item: len(item[1]))
    return _Turned(store, i, j, tuple(reads))


def _tile(number: int, dtype: str) -> Buffer:
    """A tile in shared memory of values at [j, i]."""
    return Buffer(f"tile{number}", (const(WARP), const(WARP + 1)), dtype, "shared")


def _places(stage: Stage, turned: _Turned) -> tuple[Expr, dict[Expr, Expr]]:
    """The number of a block, and the first value of each loop's variable in it, from 0."""
    others = [v for v in stage.rows.loops if v is not turned.i and v is not turned.j]
    counts = {v: int(v.attr.extent.attr) for v in others}
    counts |= {v: -(-int(v.attr.extent.attr) // WARP) for v in (turned.i, turned.j)}
    block = variable("b", prod(counts.values()))
    at: dict[Expr, Expr] = {}
    left = block
    for v, count in reversed(counts.items()):
        at[v] = (left % count) * (1 if v in others else WARP)
        left = left // count
    return block, at


def _element(
    statements: Sequence[Statement], turned: _Turned, at: dict[Expr, Expr], i: Expr, j: Expr
) -> tuple[Statement, ...]:
    """Statements for an element [j, i] of the tile that begins at `at`, where there is one."""
    at = {**at, turned.i: at[turned.i] + i, turned.j: at[turned.j] + j}
    inside = [at[v] < v.attr.extent for v in (turned.i, turned.j)]
    body = in_statements(statements, {v: x + v.attr.low for v, x in at.items()})
    return (If(inside[0] & inside[1], body),)
