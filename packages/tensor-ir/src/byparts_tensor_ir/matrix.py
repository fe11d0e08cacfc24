"""Matrices that a warp holds in its registers, for the units that multiply them (tensor cores).

A buffer of scope `matrix_a`, `matrix_b` or `accumulator` holds matrices, in its last two
dimensions, that belong to a warp as a whole: which thread has which element is not said.  Only the
statements here touch it, and all 32 threads of the warp do each of them together:

    fill      all elements are one number
    load      from a box of shared or global memory
    multiply  accumulator += matrix_a @ matrix_b
    scale     accumulator *= accumulator, element by element
    store     into a box of shared or global memory

The accumulator is 16 x 16 of f32.  The others are 16 x 16 of f16 or bf16, or 16 x 8 and 8 x 16 of
f32, which are rounded to tf32 (a mantissa of 10 bits, ties away from zero) when they are loaded.
Products are exact; their sum is rounded to f32 once, where a GPU may round it in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from byparts_tensor_ir.expression import HALVES, Expr, ExpressionError, const
from byparts_tensor_ir.statement import MATRICES, Buffer, Collective

SIDE = 16
DEPTHS = dict.fromkeys(HALVES, 16) | {"f32": 8}
_Expression = Callable[[Expr], Expr]
_Buffer = Callable[[Buffer], Buffer]


@dataclass(frozen=True)
class Matrix:
    """A matrix in a buffer of matrices: `buffer[at]`, with an index for each leading dimension."""

    buffer: Buffer
    at: tuple[Expr, ...] = ()

    def __post_init__(self) -> None:
        b, rank = self.buffer, len(self.buffer.shape) - 2
        if b.scope not in MATRICES or rank != len(self.at):
            raise ExpressionError(f"{b} at {list(self.at)} is not one matrix of a warp")
        shape = tuple([d.attr for d in b.shape[rank:]])
        depth = DEPTHS.get(b.dtype, 0)
        sides = {"matrix_a": (SIDE, depth), "matrix_b": (depth, SIDE)}.get(b.scope, (SIDE, SIDE))
        if shape != sides or (b.scope == "accumulator" and b.dtype != "f32"):
            raise ExpressionError(f"{b.scope} {b}: no such matrix; see `matrix.py` for those")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.buffer.shape[-2:]
        return int(rows.attr), int(columns.attr)

    def changed(self, expression: _Expression, buffer: _Buffer) -> Matrix:
        return Matrix(buffer(self.buffer), tuple(map(expression, self.at)))

    def __str__(self) -> str:
        return f"{self.buffer.name}[{', '.join(map(str, self.at))}]"


@dataclass(frozen=True, eq=False)
class FillMatrix(Collective):
    """All elements are `value`."""

    target: Matrix
    value: float

    def __str__(self) -> str:
        return f"{self.target} = fill({self.value})"

    def expressions(self) -> tuple[Expr, ...]:
        return self.target.at

    def written(self) -> tuple[Buffer, ...]:
        return (self.target.buffer,)

    def changed(self, expression: _Expression, buffer: _Buffer) -> FillMatrix:
        return FillMatrix(self.target.changed(expression, buffer), self.value)


@dataclass(frozen=True, eq=False)
class MultiplyAdd(Collective):
    """target += left @ right."""

    target: Matrix
    left: Matrix
    right: Matrix

    def __post_init__(self) -> None:
        scopes = tuple([m.buffer.scope for m in (self.left, self.right, self.target)])
        if scopes != MATRICES or self.left.buffer.dtype != self.right.buffer.dtype:
            raise ExpressionError(f"{self}: not an accumulator, a matrix_a and a matrix_b")

    def __str__(self) -> str:
        return f"{self.target} += {self.left} @ {self.right}"

    def expressions(self) -> tuple[Expr, ...]:
        return (*self.target.at, *self.left.at, *self.right.at)

    def written(self) -> tuple[Buffer, ...]:
        return (self.target.buffer,)

    def read(self) -> tuple[Buffer, ...]:
        return (self.target.buffer, self.left.buffer, self.right.buffer)

    def changed(self, expression: _Expression, buffer: _Buffer) -> MultiplyAdd:
        target, left, right = (
            m.changed(expression, buffer) for m in (self.target, self.left, self.right)
        )
        return MultiplyAdd(target, left, right)


@dataclass(frozen=True, eq=False)
class ScaleMatrix(Collective):
    """target *= factor, element by element; a factor of equal columns scales rows."""

    target: Matrix
    factor: Matrix

    def __post_init__(self) -> None:
        if {self.target.buffer.scope, self.factor.buffer.scope} != {"accumulator"}:
            raise ExpressionError(f"{self}: not two accumulators")

    def __str__(self) -> str:
        return f"{self.target} *= {self.factor}"

    def expressions(self) -> tuple[Expr, ...]:
        return (*self.target.at, *self.factor.at)

    def written(self) -> tuple[Buffer, ...]:
        return (self.target.buffer,)

    def read(self) -> tuple[Buffer, ...]:
        return (self.target.buffer, self.factor.buffer)

    def changed(self, expression: _Expression, buffer: _Buffer) -> ScaleMatrix:
        target, factor = (m.changed(expression, buffer) for m in (self.target, self.factor))
        return ScaleMatrix(target, factor)


@dataclass(frozen=True, eq=False)
class MatrixBox(Collective):
    """A matrix, and a box of memory of the same shape.

    Attributes:
        matrix: of the warp.
        memory: a shared or global buffer of the same dtype.
        index: of the first element; the same in all threads of the warp.
        dims: (dimension of the memory along the rows, dimension along the columns): element (i, j)
            is at `index` plus i and j along these.  One of them is the last dimension.
    """

    matrix: Matrix
    memory: Buffer
    index: tuple[Expr, ...]
    dims: tuple[int, int]

    def __post_init__(self) -> None:
        rank = len(self.memory.shape)
        if (
            self.memory.scope not in ("global", "shared")
            or self.memory.dtype != self.matrix.buffer.dtype
            or len(self.index) != rank
            or rank - 1 not in self.dims
            or self.dims[0] == self.dims[1]
        ):
            raise ExpressionError(f"{self}: no box of memory like the matrix, along {self.dims}")

    @property
    def box(self) -> str:
        """The part of memory as it is printed: a slice `begin:+size` for each side of it."""
        rows, columns = self.matrix.shape
        at = list(map(str, self.index))
        for d, n in zip(self.dims, (rows, columns), strict=True):
            at[d] = f"{at[d]}:+{n}"
        transposed = ".T" if self.dims[0] > self.dims[1] else ""
        return f"{self.memory.name}[{', '.join(at)}]{transposed}"

    @property
    def row_major(self) -> bool:
        """Whether the columns are neighbours in memory."""
        return self.dims[1] == len(self.memory.shape) - 1

    @property
    def stride(self) -> Expr:
        """Elements of memory from one row (or column) to the next that are no neighbours."""
        outer = self.dims[0] if self.row_major else self.dims[1]
        step = const(1)
        for extent in self.memory.shape[outer + 1 :]:
            step = step * extent
        return step

    def expressions(self) -> tuple[Expr, ...]:
        return (*self.matrix.at, *self.index)

    def changed(self, expression: _Expression, buffer: _Buffer) -> MatrixBox:
        matrix = self.matrix.changed(expression, buffer)
        index = tuple(map(expression, self.index))
        return type(self)(matrix, buffer(self.memory), index, self.dims)


class LoadMatrix(MatrixBox):
    """The matrix = the box."""

    def __str__(self) -> str:
        return f"{self.matrix} = {self.box}"

    def written(self) -> tuple[Buffer, ...]:
        return (self.matrix.buffer,)

    def read(self) -> tuple[Buffer, ...]:
        return (self.memory,)


class StoreMatrix(MatrixBox):
    """The box = the matrix."""

    def __str__(self) -> str:
        return f"{self.box} = {self.matrix}"

    def written(self) -> tuple[Buffer, ...]:
        return (self.memory,)

    def read(self) -> tuple[Buffer, ...]:
        return (self.matrix.buffer,)
