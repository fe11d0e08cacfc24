import math

import numpy as np
import pytest
from numeric import call, check_gradient, slopes

from byparts_graph_ir import Input, ShapeError, TensorType
from byparts_opset.select import Clip, Select, clip, select

C = np.array([[True], [False]])
X, Y = np.array([1.0, 2.0, 3.0]), np.array([[10.0], [20.0]])


def test_select_broadcasts_all_three() -> None:
    """A column of conditions, a row, a column."""
    np.testing.assert_array_equal([[1, 2, 3], [20, 20, 20]], call(select, C, X, Y))


def test_select_does_not_touch_what_it_leaves() -> None:
    """A nan on the other side stays there, in values and gradients."""
    x = np.array([math.nan, 1.0])
    _, dx, dy = slopes(Select(), np.array([False, True]), x, np.zeros(2))

    np.testing.assert_array_equal([0, 1], call(select, np.array([False, True]), x, np.zeros(2)))
    np.testing.assert_array_equal([[0, 1], [1, 0]], [dx, dy])


def test_gradients() -> None:
    """Of select and clip, on static, symbolic and unknown shapes."""
    check_gradient(Select(), C, X, Y, unranked=True)
    check_gradient(Clip(1.5, 2.5), X, unranked=True)


def test_select_wants_a_condition() -> None:
    """A number is none."""
    x = Input(TensorType("f32", (2,)))
    with pytest.raises(ShapeError, match=r"select: the condition is f32\[2\], no bool"):
        select(x, x, x)


def test_clip_keeps_its_bounds_and_nan() -> None:
    """The gradient passes on a bound, and not beyond."""
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, math.nan])
    (dx,) = slopes(Clip(0.0, 1.0), x)

    np.testing.assert_array_equal([0, 0, 0.5, 1, 1, math.nan], Clip(0.0, 1.0).evaluate(x)[0])
    np.testing.assert_array_equal([0, 1, 1, 1, 0, 0], dx)


def test_a_strict_clip_has_no_gradient_on_its_bounds() -> None:
    """As torch's hardtanh; none at nan either."""
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, math.nan])
    (dx,) = slopes(Clip(0.0, 1.0, strict=True), x)

    np.testing.assert_array_equal([0, 0, 0.5, 1, 1, math.nan], Clip(0.0, 1.0, True).evaluate(x)[0])
    np.testing.assert_array_equal([0, 0, 1, 0, 0, 0], dx)


def test_clip_wants_bounds_in_order_and_in_the_dtype() -> None:
    """Not 1 to 0, and not 0.5 for integers."""
    with pytest.raises(ShapeError, match=r"clip: low is 1\.0 and high is 0\.0; low comes first"):
        Clip(1.0, 0.0)
    with pytest.raises(ShapeError, match=r"0\.5 is no i32"):
        clip(Input(TensorType("i32", (2,))), 0.5, 2.0)
