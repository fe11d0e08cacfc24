"""Extents of attention, and the block that its tiles are made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Union

from byparts_graph_ir import Refused, TensorType
from byparts_kernels_cuda.attention.team import Block
from byparts_kernels_cuda.builder import array
from byparts_kernels_cuda.products.contraction import sum_dtype
from byparts_opset import Attention, AttentionGradient
from byparts_tensor_ir.expression import BYTES, FLOATS, HALVES, Expr
from byparts_tensor_ir.matrix import SIDE
from byparts_tensor_ir.statement import Buffer

Op = Union[Attention, AttentionGradient]
MOST_SHARED_BYTES = 99 << 10  # of a block, on the least GPU since 2020
_MOST_REGISTERS = 200  # of a thread, for its tiles
# The first that fits: fewer columns where lines are long, then fewer rows.
_WIDE = [(4, 4, 8), (4, 4, 4), (4, 4, 2), (4, 2, 4), (4, 2, 2)]
BLOCKS = tuple([Block(*x) for x in (*_WIDE, (2, 2, 2), (2, 1, 2), (2, 1, 1))])
MATRICES = Block(4, 4, 4, matrices=True)
_WIDEST = 128  # lines whose sums fit into registers as matrices


@dataclass(frozen=True)
class Sizes:
    """Sizes, dtype and options of one attention.

    Attributes:
        batch: the product of the leading axes.
        s, t: queries and keys.
        d, e: widths of keys and of values.
        dtype: of all but the logarithms of sums.
        scale: of the scores.
        causal: query i sees the keys 0 to i alone.
    """

    batch: int
    s: int
    t: int
    d: int
    e: int
    dtype: str
    scale: float
    causal: bool

    @property
    def sums(self) -> str:
        """The dtype of sums."""
        return sum_dtype(self.dtype)

    @property
    def matrices(self) -> bool:
        """Whether matrix units multiply these halves."""
        whole = self.d % SIDE == self.e % SIDE == 0
        return self.dtype in HALVES and whole and max(self.d, self.e) <= _WIDEST

    def array(self, name: str, lines: int, width: int) -> Buffer:
        """An array (batch, line, element)."""
        return array(name, (self.batch, lines, width), self.dtype)

    def numbers(self, name: str) -> Buffer:
        """A number for each query, in the dtype of sums."""
        return array(name, (self.batch, self.s), self.sums)

    def visible(self, query: Expr, key: Expr) -> list[Expr]:
        """Conditions for a key to exist and to be visible to the query."""
        return [key < self.t] + [key <= query] * self.causal


def sizes_of(op: Op, types: Sequence[TensorType]) -> Sizes:
    """The sizes of an op on q, k and v.

    Raises:
        Refused: another dtype than floats, or no keys, or lines of no elements.
    """
    q, _, v = types
    (s, d), (t, e) = q.dims[-2:], v.dims[-2:]
    if q.dtype not in FLOATS or not t * d * e:
        operands = ", ".join(map(str, types))
        raise Refused(
            f"{op.name} of ({operands}): only of floats, and of at least one element a line"
        )
    scale = d**-0.5 if op.scale is None else op.scale
    return Sizes(prod(q.dims[:-2]), s, t, d, e, q.dtype, scale, op.causal)


def block_for(
    sizes: Sizes, rows: Sequence[int], columns: Sequence[int], sums: Sequence[int]
) -> Block:
    """The block whose tiles fit.

    Args:
        sizes: of the attention.
        rows: widths of the tiles of rows that stand in shared memory; scores are as many.
        columns: likewise of columns.
        sums: widths of what a thread adds up in registers.

    Raises:
        Refused: lines are too long for any.
    """
    dtype, words = sizes.dtype, BYTES[sizes.sums] // 4
    if sizes.matrices:
        return MATRICES
    for block in BLOCKS:
        size = sum(block.tile_bytes(block.rows, width, dtype) for width in rows)
        size += sum(block.tile_bytes(block.columns, width, dtype) for width in columns)
        size += block.tile_bytes(block.rows, block.columns, dtype)
        each = sum(block.width_of_thread(width, dtype) for width in sums)
        numbers = block.m * (block.n * len(rows) + each + 4) + block.n * 4
        if size <= MOST_SHARED_BYTES and numbers * words <= _MOST_REGISTERS:
            return block
    raise Refused(f"attention of lines of {sizes.d} and {sizes.e} {dtype}: no tiles are so small")
