from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np
import pytest
from matrix_runs import Array, computed, graph_of, matrix

import byparts_linalg as linalg
from byparts_graph_ir import ArgumentError, Graph, GraphError, Input, TensorType, Value
from byparts_opset.evaluate import evaluate


def _whole(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(np.int64)


@pytest.mark.parametrize(
    ("ours", "numpys", "shapes"),
    [
        (linalg.matmul, np.matmul, [(2, 3, 4), (4, 5)]),
        (linalg.matmul, np.matmul, [(4,), (2, 4, 5)]),
        (linalg.matmul, np.matmul, [(2, 3, 4), (4,)]),
        (linalg.matmul, np.matmul, [(4,), (4,)]),
        (linalg.matrix_transpose, lambda a: np.swapaxes(a, -1, -2), [(2, 3, 4)]),
        (partial(linalg.matrix_power, n=5), lambda a: np.linalg.matrix_power(a, 5), [(2, 3, 3)]),
        (partial(linalg.matrix_power, n=0), lambda a: np.linalg.matrix_power(a, 0), [(2, 3, 3)]),
        (linalg.vecdot, lambda x, y: np.sum(x * y, -1), [(2, 3), (4, 1, 3)]),
        (partial(linalg.vecdot, axis=-2), lambda x, y: np.sum(x * y, -2), [(3, 2), (3, 1)]),
        (linalg.outer, np.outer, [(3,), (4,)]),
        (linalg.cross, np.cross, [(2, 3), (4, 1, 3)]),
        (partial(linalg.cross, axis=-2), partial(np.cross, axis=-2), [(3, 2), (3, 2)]),
        (linalg.tensordot, np.tensordot, [(2, 3, 4), (3, 4, 5)]),
        (partial(linalg.tensordot, axes=0), partial(np.tensordot, axes=0), [(2,), (3,)]),
        (
            partial(linalg.tensordot, axes=([0, -1], [1, 0])),
            partial(np.tensordot, axes=([0, -1], [1, 0])),
            [(2, 3, 4), (4, 2, 5)],
        ),
        (linalg.trace, lambda a: np.trace(a, axis1=-2, axis2=-1), [(2, 3, 4)]),
        (linalg.tril, np.tril, [(2, 3, 4)]),
        (linalg.triu, np.triu, [(2, 3, 4)]),
    ],
)
def test_products_are_those_of_numpy(
    ours: Callable[..., Value], numpys: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    """On integers, exactly."""
    arrays = [_whole(*shape) for shape in shapes]
    if ours in (linalg.tril, linalg.triu):
        arrays = [a.astype(np.float64) for a in arrays]

    np.testing.assert_array_equal(computed(ours, *arrays)[0], numpys(*arrays))


def test_a_trace_may_be_added_in_another_dtype() -> None:
    a = np.full((300, 300), 1, np.int8)

    (y,) = computed(partial(linalg.trace, dtype="i64"), a)

    assert y == 300 and y.dtype == np.int64


@pytest.mark.parametrize("offset", range(-4, 6))
def test_diagonals(offset: int) -> None:
    a = _whole(2, 3, 4)

    (y,) = computed(partial(linalg.diagonal, offset=offset), a)

    np.testing.assert_array_equal(y, np.diagonal(a, offset, -2, -1))


def test_a_power_below_0_is_one_of_the_inverse() -> None:
    a = matrix(3, 3)

    (y,) = computed(partial(linalg.matrix_power, n=-3), a)

    np.testing.assert_allclose(y, np.linalg.matrix_power(a, -3), atol=1e-12)


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, inf, -1, -2, -inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_matrices(ord: Any, keepdims: bool) -> None:
    a = matrix(2, 3, 4)

    (y,) = computed(partial(linalg.matrix_norm, ord=ord, keepdims=keepdims), a)

    np.testing.assert_allclose(y, np.linalg.norm(a, ord, (-2, -1), keepdims=keepdims))


@pytest.mark.parametrize("ord", [0, 1, 2, 3.5, inf, -inf])
def test_norms_of_vectors(ord: float) -> None:
    a = matrix(3, 4)

    (y,) = computed(partial(linalg.vector_norm, ord=ord, axis=0), a)

    np.testing.assert_allclose(y, np.linalg.norm(a, ord, 0))


def test_ranks() -> None:
    a = np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3)), np.diag([1.0, 1e-3, 0])])

    ranks, rough = computed(lambda a: (linalg.matrix_rank(a), linalg.matrix_rank(a, rtol=0.01)), a)

    assert ranks.tolist() == [3, 1, 0, 2] and rough.tolist() == [3, 1, 0, 1]
    assert ranks.dtype == np.int64


def test_a_tolerance_for_each_matrix() -> None:
    a, limits = np.stack([np.diag([1.0, 0.1])] * 2), np.array([0.01, 0.5])

    (ranks,) = computed(lambda a, rtol: linalg.matrix_rank(a, rtol=rtol), a, limits)

    assert ranks.tolist() == [2, 1]


def test_sizes_may_have_names() -> None:
    """One graph for all sizes, where the size decides no constant."""
    a = Input(TensorType("f64", ("b", "n", "n")))
    graph = Graph.of([a], [linalg.inv(a), linalg.tril(a), linalg.eigvalsh(a)])

    for shape in ((2, 3, 3), (1, 4, 4)):
        inverse, lower, _ = evaluate(graph, matrix(*shape))
        np.testing.assert_allclose(inverse, np.linalg.inv(matrix(*shape)), atol=1e-12)
        np.testing.assert_array_equal(lower, np.tril(matrix(*shape)))


@pytest.mark.parametrize(
    ("f", "shapes", "message"),
    [
        (linalg.cross, [(2,), (2,)], r"cross: takes 3 elements along axis -1, got f64\[2\]"),
        (partial(linalg.cross, axis=0), [(3,), (3,)], "cross: axis is 0; count it from the end"),
        (linalg.outer, [(2, 2), (2,)], r"outer: takes two vectors, got f64\[2,2\] and f64\[2\]"),
        (partial(linalg.tensordot, axes=3), [(2, 2), (2,)], "tensordot: axes is 3; x is"),
        (
            partial(linalg.tensordot, axes=([0], [])),
            [(2, 2), (2,)],
            "tensordot: 1 axes of x and 0 of y; give pairs",
        ),
        (partial(linalg.matrix_norm, ord=3), [(2, 2)], "matrix_norm: ord is 3; it is one of"),
        (partial(linalg.qr, mode="r"), [(2, 2)], "qr: mode is 'r'; it is 'reduced' or 'complete'"),
        (partial(linalg.matrix_power, n=2), [(2, 3)], "matrix_power: takes square matrices"),
    ],
)
def test_wrong_arguments(
    f: Callable[..., Value], shapes: list[tuple[int, ...]], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        graph_of(f, *(np.ones(shape) for shape in shapes))


def test_names_of_a_size_that_decides_a_constant() -> None:
    a = Input(TensorType("f64", ("n", "n")))

    with pytest.raises(GraphError, match=r"pinv: rtol depends on the shape, which is not known"):
        linalg.pinv(a)
    with pytest.raises(ArgumentError, match="matrix_power: n is"):
        linalg.matrix_power(a, "2")  # type: ignore[arg-type]  # what is refused
