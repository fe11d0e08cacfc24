"""Attention: a block has some queries, goes through the keys, and keeps the sums of what it saw.

The maximum of a row may grow from one tile of keys to the next; what is summed so far is scaled
then.  After Milakov and Gimelshein 2018 (https://arxiv.org/abs/1805.02867) and FlashAttention (Dao
et al. 2022, https://arxiv.org/abs/2205.14135).  Under a causal mask a block ends at its last
query, and blocks with many keys begin first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import TensorType
from byparts_kernels_cuda.attention.matrices import team_of
from byparts_kernels_cuda.attention.sizes import Sizes, block_for, sizes_of
from byparts_kernels_cuda.attention.team import Block
from byparts_kernels_cuda.builder import Builder, all_of, needed
from byparts_kernels_cuda.products.contraction import decoded
from byparts_opset import Attention
from byparts_tensor_ir.expression import Expr, as_expr, const
from byparts_tensor_ir.functions import call, maximum, minimum, select
from byparts_tensor_ir.statement import Buffer, Func


def attention_launches(
    op: Attention, types: Sequence[TensorType], block: Block | None = None
) -> Launches:
    """Launches for (q, k, v, y, logsumexp).

    Args:
        op: the attention.
        types: of q, k and v.
        block: another one than the widths ask for.

    Raises:
        Refused: another dtype than floats, no keys, lines of no elements, or too long ones.
    """
    sizes = sizes_of(op, types)
    q, k, v = (
        sizes.array(name, lines, width)
        for name, lines, width in (
            ("Q", sizes.s, sizes.d),
            ("K", sizes.t, sizes.d),
            ("V", sizes.t, sizes.e),
        )
    )
    parameters = (q, k, v, sizes.array("Y", sizes.s, sizes.e), sizes.numbers("L"))
    if not sizes.batch * sizes.s:
        return Launches(parameters, (), ())
    block = block or block_for(sizes, (sizes.d,), (sizes.d, sizes.e), (sizes.e,))
    return Launches(parameters, (), (_Forward(sizes, block, parameters).function(),))


class _Forward:
    """The kernel."""

    def __init__(self, sizes: Sizes, block: Block, parameters: Sequence[Buffer]) -> None:
        self.sizes, self.block = sizes, block
        self.q, self.k, self.v, self.y, self.logarithms = parameters
        self.build = Builder()

    def function(self) -> Func:
        sizes, block, build = self.sizes, self.block, self.build
        tiles = -(-sizes.s // block.rows)
        with build.grid(sizes.batch * tiles, block.threads) as (x, thread):
            batch, which = decoded(x, (sizes.batch, tiles))
            self.batch, self.first = batch, (tiles - 1 - which) * block.rows
            team = self.team = team_of(build, block, thread, sizes.dtype)
            self.top = team.filled("top", -inf, block.m)
            self.under = team.filled("under", 0, block.m)
            self.sums = team.totals(sizes.e)
            self.factors = team.registers("factor", block.m)
            queries = team.tile("qs", block.rows, sizes.d)
            keys = team.tile("ks", block.columns, sizes.d)
            values = team.tile("vs", block.columns, sizes.e)
            weights = team.tile("ps", block.rows, block.columns)
            team.load(queries, self.q, batch, self.first)
            with build.loop("step", self.steps()) as step:
                build.barrier()
                team.load(keys, self.k, batch, step * block.columns)
                team.load(values, self.v, batch, step * block.columns)
                build.barrier()
                scores = team.scores(queries, keys, sizes.d)
                self.weigh(scores, step * block.columns)
                team.spread(scores, weights)
                team.share(self.factors)
                build.barrier()
                team.scale(self.sums, self.factors)
                team.add_products(self.sums, weights, values)
            self.write()
        return build.function(
            "attention",
            (self.q, self.k, self.v, self.y, self.logarithms),
            (self.y, self.logarithms),
        )

    def steps(self) -> Expr:
        """Tiles of keys that some query of the block sees."""
        columns = self.block.columns
        every = as_expr(-(-self.sizes.t // columns))
        if not self.sizes.causal:
            return every
        return minimum(every, (self.first + self.block.rows - 1) // columns + 1)

    def weigh(self, scores: Buffer, first_key: Expr) -> None:
        """Scores become weights; `factors` are of the sums before, whose maximum was smaller."""
        build, team, sizes, (m, n) = self.build, self.team, self.sizes, (self.block.m, self.block.n)
        before, factors = team.registers("before"), self.factors
        with build.unrolled(i=m) as (i,):
            build.store(before, (), self.top[i])
            with build.unrolled(j=n) as (j,):
                visible = needed(
                    sizes.visible(self.first + team.row(i), first_key + team.column(j))
                )
                scaled = scores[i, j] * const(sizes.scale, sizes.sums)
                build.store(
                    scores, (i, j), select(all_of(visible), scaled, const(-inf, sizes.sums))
                )
                build.store(self.top, (i,), maximum(self.top[i], scores[i, j]))
            team.over_row(self.top, (i,), maximum)
            build.store(factors, (i,), call("exp", before[()] - self.top[i]))
            build.store(self.under, (i,), self.under[i] * factors[i])
            with build.unrolled(j=n) as (j,):
                build.store(scores, (i, j), call("exp", scores[i, j] - self.top[i]))
                build.store(self.under, (i,), self.under[i] + scores[i, j])

    def write(self) -> None:
        """Divide by the sums under the weights, and write them as logarithms."""
        build, team = self.build, self.team
        with build.unrolled(i=self.block.m) as (i,):
            team.over_row(self.under, (i,), lambda a, b: a + b)
        team.write(self.sums, self.y, self.batch, self.first, lambda i, x: x / self.under[i])
        with build.when(team.across < 1), build.unrolled(i=self.block.m) as (i,):
            query = self.first + team.row(i)
            with build.when(query < self.sizes.s):
                logarithm = self.top[i] + call("log", self.under[i])
                build.store(self.logarithms, (self.batch, query), logarithm)
