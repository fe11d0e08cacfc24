from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matrix_runs import Array, computed, definite, graph_of, matrix, run

import byparts_linalg as linalg
import byparts_opset as ops
from byparts_autodiff import check_gradient, gradients
from byparts_graph_ir import ArgumentError, Backend, GraphError, ShapeError, Value
from byparts_linalg.factor import Cholesky
from byparts_linalg.matrices import MatrixError
from byparts_linalg.solve import Solve
from byparts_opset.evaluate import evaluate

few = settings(max_examples=25, deadline=None)


@few
@given(st.lists(st.integers(0, 2), max_size=2).map(tuple), st.integers(0, 4), st.integers(0, 3))
def test_a_solution_is_the_inverse_times_the_right_side(
    batch: tuple[int, ...], n: int, k: int
) -> None:
    a, b = matrix(*batch, n, n), matrix(*batch, n, k, seed=1)

    x, inverse = computed(lambda a, b: (linalg.solve(a, b), linalg.inv(a)), a, b)

    np.testing.assert_allclose(a @ x, b, atol=1e-9)
    np.testing.assert_allclose(inverse @ b, x, atol=1e-9)


def test_the_right_side_may_be_a_vector(backend: Backend) -> None:
    a, b = matrix(2, 3, 3), np.arange(3.0)

    (x,) = run(backend, linalg.solve, a, b)

    np.testing.assert_allclose(a @ x[..., None], np.broadcast_to(b[:, None], (2, 3, 1)), atol=1e-12)


@pytest.mark.parametrize("triangle", ["lower", "upper"])
def test_of_a_triangle_the_rest_is_not_read(triangle: str, backend: Backend) -> None:
    a, b = matrix(4, 4), matrix(4, 2, seed=1)
    part = np.tril(a) if triangle == "lower" else np.triu(a)
    other = part + np.where(part == 0, np.nan, 0)

    (x,) = run(backend, Solve(triangle), other, b)

    np.testing.assert_allclose(part @ x, b, atol=1e-12)


def test_of_a_symmetric_matrix_the_rest_is_not_read(backend: Backend) -> None:
    a = definite(3, 3)
    lower = np.tril(a) + np.triu(np.full((3, 3), np.nan), 1)

    whole, half = (run(backend, Cholesky(flag), x)[0] for flag, x in ((False, a), (True, lower)))

    np.testing.assert_allclose(half, whole, atol=1e-12)


def test_determinants(backend: Backend) -> None:
    a = matrix(2, 3, 3)
    a[1, 2] = a[1, 1]

    det, sign, log = run(backend, lambda a: (linalg.det(a), *linalg.slogdet(a)), a)

    np.testing.assert_allclose(det, np.linalg.det(a), atol=1e-12)
    np.testing.assert_allclose(sign[0] * np.exp(log[0]), det[0])


def test_the_slope_of_a_determinant_of_0() -> None:
    """No inverse is there; the cofactors are."""
    check_gradient(linalg.det, np.diag([2.0, 3.0, 0.0]))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3), (0, 3)])
def test_pseudo_inverses(shape: tuple[int, ...], backend: Backend) -> None:
    a = matrix(*shape)

    (y,) = run(backend, linalg.pinv, a)

    np.testing.assert_allclose(y, np.linalg.pinv(a), atol=1e-12)


def test_the_slope_of_a_pseudo_inverse_of_less_rank() -> None:
    """Along changes that keep the rank."""
    u, v = matrix(4, 2), matrix(3, 2, seed=1)

    check_gradient(lambda u, v: linalg.pinv(ops.matmul(u, v, transpose_b=True), rtol=1e-9), u, v)


def test_orthogonal_matrices_have_a_slope() -> None:
    """Their singular values are all equal, and the slope is not made of these."""
    check_gradient(linalg.pinv, np.eye(3)[:, :2])


SINGULAR = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0])])
INDEFINITE = np.stack([np.eye(3), np.diag([1.0, -1.0, 2.0])])
NOT_FINITE = np.stack([np.eye(3), np.diag([1.0, np.nan, 2.0])])


