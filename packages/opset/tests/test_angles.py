"""Trigonometric and hyperbolic functions."""

import cmath
import math

import numpy as np
import pytest
from numeric import call, check_gradient, ops_of, present

from byparts_graph_ir import Op
from byparts_opset.trigonometric import Acosh, acos, acosh, asin, asinh, atan, atanh, sinh, tan

X = np.array([-0.7, 0.0, 0.3])
OPS = [op() for op in ops_of("trigonometric", "hyperbolic")]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_values_are_those_of_the_complex_functions(op: Op) -> None:
    """Another implementation of the same mathematics: Python's `cmath`."""
    x = X + 2 if isinstance(op, Acosh) else X
    expected = [getattr(cmath, op.name)(v).real for v in x]

    np.testing.assert_allclose(expected, call(op, x), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_gradients(op: Op) -> None:
    """Of each op, on static, symbolic and unknown shapes."""
    check_gradient(op, X + 2 if isinstance(op, Acosh) else X, unranked=True)


@pytest.mark.parametrize("op", [sinh, asinh, atanh, tan, asin, atan], ids=lambda op: op.name)
def test_decompositions_keep_small_numbers(op: Op) -> None:
    """Odd functions are x near 0, to the last digits: nothing cancels."""
    x = np.array([1e-30, -1e-9, 1e-5])
    y = call(lambda v: present(op.decompose(v))[0], x)

    np.testing.assert_allclose(op.evaluate(x)[0], y, rtol=1e-14)


def test_decompositions_are_exact_at_the_edge_of_the_domain() -> None:
    """acos and acosh of what is nearly 1."""
    near = np.array([1 - 1e-12, 1.0])

    expected = [math.acos(v) for v in near]
    np.testing.assert_allclose(
        expected, call(lambda v: present(acos.decompose(v))[0], near), rtol=1e-12
    )
    expected = [math.acosh(v) for v in 2 - near]
    np.testing.assert_allclose(
        expected, call(lambda v: present(acosh.decompose(v))[0], 2 - near), rtol=1e-12
    )
