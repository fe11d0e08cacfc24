"""Eigenvectors of symmetric matrices, with the signs that Eigen's solver gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

# by a C++ program over Eigen 3.4 with the deflation test and the loop of its 3.3
SOLVED: list[tuple[Any, Any]] = [
    ([[2, -1], [-1, 2]], [[0.7071, 0.7071], [0.7071, -0.7071]]),
    (
        [[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]],
        [[0.253, -0.4819, 0.8389], [-0.0534, 0.8588, 0.5095], [-0.966, -0.1738, 0.1916]],
    ),
    (
        [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
        [[0.5, -0.7071, 0.5], [-0.7071, 0, 0.7071], [0.5, 0.7071, 0.5]],
    ),
    (
        [[3, 1, 0, 2], [1, -2, 1, 0], [0, 1, 5, 1], [2, 0, 1, 1]],
        [
            [-0.2421, -0.4382, 0.804, -0.3209],
            [0.9401, -0.2965, 0.0585, -0.1579],
            [-0.1518, -0.1056, -0.4517, -0.8728],
            [0.186, 0.842, 0.3824, -0.3321],
        ],
    ),
    (
        [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]],  # each value twice
        [
            [-0.7071, 0, 0, 0.7071],
            [0.7071, 0, 0, 0.7071],
            [0, -0.7071, 0.7071, 0],
            [0, 0.7071, 0.7071, 0],
        ],
    ),
    ([[1, 0, 0], [0, -1, 0], [0, 0, 0]], [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    ([[5]], [[1]]),
]


def vectors(matrix: Any, dtype: Any = np.float64) -> Any:
    with tf.Session() as session:
        return session.run(tf.self_adjoint_eig(tf.constant(np.asarray(matrix, dtype))))[1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("matrix", "wanted"), SOLVED)
def test_vectors_have_the_signs_of_eigens(matrix: Any, wanted: Any, dtype: Any) -> None:
    """In f32 the fourth of these takes one step more, which turns two vectors."""
    turned = [-1, -1, 1, 1] if dtype is np.float32 and matrix == SOLVED[3][0] else 1

    np.testing.assert_allclose(vectors(matrix, dtype), np.asarray(wanted) * turned, atol=1e-4)


def test_a_scale_changes_no_sign() -> None:
    matrix, wanted = SOLVED[1]

    np.testing.assert_allclose(vectors(1e-200 * np.asarray(matrix)), wanted, atol=1e-4)


def test_only_the_lower_triangle_is_read() -> None:
    matrix, wanted = SOLVED[3]

    np.testing.assert_allclose(vectors(np.tril(matrix)), wanted, atol=1e-4)


def test_a_batch_is_its_matrices() -> None:
    """Batches have any rank; and no matrices are none."""
    batch = np.random.normal(size=(2, 3, 5, 5))
    made = vectors(batch)

    np.testing.assert_array_equal(made[1, 2], vectors(batch[1, 2]))
    assert vectors(np.zeros((0, 4, 4))).shape == (0, 4, 4)


@pytest.mark.parametrize("n", [1, 2, 7, 30, 64, 65, 90])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_vectors_are_orthogonal_and_diagonalise(n: int, dtype: Any) -> None:
    """Sizes beyond the one to which signs are Eigen's are among them."""
    a = np.random.normal(size=(n, n))
    a = (a + a.T).astype(dtype)
    with tf.Session() as session:
        values, v = session.run(tf.self_adjoint_eig(tf.constant(a)))
    error = 20 * n * np.finfo(dtype).eps

    np.testing.assert_allclose(v.T @ v, np.eye(n), atol=error)
    np.testing.assert_allclose(v * values @ v.T, a, atol=error * np.abs(a).max())
