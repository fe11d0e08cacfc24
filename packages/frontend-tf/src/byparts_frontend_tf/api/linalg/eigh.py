"""`tf.linalg.eigh`, `tf.linalg.svd`, `tf.linalg.qr`; `solve.py` has other factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.custom_gradient import with_gradient
from byparts_frontend_tf.api.linalg.diag import band_part, matrix_diag, matrix_set_diag
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.linalg.signs_of_eigenvectors import eigen
from byparts_frontend_tf.api.linalg.solve import (
    half_diagonal,
    inverse_of,
    matrices,
    on_host,
    outer_inverse,
    squares,
    turned,
)
from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import Dims


def _eigen_shapes(inputs: Sequence[Tensor]) -> list[Dims]:
    dims = squares(inputs)
    return [None if dims is None else dims[:-1], dims]


EIGEN = on_host("SelfAdjointEigV2", eigen, _eigen_shapes, 2)


def _reciprocal_gaps(values: Tensor) -> Tensor:
    """1 / (v[j] - v[i]) off the diagonal, and 0 on it."""
    gaps = values[..., None, :] - values[..., :, None]
    one = zeros_like(values) + 1
    return matrix_set_diag(1 / matrix_set_diag(gaps, one), zeros_like(values))


def _of_eigen(op: Operation, dvalues: Tensor, dvectors: Tensor) -> list[Tensor]:
    values, v = op.outputs
    inner = matrix_diag(dvalues) + _reciprocal_gaps(values) * matmul(turned(v), dvectors)
    da = matmul(v, matmul(inner, turned(v)))
    return [half_diagonal(da + turned(da))]


@symbol("self_adjoint_eig", "linalg.eigh")
def self_adjoint_eig(tensor: TensorLike, name: Optional[str] = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of symmetric matrices, ascending, and their vectors, as columns (`eigen`)."""
    x = matrices(tensor)
    made = with_gradient(EIGEN.outputs(x, name=name), [x], _of_eigen)
    return made[0], made[1]


@symbol("self_adjoint_eigvals", "linalg.eigvalsh")
def self_adjoint_eigvals(tensor: TensorLike, name: Optional[str] = None) -> Tensor:
    """The eigenvalues of symmetric matrices, ascending."""
    return self_adjoint_eig(tensor, name)[0]


def _svd(a: Any, full: bool) -> tuple[Any, Any, Any]:
    u, s, vt = np.linalg.svd(a, full_matrices=full)
    return s, u, np.swapaxes(vt, -1, -2).conj()


def _svd_shapes(inputs: Sequence[Tensor], *, full: bool) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * 3
    *batch, m, n = dims
    least = None if m is None or n is None else min(m, n)
    left, right = (m, n) if full else (least, least)
    return [(*batch, least), (*batch, m, left), (*batch, n, right)]


SVD = on_host("Svd", _svd, _svd_shapes, 3)


def _of_svd(op: Operation, ds: Tensor, du: Tensor, dv: Tensor) -> list[Tensor]:
    """Townsend, Differentiating the singular value decomposition, 2016."""
    s, u, v = op.outputs
    gaps, scale, unscale = _reciprocal_gaps(s * s), matrix_diag(s), matrix_diag(1 / s)

    def turn(x: Tensor, dx: Tensor) -> Tensor:
        inner = matmul(turned(x), dx)
        turn_: Tensor = gaps * (inner - turned(inner))
        return turn_

    def beside(x: Tensor, dx: Tensor) -> Tensor:
        """The part of dx that is not in the space of x."""
        rest: Tensor = dx - matmul(x, matmul(turned(x), dx))
        return rest

    middle = matmul(turn(u, du), scale) + matrix_diag(ds) + matmul(scale, turn(v, dv))
    da = matmul(u, matmul(middle, turned(v)))
    da += matmul(matmul(beside(u, du), unscale), turned(v))
    return [da + matmul(matmul(u, unscale), turned(beside(v, dv)))]


@symbol("svd", "linalg.svd")
def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: Optional[str] = None,
) -> Any:
    """s, u, v with tensor = u diag(s) v^T, s descending; `s` alone without `compute_uv`.

    Signs of the vectors are LAPACK's; TensorFlow's are those of Eigen's Jacobi turns.  No gradient
    passes where `full_matrices`.
    """
    x = matrices(tensor, square=False)
    full = bool(full_matrices and compute_uv)
    made = SVD.outputs(x, name=name, full=full)
    if full:
        return made
    s, u, v = with_gradient(made, [x], _of_svd)
    return (s, u, v) if compute_uv else s


def _qr(a: Any, full: bool) -> tuple[Any, Any, Any]:
    """q, r and, where r is square, its inverse."""
    q, r = np.linalg.qr(a, "complete" if full else "reduced")
    square = r.shape[-2] == r.shape[-1]
    try:
        return q, r, np.triu(inverse_of(r)) if square else np.zeros_like(r)
    except ValueError:
        return q, r, np.full_like(r, np.nan)


def _qr_shapes(inputs: Sequence[Tensor], *, full: bool) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * 3
    *batch, m, n = dims
    least = m if full else None if m is None or n is None else min(m, n)
    return [(*batch, m, least), (*batch, least, n), (*batch, least, n)]


class Qr(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    q: Tensor
    r: Tensor


QR = on_host("Qr", _qr, _qr_shapes, 3)


def _of_qr(op: Operation, dq: Tensor, dr: Tensor, d_inverse: Tensor) -> list[Tensor]:
    """Gradient of the QR decomposition of matrices [..., m, n] of full rank, m >= n."""
    q, r, inverse = op.outputs
    dr = band_part(dr + outer_inverse(inverse, d_inverse), 0, -1)
    m = matmul(r, turned(dr)) - matmul(turned(dq), q)
    lower = band_part(m, -1, 0)
    symmetric = lower + turned(lower) - band_part(m, 0, 0)
    return [matmul(dq + matmul(q, symmetric), turned(inverse))]


@symbol("qr", "linalg.qr")
def qr(input: TensorLike, full_matrices: bool = False, name: Optional[str] = None) -> Qr:
    """q, r with input = q r; a gradient passes where r is square."""
    x = matrices(input, square=False)
    made = QR.outputs(x, name=name, full=bool(full_matrices))
    if made[1].dims is None or made[1].dims[-1] != made[1].dims[-2]:
        return Qr(made[0], made[1])
    found = with_gradient(made, [x], _of_qr)
    return Qr(found[0], found[1])
