"""Types, products and the error of a bad matrix: shared by all ops on matrices.

An op computes by LAPACK, through NumPy, in `compute`: a kernel calls it in the dtype of its arrays,
`evaluate` in f64.  Gradients are made of ops, so they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Dimension,
    GraphError,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_opset.broadcast import meet_dims
from byparts_opset.domain import between, finite
from byparts_opset.dtypes import Array, narrow, type_of

Dims = tuple[Dimension, ...]
Arrays = tuple[Array, ...]

DOUBLE = frozenset({"f32", "f64"})


class MatrixError(GraphError, np.linalg.LinAlgError):
    """A matrix of which there is no inverse, factor or spectrum: found when the program runs."""


class OfMatrices(Op):
    """Family of ops on the matrices in the last two axes of a, f32 or f64, [..., m, n].

    Attributes:
        bad: the fault of a matrix that the op refuses, for the message.
        cost: floating point operations for each element of a and each of its lesser axis.
        shapes: of a in the samples.
        examples: the fields of the ops in the samples.
    """

    bad: ClassVar[str] = "is not invertible"
    cost: ClassVar[float] = 1.0
    examples: ClassVar[tuple[tuple[object, ...], ...]] = ((),)
    shapes: ClassVar[tuple[tuple[int, ...], ...]] = ((3, 3), (2, 4, 4), (1, 1), (0, 0), (0, 2, 2))

    def compute(self, a: Array, *more: Array) -> Arrays:
        """Compute the outputs in the dtype of a.

        Raises:
            np.linalg.LinAlgError: a matrix is bad.
        """
        raise NotImplementedError(f"{self.name}: write `compute`")

    def evaluate(self, a: Array, *more: Array) -> Arrays:
        wide = [x.astype(np.float64) for x in (a, *more)]
        return tuple(narrow(y, a.dtype) for y in checked(self, *wide, named=type_of(a)))

    def domain(self, a: Array, *more: Array) -> Arrays:
        return (regular(a), *(between(-1e4, 1e4, finite(x)) for x in more))

    def flops(self, a: TensorType, *more: TensorType) -> int:
        return int(self.cost * a.size * min(a.dims[-2:]))

    def infer_unranked(self, *types: TensorType) -> Types:
        outputs = self.infer(*(TensorType(t.dtype, (None, None)) for t in types))
        return tuple(TensorType(y.dtype, None) for y in outputs)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for fields in cls.examples:
            for shape in cls.shapes:
                yield Sample(cls(*fields), (TensorType("f32", shape),))


def checked(op: OfMatrices, a: Array, *more: Array, named: TensorType | None = None) -> Arrays:
    """`op.compute(a, *more)`; its error names the op, the type of a, and the bad matrix.

    Raises:
        MatrixError: LAPACK refuses a matrix of a.
    """
    try:
        return op.compute(a, *more)
    except np.linalg.LinAlgError:
        raise refused(op, named or type_of(a), _place_of_bad(op.compute, a, more)) from None


def refused(op: OfMatrices, a: TensorType, place: tuple[int, ...] | None) -> MatrixError:
    """The error where the matrix at index `place` of an input of type `a` is bad."""
    which = f"matrix {list(place)} of {a}" if place else f"the matrix {a}" if place == () else a
    return MatrixError(f"{op.name}: {which} {op.bad}")


def _place_of_bad(
    compute: Callable[..., Arrays], a: Array, more: tuple[Array, ...]
) -> tuple[int, ...] | None:
    """The index of the first matrix that LAPACK refuses."""
    lead = a.shape[:-2]
    alike = [np.broadcast_to(x, (*lead, *x.shape[-2:])) if lead else x for x in more]
    for place in np.ndindex(lead):
        try:
            compute(a[place], *(x[place] for x in alike))
        except np.linalg.LinAlgError:
            return tuple(place)
    return None


def all_finite(a: Array) -> None:
    """Raise `np.linalg.LinAlgError` where a has nan or inf: libraries fail on some of them."""
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError


def floats(name: str, a: TensorType) -> TensorType:
    """Check the dtype of a, and return a.

    Raises:
        ShapeError: not f32 or f64: LAPACK knows no others.
    """
    if a.dtype not in DOUBLE:
        raise ShapeError(f"{name}: takes f32 or f64, got {a}; cast(a, 'f32') first")
    return a


def matrices(name: str, a: TensorType) -> tuple[Dims, Dimension, Dimension]:
    """The leading axes, rows and columns of matrices [..., m, n].

    Raises:
        ShapeError: a has fewer axes, or another dtype.
    """
    shape = floats(name, a).shape
    assert shape is not None, "infer sees known ranks"
    if len(shape) < 2:
        raise ShapeError(f"{name}: takes matrices [..., m, n], got {a} of rank {len(shape)}")
    return shape[:-2], shape[-2], shape[-1]


def squares(name: str, a: TensorType) -> tuple[Dims, Dimension]:
    """The leading axes and the size of square matrices [..., n, n].

    Raises:
        ShapeError: as `matrices`, or rows and columns differ.
    """
    lead, rows, columns = matrices(name, a)
    return lead, meet_dims(name, rows, columns, f"takes square matrices, and a is {a}")


def rank_of(name: str, x: Value) -> int:
    """The number of axes of x.

    Raises:
        ShapeError: it is not known.
    """
    if x.type.shape is None:
        raise ShapeError(f"{name}: the rank of its operand is not known: {x.type}")
    return len(x.type.shape)


def lesser(m: Dimension, n: Dimension) -> Dimension:
    """The lesser of two sizes; unknown where one is, and they are not equal."""
    if m == n:
        return m
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else None


def product(a: Value, b: Value, *, transpose_a: bool = False, transpose_b: bool = False) -> Value:
    """a b, of matrices or of their transposes."""
    return ops.MatMul(transpose_a, transpose_b)(a, b)


def transposed(a: Value) -> Value:
    """The transposes of matrices: [..., m, n] -> [..., n, m]."""
    rank = rank_of("transpose", a)
    return ops.transpose(a, (*range(rank - 2), rank - 1, rank - 2))


def symmetric(a: Value) -> Value:
    """(a + aᵀ) / 2."""
    return (a + transposed(a)) * 0.5


def columns(x: Value) -> Value:
    """[..., n] -> [..., 1, n]: times a matrix, a number for each of its columns."""
    return ops.expand_dims(x, -2)


def regular(a: Array, spread: float = 2.0) -> Array:
    """Matrices near `a` that are far from singular, with spectra far from ties.

    What is added to the diagonal rises by `spread` from row to row; the rest of a row adds up to at
    most 1/2.
    """
    least = min(a.shape[-2:], default=0)
    small = between(-1, 1, np.nan_to_num(finite(a))) / max(2, 2 * max(a.shape[-2:]))
    diagonal = np.zeros(a.shape[-2:])
    diagonal[range(least), range(least)] = 1 + spread * np.arange(least)
    made: Array = (small + diagonal).astype(a.dtype)
    return made


def with_signs(vectors: Array, *alike: Array) -> Arrays:
    """Each column of `vectors` [..., m, n], and of arrays like it, times 1 or -1.

    The first element that is at least 0.41 of the column's largest becomes positive.  A vector and
    its negative are both right, and libraries differ; the largest element itself would not decide
    where two are equal but for rounding, as in (1, -1).
    """
    size = np.abs(vectors)
    if 0 in size.shape:
        return (vectors, *alike)
    first = np.argmax(size >= 0.41 * size.max(-2, keepdims=True), -2)[..., None, :]
    sign = np.where(np.take_along_axis(vectors, first, -2) < 0, -1, 1).astype(vectors.dtype)
    return tuple(x * sign for x in (vectors, *alike))