@pytest.mark.parametrize(
    ("f", "a", "message"),
    [
        (linalg.inv, SINGULAR, r"inv: matrix \[1\] of f64\[2,3,3\] is not invertible"),
        (linalg.inv, SINGULAR[1], r"inv: the matrix f64\[3,3\] is not invertible"),
        (lambda a: linalg.solve(a, a), SINGULAR, r"solve: matrix \[1\] of f64\[2,3,3\] is not invertible"),
        (lambda a: Solve("lower")(a, a), SINGULAR[1], r"solve: the matrix f64\[3,3\] is not invertible"),
        (partial(linalg.matrix_power, n=-2), SINGULAR, r"inv: matrix \[1\] of f64\[2,3,3\] is not invertible"),
        (linalg.cholesky, INDEFINITE, r"cholesky: matrix \[1\] of f64\[2,3,3\] is not positive definite"),
        (linalg.eigh, NOT_FINITE, r"eigh: matrix \[1\] of f64\[2,3,3\] has nan or inf"),
        (linalg.svd, NOT_FINITE, r"svd: matrix \[1\] of f64\[2,3,3\] has nan or inf"),
        (linalg.svdvals, NOT_FINITE[1], r"svd: the matrix f64\[3,3\] has nan or inf"),
        (linalg.pinv, NOT_FINITE, r"pinv: matrix \[1\] of f64\[2,3,3\] has nan or inf"),
    ],
)  # fmt: skip
def test_a_bad_matrix_is_named(
    f: Callable[..., Value], a: Array, message: str, backend: Backend
) -> None:
    """The same on each backend, and NumPy's own error is caught by who catches that."""
    with pytest.raises(MatrixError, match=message):
        run(backend, f, a)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        computed(f, a)


@pytest.mark.parametrize(
    ("f", "shape", "dtype", "message"),
    [
        (
            linalg.inv,
            (2, 3),
            "f8",
            r"inv: takes square matrices, and a is f64\[2,3\], so 2 meets 3",
        ),
        (linalg.det, (3,), "f8", r"det: takes matrices \[..., m, n\], got f64\[3\] of rank 1"),
        (
            linalg.svd,
            (3, 3),
            "f2",
            r"svd: takes f32 or f64, got f16\[3,3\]; cast\(a, 'f32'\) first",
        ),
        (linalg.qr, (3, 3), "i4", r"qr: takes f32 or f64, got i32\[3,3\]"),
        (linalg.cholesky, (2, 3), "f4", r"cholesky: takes square matrices, and a is f32\[2,3\]"),
        (linalg.diagonal, (3,), "f4", r"diagonal: takes matrices \[..., m, n\], got f32\[3\]"),
    ],
)
def test_a_wrong_type_is_refused(
    f: Callable[..., Value], shape: tuple[int, ...], dtype: str, message: str
) -> None:
    with pytest.raises(ShapeError, match=message):
        graph_of(f, np.ones(shape, dtype))


def test_rows_that_differ_are_refused() -> None:
    message = r"solve: rows differ: a is f64\[3,3\] and b is f64\[2,1\], so 3 meets 2"
    with pytest.raises(ShapeError, match=message):
        graph_of(linalg.solve, matrix(3, 3), matrix(2, 1))


def test_a_triangle_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentError, match="triangle is 'left'; it is 'lower', 'upper', or ''"):
        Solve("left")


def test_a_slope_at_a_singular_matrix_says_so() -> None:
    graph = graph_of(lambda a: gradients(linalg.slogdet(a).logabsdet, a), np.zeros((2, 2)))

    with pytest.raises(GraphError, match=r"inv: the matrix f64\[2,2\] is not invertible"):
        evaluate(graph, np.zeros((2, 2)))


def test_a_likelihood_of_gauss(backend: Backend) -> None:
    """A usual program: its value by two ways."""
    a, x = definite(4, 4), matrix(4, 1, seed=2)

    def by_factor(a: Value, x: Value) -> Value:
        lower = linalg.cholesky(a)
        half = Solve("lower")(lower, x)
        return ops.sum(ops.square(half)) + 2 * ops.sum(ops.log(linalg.diagonal(lower)))

    def by_inverse(a: Value, x: Value) -> Value:
        return ops.sum(x * linalg.solve(a, x)) + linalg.slogdet(a).logabsdet

    np.testing.assert_allclose(run(backend, by_factor, a, x), run(backend, by_inverse, a, x))
