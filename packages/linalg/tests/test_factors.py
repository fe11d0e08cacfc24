from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matrix_runs import Array, computed, definite, graph_of, matrix, run

import byparts_linalg as linalg
import byparts_opset as ops
from byparts_autodiff import check_gradient, gradients
from byparts_graph_ir import Backend, GraphError, Value
from byparts_linalg.factor import Qr
from byparts_opset.evaluate import evaluate

sizes = st.tuples(st.integers(0, 4), st.integers(0, 4))
batches = st.lists(st.integers(0, 2), max_size=2).map(tuple)
few = settings(max_examples=25, deadline=None)


@few
@given(batches, sizes, st.sampled_from(["reduced", "complete"]))
def test_q_times_r_is_the_matrix(batch: tuple[int, ...], size: tuple[int, int], mode: str) -> None:
    a = matrix(*batch, *size)

    q, r = computed(partial(linalg.qr, mode=mode), a)

    np.testing.assert_allclose(q @ r, a, atol=1e-12)
    np.testing.assert_allclose(np.swapaxes(q, -1, -2) @ q, _eye_like(q), atol=1e-12)
    assert (np.triu(r) == r).all()
    assert (np.diagonal(r, axis1=-2, axis2=-1) >= 0).all()


@few
@given(batches, sizes, st.booleans())
def test_u_s_vh_is_the_matrix(batch: tuple[int, ...], size: tuple[int, int], full: bool) -> None:
    a = matrix(*batch, *size)

    u, s, vh = computed(partial(linalg.svd, full_matrices=full), a)

    k = min(size)
    np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a, atol=1e-12)
    np.testing.assert_allclose(np.swapaxes(u, -1, -2) @ u, _eye_like(u), atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), atol=1e-12)


@few
@given(batches, st.integers(0, 4))
def test_a_factor_times_its_transpose_is_the_matrix(batch: tuple[int, ...], n: int) -> None:
    a = definite(*batch, n, n)

    lower, upper = computed(lambda a: (linalg.cholesky(a), linalg.cholesky(a, upper=True)), a)

    np.testing.assert_allclose(lower @ np.swapaxes(lower, -1, -2), a, atol=1e-10)
    np.testing.assert_array_equal(upper, np.swapaxes(lower, -1, -2))


@few
@given(batches, st.integers(0, 4))
def test_eigenvectors_are_kept_but_for_their_lengths(batch: tuple[int, ...], n: int) -> None:
    a = definite(*batch, n, n)

    w, v = computed(linalg.eigh, a)

    np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=1e-9)
    assert (np.diff(w) >= 0).all()


@pytest.mark.parametrize("f", [linalg.cholesky, linalg.qr, linalg.svd, linalg.eigh])
def test_a_batch_is_a_loop(f: Callable[..., Sequence[Value]], backend: Backend) -> None:
    a = definite(2, 3, 4, 4)

    together = run(backend, f, a)
    one = run(backend, f, a[1, 2])

    for x, y in zip(together, one, strict=True):
        np.testing.assert_allclose(x[1, 2], y, atol=1e-9)


def test_signs_of_vectors_do_not_depend_on_the_backend(backend: Backend) -> None:
    """Also where two elements are equally large."""
    a = np.array([[2.0, 1.0], [1.0, 2.0]])

    _, v = run(backend, linalg.eigh, a)

    half = 0.5**0.5
    np.testing.assert_allclose(v, [[half, half], [-half, half]], atol=1e-12)


def test_a_complete_q_is_the_same_on_all_backends(backend: Backend) -> None:
    a = matrix(2, 5, 3)

    both = zip(run(backend, Qr(True).outputs_of, a), computed(Qr(True).outputs_of, a), strict=True)
    for x, y in both:
        np.testing.assert_allclose(x, y, atol=1e-12)


def test_a_complete_q_has_no_gradient() -> None:
    with pytest.raises(GraphError, match="qr: no gradient of a complete q, whose last 2 columns"):
        check_gradient(Qr(True).outputs_of, matrix(4, 2))


def _log_of_volume(a: Value) -> Value:
    return ops.sum(ops.log(linalg.diagonal(linalg.cholesky(a))))


@pytest.mark.parametrize(
    ("f", "a"),
    [
        (linalg.cholesky, definite(3, 3)),
        (lambda a: linalg.qr(a).R, matrix(3, 2)),
        (lambda a: linalg.qr(a).Q, matrix(2, 3)),
        (lambda a: linalg.eigh(a).eigenvectors, definite(3, 3)),
        (linalg.svdvals, matrix(3, 2)),
        (lambda a: linalg.svd(a, full_matrices=False).Vh, matrix(2, 3)),
        (linalg.inv, matrix(3, 3)),
        (linalg.pinv, matrix(4, 2)),
        (linalg.det, matrix(3, 3)),
    ],
)
def test_second_derivatives(f: Callable[..., Value], a: Array) -> None:
    """The gradient of a gradient, against central differences of the gradient."""

    def slope(a: Value) -> Sequence[Value]:
        y = f(a)
        weights = ops.constant(np.cos(np.arange(y.type.size)).reshape(y.type.dims))
        return gradients(ops.sum(ops.square(y) * weights), a)

    check_gradient(slope, a, rtol=1e-5)


def test_values_of_equal_size_have_a_gradient() -> None:
    """That of what does not depend on the basis of their vectors: here the trace of a square."""

    def squares(a: Value) -> Value:
        w, v = linalg.eigh(a)
        rebuilt = ops.matmul(v * ops.expand_dims(w, 0), v, transpose_b=True)
        return linalg.trace(ops.matmul(rebuilt, rebuilt))

    graph = graph_of(lambda a: gradients(squares(a), a), np.eye(3))

    np.testing.assert_allclose(evaluate(graph, np.eye(3))[0], 2 * np.eye(3), atol=1e-12)


def _eye_like(q: Array) -> Array:
    return np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1]))
