"""Static shapes of results whose inputs are known in part: what TensorFlow 1.15 knows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


def given(*dims: Any, dtype: Any = tf.float32) -> Any:
    """A placeholder."""
    return tf.placeholder(dtype, dims)


def rows(*dims: Any) -> Any:
    """A placeholder of integers."""
    return given(*dims, dtype=tf.int32)


def einsum(equation: str, *shapes: Any, dtype: Any = tf.float32) -> Any:
    """The einsum of placeholders; a shape may be unknown."""
    return tf.einsum(equation, *[tf.placeholder(dtype, s) for s in shapes])


def sparse(*dims: int) -> Any:
    """A sparse tensor of five elements."""
    places = given(5, len(dims), dtype=tf.int64)
    return tf.SparseTensor(places, given(5), tf.constant(dims, tf.int64))


def squares(*shapes: Any) -> Any:
    """The least squares of placeholders."""
    return tf.matrix_solve_ls(*[tf.placeholder(tf.float32, s) for s in shapes])


nn = tf.nn
CASES: list[tuple[str, Callable[[], Any]]] = [
    ("(2, 4)", lambda: einsum("ij,jk->ik", [2, None], [3, 4])),
    ("(2, 2, 4)", lambda: einsum("bij,bjk->bik", [2, 2, 3], [None, 3, 4])),
    ("(2, 3)", lambda: einsum("ij,ij->ij", [None, 3], [2, None])),
    ("(?, 3, 5)", lambda: einsum("...ab,bc,cd->...ad", [None, 3, 2], [2, None], [7, 5])),
    ("(?, 4)", lambda: einsum("ij,jk->ik", None, [3, 4])),
    ("(?, 4)", lambda: einsum("ij,jk", [None, 3], [3, 4], dtype=tf.complex64)),
    ("(3, 2)", lambda: squares([None, 3], [None, 2])),
    ("(?, 2)", lambda: squares([None, None], [None, 2])),
    ("(5, ?, 2)", lambda: squares([5, None, None], [5, None, 2])),
    ("(?, 2)", lambda: squares(None, [4, 2])),
    ("(4, 6)", lambda: tf.sparse_reduce_sum(sparse(4, 5, 6), 1)),
    ("(4, 1, 6)", lambda: tf.sparse_reduce_sum(sparse(4, 5, 6), -2, keepdims=True)),
    ("(5,)", lambda: tf.sparse_reduce_max(sparse(4, 5, 6), [0, 2])),
    ("(1, 1)", lambda: tf.sparse_reduce_max(sparse(4, 5), keepdims=True)),
    ("(4,)", lambda: tf.sparse_reduce_sum(tf.sparse_placeholder(tf.float32, [4, 5]), 1)),
    ("(2, 3)", lambda: nn.bias_add(given(2, None), given(3))),
    ("(2, 3, 4)", lambda: nn.bias_add(given(2, None, 4), given(3), "NCHW")),
    (
        "(2,)",
        lambda: nn.sparse_softmax_cross_entropy_with_logits(labels=rows(2), logits=given(None, 3)),
    ),
    (
        "(2, 3)",
        lambda: nn.sigmoid_cross_entropy_with_logits(labels=given(None, 3), logits=given(2, None)),
    ),
    ("(2, 3, 3)", lambda: tf.matrix_set_diag(given(None, 3, 3), given(2, None))),
    ("(2, 3)", lambda: tf.betainc(given(None, 3), given(2, None), given(2, 3))),
    ("(2, 3)", lambda: tf.igamma(given(None, 3), given(2, None))),
    (
        "(5, 4, 4, 3)",
        lambda: tf.image.crop_and_resize(given(2, 8, 8, 3), given(None, 4), rows(5), [4, 4]),
    ),
]


@pytest.mark.parametrize(("shape", "make"), CASES)
def test_what_one_input_lacks_another_says(shape: str, make: Callable[[], Any]) -> None:
    assert str(make().shape) == shape


@pytest.mark.parametrize("m", [2, 5])
def test_least_squares_of_matrices_whose_shape_a_feed_says(m: int) -> None:
    """Fewer rows than columns, or more: as of a known shape, with a regularizer of f64."""
    a, b = np.random.normal(size=(m, 3)), np.random.normal(size=(m, 2))
    matrix, regularizer = tf.placeholder(tf.float32, [None, None]), tf.constant(0.1, tf.float64)
    x = tf.matrix_solve_ls(matrix, b.astype(np.float32), regularizer)
    with tf.Session() as session:
        found = session.run(x, {matrix: a})

    np.testing.assert_allclose(found, np.linalg.solve(a.T @ a + 0.1 * np.eye(3), a.T @ b), 1e-3)


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="dimensions of j differ in 'ij,jk->ik'"):
        einsum("ij,jk->ik", [None, 2], [3, None])
