"""NumPy's functions on arrays, and arrays beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp

X = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)


@pytest.mark.parametrize(
    "ufunc", [np.sin, np.arctan, np.absolute, np.rint, np.isnan, np.square, np.floor, np.negative]
)
def test_functions_of_numpy_give_arrays(ufunc: Any) -> None:
    y = ufunc(bp.asarray(X))

    assert isinstance(y, bp.Array)
    np.testing.assert_array_equal(y.numpy(), ufunc(X))


def test_arrays_of_numpy_stand_on_either_side() -> None:
    x = bp.asarray(X)

    for y in (X + x, x + X, np.add(X, x), X @ x, np.matmul(X, x), np.power(x, 2), x >= X):
        assert isinstance(y, bp.Array)
    np.testing.assert_array_equal((X - x).numpy(), np.zeros((2, 2)))
    np.testing.assert_array_equal((X @ x).numpy(), X @ X)


def test_reductions_of_numpy_are_ours() -> None:
    x = bp.asarray(X)

    assert isinstance(np.sum(x), bp.Array)
    assert float(np.sum(x)) == X.sum()
    assert bp.all(np.equal(np.maximum.reduce(x), X.max(0)))
    assert bp.all(np.equal(np.add.reduce(x, axis=1, keepdims=True), X.sum(1, keepdims=True)))
    assert float(bp.grad(lambda x: np.sum(np.sin(x)))(x)[0, 0]) == np.cos(X)[0, 0]


def test_functions_of_numpy_are_traced() -> None:
    f = bp.compile(lambda x: np.exp(x) + X)

    np.testing.assert_array_equal(f(X).numpy(), np.exp(X) + X)


def test_what_has_no_op_is_refused() -> None:
    """The error says how to call it."""
    x = bp.asarray(X)

    with pytest.raises(
        TypeError, match=r"np\.spacing: there is no op .* as in np\.spacing\(x\.numpy"
    ):
        np.spacing(x)
    with pytest.raises(TypeError, match=r"np\.add with out"):
        np.add(x, X, out=X.copy())
    with pytest.raises(TypeError, match=r"np\.add\.accumulate"):
        np.add.accumulate(x)
