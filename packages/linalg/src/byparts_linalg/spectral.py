"""Eigenvalues of symmetric matrices, and singular values.

Gradients: of `Eigh`, Giles 2008, section 2.3.1 (see `solve.py`); of `Svd`, Townsend,
"Differentiating the singular value decomposition", 2016.  Where two values are equal the vectors
are any basis; what does not depend on the basis has the gradient that is given, in which the pair
counts as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, TensorType, Types, Value
from byparts_linalg.factor import Qr
from byparts_linalg.matrices import (
    Arrays,
    OfMatrices,
    all_finite,
    columns,
    lesser,
    matrices,
    product,
    regular,
    squares,
    symmetric,
    transposed,
    with_signs,
)
from byparts_opset.dtypes import Array


class Eigh(OfMatrices):
    """w, v: eigenvalues [..., n] of (a + aᵀ) / 2, ascending, and vectors [..., n, n], as columns.

    Signs of vectors: see `with_signs`.  Without `vectors`, w alone.
    """

    vectors: bool = True

    bad = "has nan or inf"
    cost = 22.0
    examples = ((True,), (False,))

    def infer(self, a: TensorType) -> Types:
        lead, n = squares(self.name, a)
        both = TensorType(a.dtype, (*lead, n)), TensorType(a.dtype, (*lead, n, n))
        return both if self.vectors else both[:1]

    def compute(self, a: Array, *_: Array) -> Arrays:
        all_finite(a)
        both = (a + np.swapaxes(a, -1, -2)) / 2
        if not self.vectors:
            return (np.linalg.eigvalsh(both),)
        w, v = np.linalg.eigh(both)
        return (w, *with_signs(v))

    def domain(self, a: Array, *_: Array) -> Arrays:
        n = a.shape[-1]
        return (regular(a) - n * np.eye(n, dtype=a.dtype),)  # f32 loses norm / gap digits

    def gradient(self, node: Node, dw: Value, *dvs: Value) -> tuple[Value | None, ...]:
        w, v = Eigh().outputs_of(*node.inputs) if not self.vectors else node.outputs
        middle = v * columns(dw)
        for dv in dvs:
            middle = middle + product(v, _inverse_gaps(w) * product(v, dv, transpose_a=True))
        return (symmetric(product(middle, v, transpose_b=True)),)


class Svd(OfMatrices):
    """u, s, vh with a = u diag(s) vh: a [..., m, n], s [..., k], u [..., m, k], vh [..., k, n].

    k = min(m, n); s descends and is not negative.  Signs of the columns of u: see `with_signs`.
    Without `vectors`, s alone.
    """

    vectors: bool = True

    bad = "has nan or inf"
    cost = 22.0
    examples = ((True,), (False,))
    shapes = ((3, 3), (2, 4, 2), (3, 5), (0, 3), (2, 0, 0))

    def infer(self, a: TensorType) -> Types:
        lead, m, n = matrices(self.name, a)
        k = lesser(m, n)
        s = TensorType(a.dtype, (*lead, k))
        if not self.vectors:
            return (s,)
        return TensorType(a.dtype, (*lead, m, k)), s, TensorType(a.dtype, (*lead, k, n))

    def compute(self, a: Array, *_: Array) -> Arrays:
        all_finite(a)
        if not self.vectors:
            return (np.linalg.svd(a, compute_uv=False),)
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        u, v = with_signs(u, np.swapaxes(vh, -1, -2))
        return u, s, np.ascontiguousarray(np.swapaxes(v, -1, -2))

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        (a,) = node.inputs
        if not self.vectors:
            u, _, vh = Svd().outputs_of(a)
            return (product(u * columns(dys[0]), vh),)
        return (_of_svd(a, node.outputs, dys),)


def _of_svd(a: Value, outputs: Sequence[Value], dys: Sequence[Value]) -> Value:
    (u, s, vh), (du, ds, dvh) = outputs, dys
    gaps, over = _inverse_gaps(ops.square(s)), columns(_inverse(s))
    turn_u, turn_v = product(u, du, transpose_a=True), product(vh, dvh, transpose_b=True)
    middle = (gaps * (turn_u - transposed(turn_u))) * columns(s)
    middle = middle + ops.expand_dims(s, -1) * (gaps * (turn_v - transposed(turn_v)))
    da = product(u * columns(ds) + product(u, middle), vh)
    _, m, n = matrices("svd", a.type)
    if not isinstance(m, int) or not isinstance(n, int) or m > n:  # what leaves the columns of u
        da = da + product((du - product(u, turn_u)) * over, vh)
    if not isinstance(m, int) or not isinstance(n, int) or m < n:
        da = da + product(u * over, dvh - product(turn_v, vh, transpose_a=True))
    return da


def _inverse(x: Value) -> Value:
    """1 / x, but 0 where x is 0."""
    zero = ops.equal(x, 0)
    return ops.select(zero, ops.zeros_like(x), 1 / ops.select(zero, ops.ones_like(x), x))


def _inverse_gaps(x: Value) -> Value:
    """1 / (x[j] - x[i]) at [i, j], but 0 where the two are equal: [..., n] -> [..., n, n]."""
    return _inverse(columns(x) - ops.expand_dims(x, -1))


class EighResult(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors, as columns."""

    eigenvalues: Value
    eigenvectors: Value


class SvdResult(NamedTuple):
    """U, S and Vh with U diag(S) Vh = the matrix."""

    U: Value
    S: Value
    Vh: Value


def eigh(a: Value) -> EighResult:
    """Eigenvalues of symmetric matrices [..., n, n], ascending, and eigenvectors, as columns.

    Of another matrix (a + aᵀ) / 2 is taken.

    Raises at run time:
        MatrixError: a matrix has nan or inf.
    """
    return EighResult(*Eigh().outputs_of(a))


def eigvalsh(a: Value) -> Value:
    """Eigenvalues of symmetric matrices [..., n, n], ascending: [..., n]."""
    return Eigh(False)(a)


def svd(a: Value, *, full_matrices: bool = True) -> SvdResult:
    """U, S and Vh with U diag(S) Vh = a [..., m, n]; S descends.

    With `full_matrices` U is [..., m, m] and Vh [..., n, n], and no gradient passes through what
    was added; else they have min(m, n) columns, or rows.

    Raises at run time:
        MatrixError: a matrix has nan or inf.
    """
    u, s, vh = Svd().outputs_of(a)
    if full_matrices:
        _, m, n = matrices("svd", a.type)
        u, vh = u if m == lesser(m, n) else _filled(u), vh
        vh = vh if n == lesser(m, n) else transposed(_filled(transposed(vh)))
    return SvdResult(u, s, vh)


def svdvals(a: Value) -> Value:
    """Singular values of matrices [..., m, n], descending: [..., min(m, n)]."""
    return Svd(False)(a)


def _filled(u: Value) -> Value:
    """Orthonormal columns [..., m, k], and more of them: [..., m, m]."""
    _, _, k = matrices("svd", u.type)
    assert isinstance(k, int), "an unknown k is not the lesser size"
    basis, _ = Qr(True).outputs_of(u)
    return ops.concat([u, ops.getitem(basis, (..., slice(k, None)))], -1)
