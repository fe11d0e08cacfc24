"""Matrices: values by NumPy, first and second derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(2, 3, 3)) + 2 * np.eye(3)
B, TALL = RANDOM.normal(size=(2, 3, 2)), RANDOM.normal(size=(4, 3))
POSITIVE = A @ A.swapaxes(-1, -2) + np.eye(3)
STEP = 1e-5


def _symmetric(a: Any) -> Any:
    return (a + tf.matrix_transpose(a)) / 2


_TURN = np.exp(1j * RANDOM.normal(size=[3]))

FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "inverse": (tf.matrix_inverse, [A]),
    "determinant": (tf.matrix_determinant, [A]),
    "slogdet": (lambda a: tf.linalg.slogdet(a)[1], [A]),
    "solve": (lambda a, b: tf.matrix_solve(a, b, adjoint=True), [A, B]),
    "triangular": (tf.matrix_triangular_solve, [A, B]),
    "upper": (lambda a, b: tf.linalg.triangular_solve(a, b, lower=False, adjoint=True), [A, B]),
    "cholesky": (lambda a: tf.cholesky(_symmetric(a)), [POSITIVE]),
    "cholesky_solve": (
        lambda a, b: tf.cholesky_solve(tf.cholesky(_symmetric(a)), b),
        [POSITIVE, B],
    ),
    "lstsq": (lambda a, b: tf.matrix_solve_ls(a, b, 0.1), [TALL, TALL[:, :2] ** 2]),
    "eigh": (lambda a: tf.self_adjoint_eig(_symmetric(a)), [POSITIVE]),
    "svd": (tf.svd, [TALL]),
    "svd of a wide one": (tf.svd, [TALL.T]),
    "qr": (tf.qr, [TALL]),
    "diag": (lambda a: (tf.matrix_diag(a, k=1), tf.matrix_diag(a, k=-2), tf.diag(a)), [TALL]),
    "diag_part": (lambda a: (tf.linalg.diag_part(a, k=1), tf.trace(a)), [TALL]),
    "set_diag": (tf.matrix_set_diag, [B, B[:, 0]]),
    "band_part": (lambda a: tf.matrix_band_part(a, 1, 0), [TALL]),
    "rfft2d": (lambda a: tf.real(tf.spectral.rfft2d(a, [3, 4])), [TALL]),
    "complex product": (
        lambda a: tf.abs((tf.complex(a, 2 * a) * _TURN - 1.0) / tf.complex(1 + a * a, a)),
        [TALL],
    ),
    "irfft2d": (lambda a: tf.spectral.irfft2d(tf.complex(a, 0.5 * a), [4, 5]), [TALL]),
}


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_differences(name: str) -> None:
    """The first with respect to each argument, the second with respect to the first."""
    function, arrays = FUNCTIONS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        xs = [tf.placeholder(tf.float64, a.shape) for a in arrays]
        made = function(*xs)
        parts = made if isinstance(made, tuple) else (made,)
        loss = tf.add_n([tf.reduce_sum(t * RANDOM.normal(size=t.shape.as_list())) for t in parts])
        slopes = tf.gradients(loss, xs)
        bent = tf.reduce_sum(tf.sin(slopes[0]))
        second = tf.gradients(bent, xs[0])[0]
        of_bent = tf.zeros_like(xs[0]) if second is None else second  # of what is linear
        *firsts, of_bent = session.run([*slopes, of_bent], dict(zip(xs, arrays, strict=True)))
        for i, slope in enumerate(firsts):
            along = RANDOM.normal(size=arrays[i].shape)
            near = [
                session.run([loss, bent], {**dict(zip(xs, arrays, strict=True)), xs[i]: a})
                for a in (arrays[i] + STEP * along, arrays[i] - STEP * along)
            ]
            wanted = np.subtract(*near) / (2 * STEP)
            found = [(dx * along).sum() for dx in ([slope] if i else [slope, of_bent])]
            np.testing.assert_allclose(found, wanted[: len(found)], 1e-4, 1e-6)


def test_factors_are_numpys() -> None:
    """Of TensorFlow's order of results: v, not its transpose."""
    with tf.Graph().as_default(), tf.Session() as session:
        s, u, v = session.run(tf.svd(TALL))
        q, r = session.run(tf.qr(TALL, full_matrices=True))
        values, vectors = session.run(tf.self_adjoint_eig(POSITIVE))

    np.testing.assert_allclose(u * s @ v.T, TALL)
    np.testing.assert_allclose(q @ r, TALL, atol=1e-12)
    assert q.shape == (4, 4)
    np.testing.assert_allclose(
        vectors * values[:, None] @ vectors.swapaxes(-1, -2), POSITIVE, atol=1e-12
    )


