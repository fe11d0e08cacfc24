"""Pooling against loops over windows, its gradients against differences."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numeric import Array, call, check_gradient, ops_of

from byparts_graph_ir import Dimension, Input, Sample, ShapeError, TensorType
from byparts_opset.pool import (
    AveragePool,
    MaxPool,
    MaxPoolGradient,
    MaxPoolGradientGradient,
    average_pool,
    global_average_pool,
    global_max_pool,
    max_pool,
)
from byparts_opset.window import Padding, Pair

RANDOM = np.random.default_rng(0)
SAMPLES = [
    s
    for op in ops_of("pool")
    for s in op.samples()
    if not issubclass(op, (MaxPoolGradient, MaxPoolGradientGradient))
]
MAXIMA = list(MaxPool.samples())
ODD: list[tuple[Pair, Pair, Padding]] = [
    ((2, 2), (2, 2), "VALID"),
    ((3, 2), (1, 2), "SAME"),
    ((3, 3), (2, 2), ((1, 2), (0, 1))),
]


def f32(*shape: Dimension) -> Input:
    return Input(TensorType("f32", shape))


def under(x: Array, op: MaxPool | AveragePool, p: int, q: int) -> Array:
    """The elements of a padded image under one window, nan outside the image; VALID and numbers."""
    assert op.padding != "SAME"
    (top, _), (left, _) = ((0, 0), (0, 0)) if isinstance(op.padding, str) else op.padding
    seen = np.full(op.ksize, np.nan)
    for u, v in product(*map(range, op.ksize)):
        i, j = p * op.strides[0] + u - top, q * op.strides[1] + v - left
        if 0 <= i < x.shape[0] and 0 <= j < x.shape[1]:
            seen[u, v] = x[i, j]
    return seen


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("ksize", "strides", "padding"), [ODD[0], ODD[2]])
def test_pools_are_loops_over_windows(
    ksize: Pair, strides: Pair, padding: Padding, ceil_mode: bool
) -> None:
    """Padding takes no part in a maximum, nor in a mean unless it is counted."""
    x = RANDOM.normal(size=(1, 1, 7, 6))
    largest = MaxPool(ksize, strides, padding, ceil_mode=ceil_mode)
    mean = AveragePool(ksize, strides, padding, ceil_mode=ceil_mode)
    (y,), (z,) = largest.evaluate(x), mean.evaluate(x)

    for p, q in np.ndindex(y.shape[2:]):
        assert np.nanmax(under(x[0, 0], largest, p, q)) == y[0, 0, p, q]
        np.testing.assert_allclose(np.nanmean(under(x[0, 0], mean, p, q)), z[0, 0, p, q])


def test_counted_padding_is_zeros_but_what_sticks_out_is_not_counted() -> None:
    """Ones, 3 wide, padded by 1 at the left: of the windows 0 1 | 1 1 the first has a mean of 1/2.

    With ceil_mode the last window of two has one element, and its mean is that element.
    """
    ones = np.ones((1, 1, 1, 3))
    counted = call(
        lambda x: average_pool(x, (1, 2), padding=((0, 0), (1, 0)), count_include_pad=True), ones
    )
    np.testing.assert_array_equal([0.5, 1], counted[0, 0, 0])
    out = call(lambda x: average_pool(x, (1, 2), ceil_mode=True, count_include_pad=True), ones)
    np.testing.assert_array_equal([1, 1], out[0, 0, 0])


@pytest.mark.parametrize(("ksize", "strides", "padding"), ODD)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_n5_layouts_agree(ksize: Pair, strides: Pair, padding: Padding, ceil_mode: bool) -> None:
    """On an image that is not square, with ceil_mode too (NNVM took the width of NHWC wrong: N5)."""
    x = RANDOM.normal(size=(2, 3, 9, 6))
    for op in (MaxPool, AveragePool):
        (y,) = op(ksize, strides, padding, "NCHW", ceil_mode).evaluate(x)
        (z,) = op(ksize, strides, padding, "NHWC", ceil_mode).evaluate(x.transpose(0, 2, 3, 1))
        np.testing.assert_array_equal(y, z.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_gradients(sample: Sample) -> None:
    """Of maxima and means, and of the gradient of a mean; on symbolic and unknown shapes too."""
    arrays = [RANDOM.permutation(t.size).reshape(t.dims) / 7 for t in sample.types]

    check_gradient(sample.op, *arrays, unranked=True)


@pytest.mark.parametrize("sample", MAXIMA, ids=str)
def test_gradients_of_the_gradient_of_a_maximum(sample: Sample) -> None:
    """Both are linear in their last input; x and y only choose, which has no gradient."""
    op = sample.op
    x = RANDOM.permutation(sample.types[0].size).reshape(sample.types[0].dims) / 7
    (y,) = op.evaluate(x)

    attributes = vars(op).values()
    check_gradient(MaxPoolGradient(*attributes), x, y, RANDOM.normal(size=y.shape), unranked=True)
    check_gradient(
        MaxPoolGradientGradient(*attributes), x, y, RANDOM.normal(size=x.shape), unranked=True
    )


def test_the_first_of_equal_maxima_gets_all() -> None:
    """Row by row within the window; an infinite dy leaves the others 0."""
    x, dy = np.array([[[[0.0, 5, 5], [5, 5, 1]]]]), np.array([[[[np.inf, 2.0]]]])
    op = MaxPool((2, 2), (1, 1))
    (y,) = op.evaluate(x)
    (dx,) = MaxPoolGradient((2, 2), (1, 1)).evaluate(x, y, dy)

    np.testing.assert_array_equal([[0, np.inf, 0], [0, 0, 0]], dx[0, 0])


def test_padding_is_never_the_maximum() -> None:
    """Also where all of the image is -inf, and of the smallest integers."""
    low = np.full((1, 1, 2, 2), -np.inf)
    op = MaxPool((2, 2), (2, 2), ((1, 1), (1, 1)))
    (y,) = op.evaluate(low)
    (dx,) = MaxPoolGradient((2, 2), (2, 2), ((1, 1), (1, 1))).evaluate(low, y, np.ones_like(y))

    np.testing.assert_array_equal(low, y)
    np.testing.assert_array_equal(np.ones_like(low), dx)
    np.testing.assert_array_equal(
        [[-128]], op.evaluate(np.full((1, 1, 1, 1), -128, np.int8))[0][0, 0]
    )


@pytest.mark.parametrize(
    ("x", "y", "attributes"),
    [
        ((4, 10, 12, 12), (4, 10, 12, 12), {"strides": 1, "padding": 1}),
        ((4, 10, 12, 12), (4, 10, 6, 6), {"strides": 2, "padding": 1}),
        ((4, 10, 12, 12), (4, 10, 7, 7), {"strides": 2, "padding": 1, "ceil_mode": True}),
        (
            (4, 12, 10, 10),
            (4, 7, 6, 10),
            {"strides": 2, "padding": 1, "ceil_mode": True, "layout": "NHWC"},
        ),
        ((4, 12, 9, 10), (4, 6, 5, 10), {"strides": 2, "padding": "SAME", "layout": "NHWC"}),
        (("n", 10, 9, "w"), ("n", 10, 3, "w//3"), {}),
    ],
)
def test_nn_inf_pool_shapes(
    x: tuple[Dimension, ...], y: tuple[Dimension, ...], attributes: dict[str, Any]
) -> None:
    """NN-INF-pool; windows lie side by side by default."""
    assert y == max_pool(f32(*x), 3, **attributes).type.shape
    assert y == average_pool(f32(*x), 3, **attributes).type.shape


def test_global_pools() -> None:
    """One number for each channel."""
    x = RANDOM.normal(size=(2, 3, 4, 5))

    np.testing.assert_array_equal(x.max((2, 3), keepdims=True), call(global_max_pool, x))
    np.testing.assert_allclose(
        x.mean((1, 2), keepdims=True), call(lambda v: global_average_pool(v, "NHWC"), x)
    )


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"padding": 2}, r"padding \(\(2, 2\), \(2, 2\)\) is not within 0 and ksize \(2, 2\)"),
        ({"ksize": (9, 1)}, "a window that spans 9 does not fit into 8 elements"),
        ({"strides": 0}, r"strides \(0, 0\) is no"),
        ({"layout": "NCWH"}, "layout 'NCWH' is neither"),
    ],
)
def test_what_does_not_fit_is_named(attributes: dict[str, Any], message: str) -> None:
    """With the numbers."""
    with pytest.raises(ShapeError, match=message):
        max_pool(f32(2, 3, 8, 8), **{"ksize": 2, **attributes})


def test_dtypes() -> None:
    """Integers have a maximum but no mean; bools have neither."""
    assert str(max_pool(Input(TensorType("i8", (1, 1, 4, 4))), 2).type) == "i8[1,1,2,2]"
    with pytest.raises(ShapeError, match="average_pool: takes floats, got i8"):
        average_pool(Input(TensorType("i8", (1, 1, 4, 4))), 2)
    with pytest.raises(ShapeError, match="max_pool: bool has no arithmetic"):
        max_pool(Input(TensorType("bool", (1, 1, 4, 4))), 2)
