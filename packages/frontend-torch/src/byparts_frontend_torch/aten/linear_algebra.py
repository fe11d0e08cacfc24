"""Factors, inverses and solutions of matrices, by the part `linalg` where it is installed."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import dims_of, rank_of
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import GraphError, Value

Values = tuple[Any, ...]


def _linalg() -> Any:
    """The part.

    Raises:
        GraphError: it is not installed; torch's own decomposition would not help.
    """
    try:
        import byparts_linalg
    except ImportError as error:
        text = "linear algebra needs the part linalg: pip install byparts-linalg"
        raise GraphError(text) from error
    return byparts_linalg


@rules.on("aten._linalg_det.default")
def det(a: Value) -> Values:
    return _linalg().det(a), None, None


@rules.on("aten._linalg_slogdet.default")
def slogdet(a: Value) -> Values:
    return (*_linalg().slogdet(a), None, None)


@rules.on("aten.linalg_inv_ex.default")
def inv(a: Value, check_errors: bool = False) -> Values:
    """The inverse, and 0 for each matrix: a singular one is an error when the program runs."""
    return _linalg().inv(a), _no_fault(a)


@rules.on("aten.linalg_inv.default", "aten.inverse.default")
def inverse(a: Value) -> Value:
    return inv(a)[0]  # type: ignore[no-any-return]


@rules.on("aten.linalg_tensorinv.default")
def tensorinv(a: Value, ind: int = 2) -> Value:
    shape = dims_of(a)
    square = ops.reshape(a, (prod(shape[:ind]), prod(shape[ind:])))
    return ops.reshape(inverse(square), (*shape[ind:], *shape[:ind]))


@rules.on("aten.linalg_cholesky_ex.default")
def cholesky_ex(a: Value, upper: bool = False, check_errors: bool = False) -> Values:
    return _linalg().cholesky(_symmetric(a, not upper), upper=upper), _no_fault(a)


@rules.on("aten.cholesky.default", "aten.linalg_cholesky.default")
def cholesky(a: Value, upper: bool = False) -> Value:
    return cholesky_ex(a, upper)[0]  # type: ignore[no-any-return]


@rules.on("aten._linalg_solve_ex.default")
def solve(a: Value, b: Value, left: bool = True, check_errors: bool = False) -> Values:
    """b is a vector for each matrix where it has the shape of a without the last axis."""
    row = rank_of(b) == 1 or (b.type.shape == (a.type.shape or ())[:-1])
    b = ops.expand_dims(b, -1) if row else b
    x = _linalg().solve(a, b) if left else _turned(_linalg().solve(_turned(a), _turned(b)))
    return ops.squeeze(x, -1) if row else x, None, None, _no_fault(a)


@rules.on("aten.linalg_solve.default")
def solution(a: Value, b: Value, left: bool = True) -> Value:
    return solve(a, b, left)[0]  # type: ignore[no-any-return]


@rules.on("aten.linalg_solve_triangular.default")
def solve_triangular(
    a: Value, b: Value, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    if not left:
        y = solve_triangular(_turned(a), _turned(b), not upper, True, unitriangular)
        return _turned(y)
    a = (_linalg().triu if upper else _linalg().tril)(a)
    if unitriangular:
        one = _one(a)
        a = ops.where(ops.cast(one, "bool"), one, a)
    x: Value = _linalg().solve(a, b)
    return x


@rules.on("aten.triangular_solve.default")
def triangular_solve(
    b: Value, a: Value, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Values:
    turned, upper = (_turned(a), not upper) if transpose else (a, upper)
    return solve_triangular(turned, b, upper, True, unitriangular), a


@rules.on("aten.cholesky_solve.default")
def cholesky_solve(b: Value, factor: Value, upper: bool = False) -> Value:
    lower = _turned(factor) if upper else factor
    y = solve_triangular(lower, b, upper=False)
    return solve_triangular(_turned(lower), y, upper=True)  # type: ignore[no-any-return]


@rules.on("aten.cholesky_inverse.default")
def cholesky_inverse(factor: Value, upper: bool = False) -> Value:
    one = _one(factor)
    return cholesky_solve(ops.broadcast_like(one, factor), factor, upper)  # type: ignore[no-any-return]


@rules.on("aten._linalg_eigh.default")
def eigh(a: Value, UPLO: str = "L", compute_v: bool = True) -> Values:  # noqa: N803  # the name in the schema
    a = _symmetric(a, UPLO.upper() == "L")
    return tuple(_linalg().eigh(a)) if compute_v else (_linalg().eigvalsh(a), None)


@rules.on("aten._linalg_svd.default")
def svd(
    a: Value, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> Values:
    if not compute_uv:
        return None, _linalg().svdvals(a), None
    return tuple(_linalg().svd(a, full_matrices=full_matrices))


@rules.on("aten.linalg_qr.default")
def qr(a: Value, mode: str = "reduced") -> Values:
    if mode == "r":
        return ops.zeros((0,), a.type.dtype), _linalg().qr(a)[1]
    return tuple(_linalg().qr(a, mode=mode))


@rules.on("aten.linalg_pinv.atol_rtol_tensor")
def pinv(
    a: Value, atol: Value | None = None, rtol: Value | None = None, hermitian: bool = False
) -> Value:
    """Singular values up to the greater of `atol` and `rtol` times the greatest count as 0."""
    a = _symmetric(a, lower=True) if hermitian else a
    if atol is None and rtol is None:
        plain: Value = _linalg().pinv(a)
        return plain
    u, s, vh = _linalg().svd(a, full_matrices=False)
    greatest = ops.max(s, -1, keepdims=True)
    bound: Any = 0.0 if atol is None else ops.expand_dims(ops.cast(atol, s.type.dtype), -1)
    if rtol is not None:
        bound = ops.maximum(bound, ops.expand_dims(ops.cast(rtol, s.type.dtype), -1) * greatest)
    kept = ops.greater(s, bound)
    inverse = ops.where(kept, 1 / ops.where(kept, s, 1.0), 0.0)
    return ops.matmul(_turned(vh) * ops.expand_dims(inverse, -2), u, transpose_b=True)


@rules.on("aten.linalg_lstsq.default")
def lstsq(a: Value, b: Value, rcond: float | None = None, driver: str | None = None) -> Values:
    """The solution of least squares, which alone is imported."""
    row = rank_of(b) == rank_of(a) - 1
    b = ops.expand_dims(b, -1) if row else b
    x = ops.matmul(_linalg().pinv(a, rtol=rcond), b)
    return ops.squeeze(x, -1) if row else x, None, None, None


@rules.on("aten.linalg_householder_product.default")
def householder_product(a: Value, tau: Value) -> Value:
    """The first columns of the product of the reflections in the columns of a."""
    one = _one(a)
    return _reflected(a, tau, ops.broadcast_like(one, a), backwards=True)


@rules.on("aten.ormqr.default")
def ormqr(a: Value, tau: Value, other: Value, left: bool = True, transpose: bool = False) -> Value:
    if left:
        return _reflected(a, tau, other, backwards=not transpose)
    return _turned(_reflected(a, tau, _turned(other), backwards=transpose))


def _reflected(a: Value, tau: Value, y: Value, backwards: bool) -> Value:
    """y after the reflections 1 - tau v vᵀ; v is a column of a from its diagonal 1 down."""
    rows, places = dims_of(a)[-2], range(dims_of(tau)[-1])
    for i in reversed(places) if backwards else places:
        at = np.arange(rows)[:, None]
        v = ops.where(
            ops.constant(at > i), a[..., i : i + 1], ops.cast(ops.constant(at == i), a.type.dtype)
        )
        step = ops.matmul(v, y, transpose_a=True) * ops.expand_dims(tau[..., i : i + 1], -1)
        y = y - ops.matmul(v, step)
    return y


def _turned(a: Value) -> Value:
    rank = rank_of(a)
    return ops.transpose(a, [*range(rank - 2), rank - 1, rank - 2])


def _symmetric(a: Value, lower: bool) -> Value:
    """The symmetric matrix whose lower (upper) triangle is that of a; a has the whole gradient."""
    n = dims_of(a)[-1]
    kept = ops.constant(np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T)
    return a + ops.stop_gradient(ops.where(kept, a, _turned(a)) - a)


def _one(a: Value) -> Value:
    rows, columns = dims_of(a)[-2:]
    return ops.eye(rows, columns, a.type.dtype)


def _no_fault(a: Value) -> Value:
    return ops.zeros(dims_of(a)[:-2], "i32")
