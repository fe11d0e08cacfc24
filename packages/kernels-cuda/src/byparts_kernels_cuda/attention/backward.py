"""The gradient of attention: weights are computed again, tile by tile, from the logarithms.

    p = exp(scale q k - logsumexp)      ds = scale p (dy v - delta)      delta = sum(dy y)
    dv = pT dy          dk = dsT q          dq = ds k

Three launches: delta; then dk and dv, of which a block has some keys and goes through the queries;
then dq, of which a block has some queries and goes through the keys.  So p and ds are computed
twice, and no two blocks add to one number: the result is the same in every run.  After
FlashAttention-2 (Dao 2023, https://arxiv.org/abs/2307.08691), which adds to dq atomically.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import TensorType
from byparts_kernels_cuda.attention.matrices import team_of
from byparts_kernels_cuda.attention.sizes import Sizes, block_for, sizes_of
from byparts_kernels_cuda.attention.team import Block
from byparts_kernels_cuda.builder import Builder, all_of, needed
from byparts_kernels_cuda.products.contraction import decoded, multiply_add
from byparts_kernels_cuda.products.tiles import WARP
from byparts_opset import AttentionGradient
from byparts_tensor_ir.expression import Expr, as_expr, const
from byparts_tensor_ir.functions import call, cast, minimum, select
from byparts_tensor_ir.statement import Buffer, Func

_WARPS = 8  # of a block that computes delta


@dataclass(frozen=True)
class _Arrays:
    """The inputs and outputs of the op, and what stands between its launches."""

    dy: Buffer
    q: Buffer
    k: Buffer
    v: Buffer
    y: Buffer
    logarithms: Buffer
    dq: Buffer
    dk: Buffer
    dv: Buffer
    delta: Buffer


def attention_gradient_launches(
    op: AttentionGradient, types: Sequence[TensorType], block: Block | None = None
) -> Launches:
    """Launches for (dy, q, k, v, y, logsumexp, dq, dk, dv).

    Args:
        op: the gradient.
        types: of its inputs.
        block: another one than the widths ask for.

    Raises:
        Refused: another dtype than floats, no keys, lines of no elements, or too long ones.
    """
    sizes = sizes_of(op, types[1:4])
    s, t, d, e = sizes.s, sizes.t, sizes.d, sizes.e
    dy, y = (sizes.array(name, s, e) for name in ("DY", "Y"))
    q, k, v = (sizes.array(*x) for x in (("Q", s, d), ("K", t, d), ("V", t, e)))
    dq, dk, dv = (sizes.array(*x) for x in (("DQ", s, d), ("DK", t, d), ("DV", t, e)))
    a = _Arrays(dy, q, k, v, y, sizes.numbers("L"), dq, dk, dv, sizes.numbers("delta"))
    parameters = (dy, q, k, v, y, a.logarithms, dq, dk, dv)
    if not sizes.batch:
        return Launches(parameters, (), ())
    blocks = [block or block_for(sizes, (d, e), (d, e), sums) for sums in ((d, e), (d,))]
    of_keys = _Pass(sizes, blocks[0], a, keys=True).function()
    if not s:
        return Launches(parameters, (a.delta,), (of_keys,))
    of_queries = _Pass(sizes, blocks[1], a, keys=False).function()
    return Launches(parameters, (a.delta,), (_delta(sizes, a), of_keys, of_queries))


def _delta(sizes: Sizes, a: _Arrays) -> Func:
    """delta = sum(dy * y) of each query: a warp adds up one."""
    build, count = Builder(), sizes.batch * sizes.s
    with build.grid(-(-count // _WARPS), _WARPS * WARP) as (block, thread):
        number, lane = block * _WARPS + thread // WARP, thread % WARP
        with build.when(number < count):
            b, i = decoded(number, (sizes.batch, sizes.s))
            total = build.buffer("register", "total", (1,), sizes.sums)
            build.store(total, (0,), 0)
            with build.loop("part", -(-sizes.e // WARP)) as part:
                x = part * WARP + lane
                with build.when(x < sizes.e):
                    pair = [cast(array[b, i, x], sizes.sums) for array in (a.dy, a.y)]
                    build.store(total, (0,), multiply_add(pair[0], pair[1], total[0]))
            build.add_over_warp(total, (0,))
            with build.when(lane < 1):
                build.store(a.delta, (b, i), total[0])
    return build.function("attention_delta", (a.dy, a.y, a.delta), (a.delta,))


class _Pass:
    """A kernel whose blocks have rows of two arrays, and go through lines of two others.

    Rows are queries (of q and dy), and a block computes dq; or keys (of k and v), and dk and dv.
    """

    def __init__(self, sizes: Sizes, block: Block, a: _Arrays, keys: bool) -> None:
        self.sizes, self.block, self.a, self.keys = sizes, block, a, keys
        self.build = Builder()
        of_queries, of_keys = (a.q, a.dy), (a.k, a.v)
        self.rows, self.columns = (of_keys, of_queries) if keys else (of_queries, of_keys)
        self.tiles = -(-(sizes.t if keys else sizes.s) // block.rows)
        self.steps = -(-(sizes.s if keys else sizes.t) // block.columns)

    def function(self) -> Func:
        sizes, block, build, a = self.sizes, self.block, self.build, self.a
        results = (a.dk, a.dv) if self.keys else (a.dq,)
        widths = (sizes.d, sizes.e)
        with build.grid(sizes.batch * self.tiles, block.threads) as (x, thread):
            self.batch, which = decoded(x, (sizes.batch, self.tiles))
            # Blocks of a causal mask that go through many columns begin first.
            self.first = (which if self.keys else self.tiles - 1 - which) * block.rows
            team = self.team = team_of(build, block, thread, sizes.dtype)
            sums = [team.totals(w) for _, w in zip(results, widths, strict=False)]
            self.own = [team.tile("rows", block.rows, w) for w in widths]
            self.other = [team.tile("columns", block.columns, w) for w in widths]
            self.weights = team.tile("ps", block.rows, block.columns)
            self.load(self.own, self.rows, self.first)
            if not self.keys:
                self.numbers = self.of_queries(team.row, self.first, block.m)
            begin, count = self.range()
            with build.loop("step", count) as step:
                self.through((begin + step) * block.columns, sums)
            for total, target in zip(sums, results, strict=True):
                team.write(total, target, self.batch, self.first, lambda i, x: x)
        arguments = (a.dy, a.q, a.k, a.v, a.logarithms, a.delta)
        name = "attention_keys" if self.keys else "attention_queries"
        return build.function(name, (*arguments, *results), results)

    def range(self) -> tuple[Expr, Expr]:
        """(first tile of columns, how many) that rows of the block meet under the mask."""
        columns, every = self.block.columns, as_expr(self.steps)
        if not self.sizes.causal:
            return as_expr(0), every
        if self.keys:
            begin = minimum(self.first // columns, every)
            return begin, every - begin
        return as_expr(0), minimum(every, (self.first + self.block.rows - 1) // columns + 1)

    def load(self, tiles: Sequence[Buffer], sources: Sequence[Buffer], first: Expr) -> None:
        """Load lines of two arrays."""
        for tile, source in zip(tiles, sources, strict=True):
            self.team.load(tile, source, self.batch, first)

    def of_queries(self, place: Callable[[Expr], Expr], first: Expr, count: int) -> list[Buffer]:
        """The logarithms and delta of the thread's queries; 0 where there are none."""
        held = []
        for name, source in (("logarithm", self.a.logarithms), ("mean", self.a.delta)):
            own = self.team.filled(name, 0, count)
            with self.build.unrolled(i=count) as (i,):
                query = first + place(i)
                with self.build.when(query < self.sizes.s):
                    self.build.store(own, (i,), source[self.batch, query])
            held.append(own)
        return held

    def through(self, first: Expr, sums: Sequence[Buffer]) -> None:
        """Add what the columns from the first on give."""
        build, team, sizes = self.build, self.team, self.sizes
        build.barrier()
        self.load(self.other, self.columns, first)
        if self.keys:
            self.numbers = self.of_queries(team.column, first, self.block.n)
        build.barrier()
        p, ds = (
            team.scores(own, other, width)
            for own, other, width in zip(self.own, self.other, (sizes.d, sizes.e), strict=True)
        )
        self.weigh(p, ds, first)
        team.spread(ds, self.weights)
        build.barrier()
        team.add_products(sums[0], self.weights, self.other[0])
        if self.keys:
            build.barrier()
            team.spread(p, self.weights)
            build.barrier()
            team.add_products(sums[1], self.weights, self.other[1])

    def weigh(self, p: Buffer, ds: Buffer, first: Expr) -> None:
        """Scores of q and k become weights, those of dy and v their gradients."""
        build, team, sizes = self.build, self.team, self.sizes
        zero, scale = const(0, sizes.sums), const(sizes.scale, sizes.sums)
        with build.unrolled(i=self.block.m, j=self.block.n) as (i, j):
            row, column = self.first + team.row(i), first + team.column(j)
            query, key = (column, row) if self.keys else (row, column)
            logarithm, mean = (x[j if self.keys else i] for x in self.numbers)
            weight = call("exp", p[i, j] * scale - logarithm)
            visible = all_of(needed(sizes.visible(query, key)))
            build.store(p, (i, j), select(visible, weight, zero))
            build.store(ds, (i, j), p[i, j] * (ds[i, j] - mean) * scale)
