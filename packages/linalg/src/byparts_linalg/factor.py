"""Factors of matrices: L Lᵀ and Q R.

Gradients: of Cholesky, Murray, "Differentiation of the Cholesky decomposition", 2016,
arXiv:1602.07527; of QR, Seeger, Hetzel, Dai, Meissner and Lawrence, "Auto-differentiating linear
algebra", 2017, arXiv:1710.08717.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, GraphError, Node, Sample, TensorType, Types, Value
from byparts_linalg.matrices import (
    Arrays,
    OfMatrices,
    lesser,
    matrices,
    product,
    squares,
    symmetric,
    transposed,
)
from byparts_linalg.solve import Solve
from byparts_linalg.triangle import Triangle, tril, triu
from byparts_opset.dtypes import Array


class Cholesky(OfMatrices):
    """y, lower triangular, with y yᵀ = (a + aᵀ) / 2.

    Both triangles are read: so the gradient is that of the op on any matrix, and is symmetric.
    Where `lower` a is said to be symmetric, and its lower triangle alone is read.
    """

    lower: bool = False

    bad = "is not positive definite"
    cost = 1 / 3

    def infer(self, a: TensorType) -> Types:
        lead, n = squares(self.name, a)
        return (TensorType(a.dtype, (*lead, n, n)),)

    def compute(self, a: Array, *_: Array) -> Arrays:
        whole = a if self.lower else (a + np.swapaxes(a, -1, -2)) / 2
        return (np.linalg.cholesky(whole),)  # which reads the lower triangle

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        middle = Triangle(diagonal=0.5)(product(y, tril(dy), transpose_a=True))
        back = Solve("lower", transpose=True)  # x -> y⁻ᵀ x
        return (symmetric(transposed(back(y, transposed(back(y, middle))))),)


class Qr(OfMatrices):
    """q, r with a = q r: a [..., m, n]; q [..., m, k], qᵀ q = 1; r [..., k, n], upper triangular.

    k = min(m, n), or m if `complete`.  The diagonal of r is not negative, so q and r are unique
    where the first k columns of a are independent.
    """

    complete: bool = False

    cost = 4.0
    shapes = ((3, 3), (4, 2), (2, 3, 5), (2, 4, 4), (0, 3), (3, 0), (2, 0, 0))

    def infer(self, a: TensorType) -> Types:
        lead, m, n = matrices(self.name, a)
        k = m if self.complete else lesser(m, n)
        return TensorType(a.dtype, (*lead, m, k)), TensorType(a.dtype, (*lead, k, n))

    def compute(self, a: Array, *_: Array) -> Arrays:
        q, r = np.linalg.qr(a, "complete" if self.complete else "reduced")
        diagonal = np.diagonal(r, axis1=-2, axis2=-1)
        sign = np.ones((*q.shape[:-2], q.shape[-1]), a.dtype)
        sign[..., : diagonal.shape[-1]] = np.where(diagonal < 0, -1, 1)
        return q * sign[..., None, :], np.triu(r * sign[..., :, None])

    def gradient(self, node: Node, dq: Value, dr: Value) -> tuple[Value | None, ...]:
        (a,), (q, r) = node.inputs, node.outputs
        _, m, n = matrices(self.name, a.type)
        if not isinstance(m, int) or not isinstance(n, int):
            raise GraphError(f"qr: its gradient depends on the shape, not known: a is {a.type}")
        if self.complete and m > n:
            raise GraphError(
                f"qr: no gradient of a complete q, whose last {m - n} columns are any basis of "
                f"what a ({a.type}) does not reach; leave out complete"
            )
        if m >= n:
            return (_of_tall(q, r, dq, dr),)
        first, rest = (..., slice(None, m)), (..., slice(m, None))
        dr_rest = ops.getitem(dr, rest)
        dq = dq + product(ops.getitem(a, rest), dr_rest, transpose_b=True)
        da_first = _of_tall(q, ops.getitem(r, first), dq, ops.getitem(dr, first))
        return (ops.concat([da_first, product(q, dr_rest)], -1),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from super().samples()
        for shape in ((3, 3), (2, 3, 5)):  # a tall complete q has no gradient to check
            yield Sample(cls(True), (TensorType("f32", shape),))


def _of_tall(q: Value, r: Value, dq: Value, dr: Value) -> Value:
    """The gradient of a = q r with r square: (dq + q s) r⁻ᵀ, s symmetric, its lower part known."""
    lower = product(r, triu(dr), transpose_b=True) - product(dq, q, transpose_a=True)
    s = tril(lower) + transposed(Triangle(diagonal=0.0)(lower))
    return transposed(Solve("upper")(r, transposed(dq + product(q, s))))


class QrResult(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    Q: Value
    R: Value


def cholesky(a: Value, *, upper: bool = False) -> Value:
    """The lower triangular L with L Lᵀ = a, or with `upper` the U with Uᵀ U = a: [..., n, n].

    a is symmetric; of another matrix (a + aᵀ) / 2 is taken.

    Raises at run time:
        MatrixError: a matrix is not positive definite.
    """
    factor = Cholesky()(a)
    return transposed(factor) if upper else factor


def qr(a: Value, *, mode: str = "reduced") -> QrResult:
    """Q and R with Q R = a [..., m, n]; `mode` is "reduced" or "complete" (Q [..., m, m]).

    No gradient passes through a complete Q with more rows than a has columns.
    """
    if mode not in ("reduced", "complete"):
        raise ArgumentError(f"qr: mode is {mode!r}; it is 'reduced' or 'complete'")
    return QrResult(*Qr(mode == "complete").outputs_of(a))