def test_transforms_of_matrices_are_numpys() -> None:
    """Cut and filled to other sizes, and back."""
    with tf.Graph().as_default(), tf.Session() as session:
        there = [tf.spectral.rfft2d(TALL, size) for size in (None, [3, 5])]
        back = [tf.spectral.irfft2d(there[0], size) for size in (None, [4, 3])]
        found = session.run([*there, *back])

    assert [t.shape.as_list() for t in (*there, *back)] == [list(f.shape) for f in found]
    half = np.fft.rfft2(TALL)
    wanted: list[Any] = [half, np.fft.rfft2(TALL, [3, 5])]
    wanted += [np.fft.irfft2(half), np.fft.irfft2(half, [4, 3])]
    for value, array in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, array, atol=1e-6)


def test_what_has_no_inverse_is_an_error() -> None:
    """When it runs; a determinant is 0."""
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.matrix_determinant(tf.zeros([2, 2]))) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            session.run(tf.matrix_inverse(tf.zeros([2, 2])))
        with pytest.raises(tf.errors.InvalidArgumentError, match="not positive definite"):
            session.run(tf.cholesky(-tf.eye(2)))
        with pytest.raises(ValueError, match="must be equal"):
            tf.matrix_inverse(tf.zeros([2, 3]))
        with pytest.raises(ValueError, match="rank 2"):
            tf.matrix_inverse(tf.zeros([3]))


def test_operators_of_operators() -> None:
    """An update of few columns, a product, blocks; and what batches are."""
    u = np.array([[1.0], [0.0], [2.0]])
    with tf.Graph().as_default(), tf.Session() as session:
        base = tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0])
        updated = tf.linalg.LinearOperatorLowRankUpdate(base, u.astype("float32"), [2.0])
        product = tf.linalg.LinearOperatorComposition([base, updated])
        blocks = tf.linalg.LinearOperatorBlockDiag([base, updated])
        one, two, all_, size = session.run(
            [updated.to_dense(), product.to_dense(), blocks.H.to_dense(), blocks.shape_tensor()]
        )

    expected = np.diag([1.0, 2.0, 3.0]) + 2 * u @ u.T
    np.testing.assert_allclose(one, expected, 1e-6)
    np.testing.assert_allclose(two, np.diag([1.0, 2.0, 3.0]) @ expected, 1e-6)
    np.testing.assert_allclose(all_[3:, 3:], expected, 1e-6)
    assert size.tolist() == [6, 6] and not all_[:3, 3:].any()


def test_axes_of_tensordot_may_be_constants() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        axes = tf.stack([tf.range(-2, 0), tf.range(0, 2)])

        assert (
            session.run(tf.tensordot(tf.ones([4, 2, 3]), tf.ones([2, 3]), axes)).tolist()
            == [6.0] * 4
        )


def test_products_with_vectors_and_inverse_cosines() -> None:
    """`tf.linalg.matvec`, and `tf.signal.idct` of what `dct` gives."""
    x = np.array([[1.0, -2.0, 3.0]], "float32")
    with tf.Graph().as_default(), tf.Session() as session:
        product = tf.linalg.matvec(tf.constant(A), np.ones([2, 3]), transpose_a=True)
        whole = tf.signal.idct(tf.signal.dct(x, norm="ortho"), norm="ortho")
        other = tf.signal.idct(tf.signal.dct(x))
        found = session.run([product, whole, other, tf.convert_to_tensor(tf.TensorShape([]))])

    np.testing.assert_allclose(found[0], A.sum(1), 1e-6)
    np.testing.assert_allclose(found[1], x, 1e-5)
    np.testing.assert_allclose(found[2], 6 * x, 1e-5)
    assert found[3].dtype == np.int32


IN_LOOPS: dict[str, Callable[..., Any]] = {
    "inverse": lambda a, b: tf.matrix_inverse(a),
    "cholesky": lambda a, b: tf.cholesky(a),
    "solve": tf.matrix_solve,
    "upper": lambda a, b: tf.matrix_triangular_solve(a, b, adjoint=True),
    "slogdet": lambda a, b: tf.linalg.slogdet(a)[1] + tf.matrix_determinant(a) / 100,
}


@pytest.mark.parametrize("name", IN_LOOPS)
def test_gradients_pass_through_small_matrices_in_a_loop(name: str) -> None:
    """As through those of a batch, which the host computes."""
    a, b = POSITIVE.copy(), B
    if name == "solve":
        a[0] = np.eye(3)[[1, 2, 0]]  # pivots are zero
    with tf.Graph().as_default(), tf.Session() as session:
        given, right = tf.constant(a), tf.constant(b)
        whole = IN_LOOPS[name](given, right)
        each = tf.map_fn(lambda row: IN_LOOPS[name](*row), (given, right), tf.float64)
        slopes = [tf.gradients(tf.reduce_sum(tf.sin(y)), given)[0] for y in (whole, each)]
        found = session.run([whole, each, *slopes])

    np.testing.assert_allclose(found[1], found[0], 1e-9, 1e-12)
    np.testing.assert_allclose(found[3], found[2], 1e-9, 1e-9)


def test_large_matrices_in_a_loop_are_of_the_host() -> None:
    a = np.stack([np.eye(20) * 2, np.eye(20) * 4])
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.map_fn(tf.matrix_inverse, tf.constant(a)))

    np.testing.assert_allclose(found[:, 0, 0], [0.5, 0.25])
