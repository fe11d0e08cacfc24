"""Contractions: sums of products of two operands, whatever their arrays look like.

    y[b, i, j] = finish(sum over r of a[b, i, r] * w[b, j, r])

A product of matrices is one, and so is a convolution: there i or j is a pixel, r an element of the
filter, and the operand's `index` and `inside` say which pixel that is and whether it lies in the
image.  One kernel (`tiled.py`) computes them all; what differs is index arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from byparts_tensor_ir.expression import BYTES, FLOATS, HALVES, Expr, Operand as Number, const, pair
from byparts_tensor_ir.functions import cast, fma
from byparts_tensor_ir.statement import Buffer

Index = tuple[Expr, ...]
Extent = Union[int, Expr]  # an expression where sizes of named dimensions decide
VECTOR_BYTES = 16  # of the widest access of a thread


@dataclass(frozen=True)
class Operand:
    """A factor of a contraction: its element for (batch, outer index, summed index).

    Attributes:
        buffer: where it is read.
        extent: of the outer index.
        index: (batch, outer, summed) -> index of the buffer.
        sized: the extent, where sizes of named dimensions decide; `extent` is then a usual one.
        inside: (batch, outer, summed) -> what holds where there is an element; elsewhere it is 0.
        along: "sum" or "outer": the index whose neighbours are neighbours in memory.
        lanes: how many of those one access reads: neighbours along the last index of the buffer.
            They divide the extent of what `along` says, each group of so many begins at a multiple
            of them in memory, and is inside as a whole.
    """

    buffer: Buffer
    extent: int
    index: Callable[[Expr, Expr, Expr], Index]
    along: str
    lanes: int = 1
    inside: Callable[[Expr, Expr, Expr], Index] = lambda b, i, r: ()
    sized: Expr | None = None


@dataclass(frozen=True)
class Addend:
    """An array that `finish` reads beside the sum.

    Attributes:
        buffer: where it is read.
        index: index of y -> index of the buffer.
        moves: whether neighbours in y read neighbours of the buffer; if not, they read one element.
    """

    buffer: Buffer
    index: Callable[[Index], Index]
    moves: bool


@dataclass(frozen=True)
class Contraction:
    """A sum of products for each batch index, row of a and row of b.

    Attributes:
        batch: extent of the batch index.
        a, b: the operands; the outer index of a is i, that of b is j.
        sums: extent of the summed index.
        y: the result.
        place: (batch, i, j) -> index of y.
        lanes: neighbours along j, and along the last index of y, that one access writes.
        finish: (sum, elements of the addends) -> the element; computed in `sum_dtype`.
        addends: what it reads.
    """

    batch: int
    a: Operand
    b: Operand
    sums: int
    y: Buffer
    place: Callable[[Expr, Expr, Expr], Index]
    lanes: int = 1
    finish: Callable[..., Expr] | None = None
    addends: tuple[Addend, ...] = ()

    @property
    def dtype(self) -> str:
        """In which the sums are computed."""
        return sum_dtype(self.y.dtype)

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The buffers of the addends."""
        return tuple([x.buffer for x in self.addends])

    def finished(self, value: Expr, *addends: Expr) -> Expr:
        """The element of y, given the sum."""
        wide = [cast(x, self.dtype) for x in addends]
        return cast(value if self.finish is None else self.finish(value, *wide), self.y.dtype)


def has_kernels(dtype: str) -> bool:
    """Whether kernels compute with numbers of this dtype."""
    return dtype in BYTES and dtype != "bool"


def sum_dtype(dtype: str) -> str:
    """Dtype of sums of products of `dtype`: integers wrap, so 32 or 64 bits do for all."""
    if dtype in HALVES:
        return "f32"
    if dtype in FLOATS:
        return dtype
    return "u64" if BYTES[dtype] == 8 else "u32"


def multiply_add(a: Expr, b: Expr, total: Expr) -> Expr:
    """total + a * b; floats are rounded once."""
    return fma(a, b, total) if total.dtype in FLOATS else total + a * b


def moved(index: Index, lane: Expr) -> Index:
    """The index of the neighbour `lane` further on in memory."""
    return (*index[:-1], index[-1] + lane)


def lanes_of(dtype: str, *steps: int) -> int:
    """Number of elements of one access: the widest that divides all `steps`."""
    width = VECTOR_BYTES // max(2, BYTES[dtype] if dtype in HALVES else BYTES[sum_dtype(dtype)])
    while any(step % width for step in steps):
        width //= 2
    return width


def decoded(index: Number, extents: tuple[Extent, ...]) -> Index:
    """The indices of axes of these extents, of a linear one, the last axis fastest."""
    at, indices = pair(index, const(0))[0], []
    for extent in reversed(extents[1:]):
        indices.append(at % extent)
        at = at // extent
    return (at, *reversed(indices)) if extents else ()
