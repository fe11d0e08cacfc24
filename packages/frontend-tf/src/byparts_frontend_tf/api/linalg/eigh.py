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
from byparts_frontend_tf.api.linalg.solve import alike, kind_of, matrices, squares, turned
from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_linalg import factor, spectral
from byparts_linalg.matrices import transposed
from byparts_linalg.triangle import Triangle, tril
from byparts_tf_files.shape import Dims


def _eigen_shapes(inputs: Sequence[Tensor]) -> list[Dims]:
    dims = squares(inputs)
    return [None if dims is None else dims[:-1], dims]


# On the host, where a vector gets TensorFlow's sign.
EIGEN = Kind("SelfAdjointEigV2", host=eigen, shape=_eigen_shapes, dtype=alike(2), gradient=False)


def _reciprocal_gaps(values: Tensor) -> Tensor:
    """1 / (v[j] - v[i]) off the diagonal, and 0 on it."""
    gaps = values[..., None, :] - values[..., :, None]
    one = zeros_like(values) + 1
    return matrix_set_diag(1 / matrix_set_diag(gaps, one), zeros_like(values))


def _values(a: Value) -> Value:
    """The eigenvalues of the symmetric matrices with these lower triangles."""
    return spectral.eigvalsh(tril(a) + transposed(Triangle(diagonal=0.0)(a)))


def _values_shape(inputs: Sequence[Tensor]) -> Dims:
    return _eigen_shapes(inputs)[0]


EIGENVALUES = Kind("SelfAdjointEigV2", _values, host=np.linalg.eigvalsh, shape=_values_shape)


def _of_eigen(op: Operation, dvalues: Tensor, dvectors: Tensor) -> list[Tensor]:
    values, v = op.outputs
    inner = matrix_diag(dvalues) + _reciprocal_gaps(values) * matmul(turned(v), dvectors)
    da = matmul(v, matmul(inner, turned(v)))
    da += turned(da)
    return [band_part(da, -1, 0) - 0.5 * band_part(da, 0, 0)]


@symbol("self_adjoint_eig", "linalg.eigh")
def self_adjoint_eig(tensor: TensorLike, name: Optional[str] = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of symmetric matrices, ascending, and their vectors, as columns (`eigen`)."""
    x = matrices(tensor)
    made = with_gradient(EIGEN.outputs(x, name=name), [x], _of_eigen)
    return made[0], made[1]


@symbol("self_adjoint_eigvals", "linalg.eigvalsh")
def self_adjoint_eigvals(tensor: TensorLike, name: Optional[str] = None) -> Tensor:
    """The eigenvalues of symmetric matrices, ascending."""
    return EIGENVALUES(matrices(tensor), name=name)


def _svd_shapes(inputs: Sequence[Tensor], *, full: bool) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * 3
    *batch, m, n = dims
    least = None if m is None or n is None else min(m, n)
    left, right = (m, n) if full else (least, least)
    return [(*batch, least), (*batch, m, left), (*batch, n, right)]


def _svd(a: Value, full: bool) -> tuple[Value, Value, Value]:
    u, s, vh = spectral.svd(a, full_matrices=full)
    return s, u, transposed(vh)


def _svd_on_host(a: Any, full: bool) -> tuple[Any, Any, Any]:
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    return s, u, np.swapaxes(vh, -1, -2).conj()


SVD = Kind("Svd", _svd, host=_svd_on_host, shape=_svd_shapes, dtype=alike(3))


def _sizes_on_host(a: Any) -> Any:
    return np.linalg.svd(a, compute_uv=False)


def _sizes_shape(inputs: Sequence[Tensor]) -> Dims:
    return _svd_shapes(inputs, full=False)[0]


SIZES = Kind("Svd", spectral.svdvals, host=_sizes_on_host, shape=_sizes_shape)


@symbol("svd", "linalg.svd")
def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: Optional[str] = None,
) -> Any:
    """s, u, v with tensor = u diag(s) v^T, s descending; `s` alone without `compute_uv`.

    Signs of the vectors are those of byparts-linalg; TensorFlow's are those of Eigen's Jacobi
    turns.  No gradient passes through columns that `full_matrices` adds.
    """
    x = matrices(tensor, square=False)
    if not compute_uv:
        return SIZES(x, name=name)
    return SVD.outputs(x, name=name, full=bool(full_matrices))


def _qr_shapes(inputs: Sequence[Tensor], *, complete: bool) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * 2
    *batch, m, n = dims
    least = m if complete else None if m is None or n is None else min(m, n)
    return [(*batch, m, least), (*batch, least, n)]


class Qr(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    q: Tensor
    r: Tensor


QR = kind_of("Qr", factor.Qr, _qr_shapes, 2)


@symbol("qr", "linalg.qr")
def qr(input: TensorLike, full_matrices: bool = False, name: Optional[str] = None) -> Qr:
    """q, r with input = q r, the diagonal of r not negative."""
    return Qr(*QR.outputs(matrices(input, square=False), name=name, complete=bool(full_matrices)))
