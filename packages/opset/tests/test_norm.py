"""Norms, variances and deviations, and their gradients where a root is taken of 0."""

from __future__ import annotations

from functools import partial
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from numeric import call, slope_of

from byparts_graph_ir import Input, ShapeError, TensorType
from byparts_opset import norm, std, var

X = np.array([[0.0, 0, 0], [3, -4, 0]])


@pytest.mark.parametrize("order", [2, 1, 3, 1.5, 0.5, 0, -1, inf, -inf])
def test_norms_are_those_of_numpy(order: float) -> None:
    """Row by row."""
    with np.errstate(divide="ignore"):
        expected = np.linalg.norm(X, order, axis=1)

    np.testing.assert_allclose(expected, call(lambda x: norm(x, order, 1), X))


# What torch 2.13 gives as the gradient of `torch.linalg.vector_norm(x, order, 1).sum()`.
RECORDED: dict[float, list[float]] = {
    **{2: [0.6, -0.8, 0], 3: [0.44485135, -0.79084685, 0], 1.5: [0.73295648, -0.84634524, 0]},
    **{1: [1, -1, 0], 0.5: [2.1547005, -1.8660254, 0], -1: [0, 0, 0]},
    inf: [0, -1, 0],
}


@pytest.mark.parametrize("order", RECORDED)
def test_gradients_of_norms_of_zeros_are_zero(order: float) -> None:
    """In the first row; no nan in the second, where one element is 0."""
    dx = call(slope_of(lambda x: norm(x, order, 1)), X)

    np.testing.assert_allclose(np.array([[0, 0, 0], RECORDED[order]]), dx, atol=1e-9)


@pytest.mark.parametrize("order", [2, 3, 4, 0.5, -1])
def test_second_gradients_of_norms_of_zeros_are_zero(order: float) -> None:
    """Of a zero vector, and nan nowhere."""
    second = call(slope_of(slope_of(lambda x: norm(x, order, 1))), X)

    np.testing.assert_array_equal(np.zeros(3), second[0])
    assert np.isfinite(second).all()


@pytest.mark.parametrize("correction", [0, 1])
def test_deviations_of_equal_numbers_have_no_gradient(correction: int) -> None:
    """0 beside what other rows have, to the second order."""
    x, given = np.array([[1.0, 1, 1], [1, 2, 3]]), partial(std, axis=1, correction=correction)
    root = np.sqrt(2.0 * (3 - correction))

    np.testing.assert_allclose(np.std(x, axis=1, ddof=correction), call(given, x))
    np.testing.assert_allclose(
        [[0, 0, 0], [-1 / root, 0, 1 / root]], call(slope_of(given), x), atol=1e-15
    )
    assert np.isfinite(call(slope_of(slope_of(given)), x)).all()


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 1])
def test_variances_of_too_few_are_nan(correction: int, size: int) -> None:
    """Of nothing, and of as many as the correction takes away; never -0."""
    y = call(lambda x: var(x, correction=correction), np.ones(size))

    np.testing.assert_array_equal(nan if correction >= size else 0.0, y)


@pytest.mark.parametrize("function", [norm, std, var])
def test_squares_of_halves_do_not_overflow(function: Any) -> None:
    """300^2 is no f16, and the sum of 10,000 of them is not either."""
    x = np.resize(np.array([300, -300], np.float16), 10_000)
    expected = function(Input(TensorType("f16", (2,)))).type.dtype
    y = call(lambda x: function(x * 0.5), x)

    assert expected == "f16"
    np.testing.assert_array_equal({norm: 15000, std: 150, var: 22496}[function], y)


def test_norms_of_integers_are_refused() -> None:
    """A root is no integer."""
    x = Input(TensorType("i32", (2,)))

    with pytest.raises(ShapeError, match=r"norm: takes floats, got i32\[2\]"):
        norm(x)
