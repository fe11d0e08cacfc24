import math

import numpy as np
import pytest
from numeric import call, check_gradient, ops_of, slopes

from byparts_graph_ir import Input, Op, ShapeError, TensorType
from byparts_opset.unary import Abs, Neg, Sign, Square, exp, log, neg, reciprocal, rsqrt, sqrt

X = np.array([0.6, 1.25, 2.25], np.float64)  # where rounding does not jump


@pytest.mark.parametrize("op", [op() for op in ops_of("unary")], ids=lambda op: op.name)
def test_gradients(op: Op) -> None:
    """Of each op, on static, symbolic and unknown shapes."""
    check_gradient(op, X, unranked=True)


@pytest.mark.parametrize(
    ("op", "formula"),
    [(reciprocal, lambda x: x**-1.0), (rsqrt, lambda x: x**-0.5), (sqrt, lambda x: x**0.5)],
)
def test_values_of_powers(op: Op, formula: object) -> None:
    """Against Python's own powers."""
    np.testing.assert_allclose([formula(x) for x in X], call(op, X), rtol=1e-15)  # type: ignore[operator]


def test_edges_of_floats() -> None:
    """inf and nan as IEEE has them, and no warning."""
    x = np.array([-1.0, 0.0, 800.0])

    np.testing.assert_array_equal([math.nan, -math.inf, math.log(800)], call(log, x))
    np.testing.assert_allclose([math.exp(-1), 1.0, math.inf], call(exp, x), rtol=1e-15)
    np.testing.assert_array_equal([-1.0, math.inf, 1 / 800], call(reciprocal, x))


def test_gradient_of_abs_at_zero_is_zero() -> None:
    """It is the sign."""
    (dx,) = slopes(Abs(), np.array([-2.0, 0.0, 3.0]))

    np.testing.assert_array_equal([-1, 0, 1], dx)


@pytest.mark.parametrize("op", [Neg(), Abs(), Sign(), Square()], ids=lambda op: op.name)
def test_integers_keep_their_dtype(op: Op) -> None:
    """Also the narrow ones."""
    (y,) = op.evaluate(np.array([-3, 2], np.int8))

    assert np.int8 == y.dtype


def test_integers_have_no_roots() -> None:
    """An error that says what to do."""
    with pytest.raises(
        ShapeError, match=r"^sqrt: takes floats, got i32\[2\]; cast\(x, 'f32'\) first"
    ):
        sqrt(Input(TensorType("i32", (2,))))


def test_bools_have_no_arithmetic() -> None:
    """Also where the rank is unknown."""
    with pytest.raises(ShapeError, match=r"^neg: bool has no arithmetic, got bool\[\.\.\.\]"):
        neg(Input(TensorType("bool", None)))


@pytest.mark.parametrize("shape", [(), (0, 2), ("n", None), None])
def test_shapes_pass_both_ways(shape: tuple[int, ...] | None) -> None:
    """What is known of y is known of x."""
    x, unknown = TensorType("f32", shape), TensorType("f32", None)

    assert (x,) == neg.infer_unranked(x)
    assert (x,) == neg.infer_inputs((unknown,), (x,))
