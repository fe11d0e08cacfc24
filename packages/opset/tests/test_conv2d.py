"""Convolution against seven loops, its gradients against differences, its shapes against NNVM's."""

from inspect import signature
from itertools import product
from typing import Any

import numpy as np
import pytest
from numeric import Array, call, check_gradient, ops_of, present, run

from byparts_graph_ir import (
    Dimension,
    Graph,
    Input,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    dimension,
)
from byparts_opset.conv2d import (
    Conv2d,
    Conv2dFilterGradient,
    Conv2dInputGradient,
    Conv2dTranspose,
    conv2d,
)
from byparts_opset.conv2d_transpose import conv2d_transpose
from byparts_opset.window import Pair, pads

RANDOM = np.random.default_rng(0)
SAMPLES = [s for op in ops_of("conv2d") for s in op.samples()]


def f32(*shape: Dimension) -> Input:
    return Input(TensorType("f32", shape))


def seven_loops(op: Conv2d, x: Array, w: Array, counts: Pair, front: Pair) -> Array:
    """NCHW and OIHW; `front` is the padding at the top and at the left."""
    n, _, height, width = x.shape
    o, i, kh, kw = w.shape
    y = np.zeros((n, o, *counts), x.dtype)
    for b, f, p, q, c, u, v in product(*map(range, (n, o, *counts, i, kh, kw))):
        row = p * op.strides[0] + u * op.dilations[0] - front[0]
        column = q * op.strides[1] + v * op.dilations[1] - front[1]
        if 0 <= row < height and 0 <= column < width:
            y[b, f, p, q] += x[b, f // (o // op.groups) * i + c, row, column] * w[f, c, u, v]
    return y


@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("padding", ["VALID", "SAME", ((1, 0), (0, 2))])
@pytest.mark.parametrize(("dilations", "groups"), [((1, 1), 1), ((2, 1), 1), ((1, 2), 2)])
def test_convolution_is_seven_loops(
    strides: Pair, padding: str | tuple[Pair, Pair], dilations: Pair, groups: int
) -> None:
    """For strides beyond the kernel, odd padding, dilation and groups; in both layouts."""
    x, w = RANDOM.normal(size=(2, 4, 6, 5)), RANDOM.normal(size=(4, 4 // groups, 3, 2))
    op = Conv2d(strides, padding, dilations, groups)
    (y,) = op.evaluate(x, w)
    top, left = (
        pads(padding if isinstance(padding, str) else padding[a], e, (k - 1) * d + 1, s)[0]
        for a, (e, k, d, s) in enumerate(zip((6, 5), (3, 2), dilations, strides, strict=True))
    )
    expected = seven_loops(op, x, w, y.shape[2:], (top, left))

    np.testing.assert_allclose(expected, y, atol=1e-12)
    nhwc = Conv2d(strides, padding, dilations, groups, "NHWC")
    (y,) = nhwc.evaluate(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0))
    np.testing.assert_allclose(expected, y.transpose(0, 3, 1, 2), atol=1e-12)


def test_same_is_tensorflows() -> None:
    """The odd element of padding is behind; an even extent under stride 2 gets just one."""
    x, w = np.arange(1.0, 5).reshape(1, 1, 1, 4), np.ones((1, 1, 1, 2))

    y = call(lambda x, w: conv2d(x, w, padding="same"), x, w)
    np.testing.assert_array_equal([1 + 2, 2 + 3, 3 + 4, 4], y[0, 0, 0])
    assert [pads("SAME", *a) for a in ((4, 3, 2), (5, 3, 2), (6, 2, 3))] == [(0, 1), (1, 1), (0, 0)]


def test_negative_padding_crops() -> None:
    """As if x had been sliced first."""
    x, w = RANDOM.normal(size=(1, 2, 6, 6)), RANDOM.normal(size=(1, 2, 2, 2))
    y = call(lambda x, w: conv2d(x, w, padding=((-1, 0), (0, -2))), x, w)

    np.testing.assert_allclose(call(conv2d, x[:, :, 1:, :-2], w), y)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_gradients(sample: Sample) -> None:
    """Of all four ops, each being the gradient of the others; on symbolic and unknown shapes too."""
    arrays = [RANDOM.normal(size=t.dims) for t in sample.types]

    check_gradient(sample.op, *arrays, unranked=True, atol=1e-6)


@pytest.mark.parametrize("sample", list(Conv2d.samples()), ids=str)
def test_input_gradient_is_the_adjoint(sample: Sample) -> None:
    """<dy, conv(x)> = <transpose(dy), x>, and the static form of the op says the same."""
    x, w = (RANDOM.normal(size=t.dims) for t in sample.types)
    (y,) = sample.op.evaluate(x, w)
    dy = RANDOM.normal(size=y.shape)
    back = Conv2dInputGradient(*vars(sample.op).values())
    (dx,) = back.evaluate(dy, w, x)

    np.testing.assert_allclose((dy * y).sum(), (dx * x).sum())
    inputs = [Input(TensorType("f64", a.shape)) for a in (dy, w, x)]
    graph = Graph.of(inputs, present(back.canonical(Node(back, tuple(inputs)))))
    (found,) = run(graph, dy, w, x)

    assert [Conv2dTranspose] == [type(n.op) for n in graph.nodes]
    np.testing.assert_allclose(dx, found)


def test_static_programs_hold_no_like_of_images() -> None:
    """Where the extents are known, x is no input of its own gradient; the batch may be unknown."""
    y = conv2d(f32("n", 3, 8, 8), f32(4, 3, 3, 3), padding="SAME", strides=2)
    node = present(y.node)
    dx = present(node.op.gradient(node, Input(y.type))[0])

    assert isinstance(present(dx.node).op, Conv2dTranspose)
    assert str(dx.type) == "f32[n,3,8,8]"


@pytest.mark.parametrize(
    ("x", "w", "y", "attributes"),
    [
        ((4, 10, 10, 12), (12, 10, 3, 3), (4, 12, 10, 12), {"padding": 1}),
        ((4, 10, 10, 12), (12, 10, 3, 3), (4, 12, 8, 10), {"padding": 1, "dilations": 2}),
        ((4, 10, 12, 4), (3, 5, 4, 5), (4, 8, 8, 5), {"layout": "NHWC"}),
        (
            (4, 10, 12, 4),
            (3, 3, 4, 5),
            (4, 5, 6, 5),
            {"layout": "NHWC", "padding": 1, "strides": 2},
        ),
        (
            (4, 10, 12, 4),
            (3, 3, 1, 4),
            (4, 10, 12, 4),
            {"layout": "NHWC", "padding": "SAME", "groups": 4},
        ),
    ],
)
def test_nn_inf_conv_shapes_and_what_they_say_of_the_filter(
    x: tuple[int, ...], w: tuple[int, ...], y: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    """NN-INF-conv.  Backwards, the channels of a filter come from x and y."""
    result = conv2d(f32(*x), f32(*w), **attributes)
    assert result.node is not None
    assert y == result.type.shape

    channels = (2, 3) if "layout" in attributes else (1, 0)
    unknown = tuple(None if axis in channels else d for axis, d in enumerate(w))
    types = (TensorType("f32", x), TensorType("f32", unknown))
    assert w == result.node.op.infer_inputs(types, (result.type,))[1].shape


@pytest.mark.parametrize(
    ("x", "w", "y", "attributes"),
    [
        ((4, 10, 10, 12), (10, 15, 3, 3), (4, 15, 10, 12), {"padding": 1}),
        ((4, 10, 10, 12), (10, 15, 3, 5), (4, 15, 10, 14), {"padding": 1}),
        ((4, 10, 10, 12), (10, 15, 3, 5), (4, 15, 11, 15), {"padding": 1, "output_padding": 1}),
        ((4, 10, 10, 12), (5, 5, 11, 12), (4, 15, 15, 11), {"output_padding": 1, "layout": "NHWC"}),
        ((1, 2, 3, 4), (2, 5, 3, 3), (1, 5, 6, 8), {"padding": "SAME", "strides": 2}),
        ((1, 2, 3, 4), (2, 5, 1, 1), (1, 5, 9, 12), {"padding": "SAME", "strides": 3}),
        (
            (1, 2, 3, 4),
            (2, 5, 3, 3),
            (1, 5, 5, 7),
            {"padding": "SAME", "strides": 2, "output_shape": (5, 7)},
        ),
        (("n", 2, "h", 4), (2, 5, 3, 3), ("n", 5, "h", 4), {"padding": "SAME"}),
    ],
)
def test_nn_inf_convt_shapes(
    x: tuple[Dimension, ...],
    w: tuple[int, ...],
    y: tuple[Dimension, ...],
    attributes: dict[str, Any],
) -> None:
    """NN-INF-convT, and TensorFlow's "SAME": the extents of x times the strides, or as asked."""
    assert y == conv2d_transpose(f32(*x), f32(*w), **attributes).type.shape


def test_output_padding_adds_rows_that_only_a_longer_image_has() -> None:
    """They hold what the filter reaches there; without padding nothing does."""
    x, w = np.ones((1, 1, 1, 2)), np.arange(1.0, 4).reshape(1, 1, 1, 3)

    plain = call(lambda x, w: conv2d_transpose(x, w, strides=2), x, w)
    np.testing.assert_array_equal([1, 2, 3 + 1, 2, 3], plain[0, 0, 0])
    padded = call(
        lambda x, w: conv2d_transpose(
            x, w, strides=2, padding=((0, 0), (1, 1)), output_padding=(0, 1)
        ),
        x,
        w,
    )
    np.testing.assert_array_equal([2, 4, 2, 3], padded[0, 0, 0])
    longer = call(lambda x, w: conv2d_transpose(x, w, strides=2, output_padding=(0, 1)), x, w)
    np.testing.assert_array_equal([1, 2, 4, 2, 3, 0], longer[0, 0, 0])


def test_declared_defaults_are_the_functions_defaults() -> None:
    """TinyFlow declared "SAME" for the op and "VALID" for its wrapper (T17)."""
    given = signature(conv2d).parameters
    for name, value in vars(Conv2d()).items():
        assert given[name].default == value


def test_unknown_extents_and_ranks_are_no_error() -> None:
    """A symbol stays under "SAME" and stride 1; the rank of y is known even if no other is."""
    assert (
        str(conv2d(f32("n", 3, "h", None), f32(4, 3, 3, 3), padding="SAME").type) == "f32[n,4,h,?]"
    )
    assert str(conv2d(f32("n", 3, "h", 8), f32(4, None, None, 3)).type) == "f32[n,4,?,6]"
    assert (
        str(conv2d(Input(TensorType("f32", None)), Input(TensorType("f32", None))).type)
        == "f32[?,?,?,?]"
    )


@pytest.mark.parametrize(
    ("kernel", "options", "extent"),
    [
        (2, {}, "2*h"),
        (3, {"padding": ((1, 1), (1, 1))}, "2*h-1"),
        (3, {"padding": ((1, 1), (1, 1)), "output_padding": 1}, "2*h"),
        (3, {"padding": "SAME"}, "2*h"),
        (2, {"dilations": 3}, "2*h+2"),
    ],
)
def test_extents_of_a_transposed_convolution_of_names(
    kernel: int, options: dict[str, Any], extent: str
) -> None:
    """They are those of numbers, with numbers in the place of the names."""
    w = f32(3, 4, kernel, kernel)
    y = conv2d_transpose(f32("n", 3, "h", 8), w, 2, **options)

    n, channels, height, width = y.type.shape or ()
    assert (n, channels, height) == ("n", 4, extent)
    for h in (1, 2, 7):
        sized = conv2d_transpose(f32(2, 3, h, 8), w, 2, **options).type
        assert sized.dims == (2, 4, dimension(extent, {"h": h}), width)


@pytest.mark.parametrize("op", [Conv2dInputGradient, Conv2dFilterGradient])
def test_likes_are_never_read(op: type[Op]) -> None:
    """Only the type of the last input matters, and says so."""
    assert op.ignores == (2,)
    sample = next(iter(op.samples()))
    first, second, like = (RANDOM.normal(size=t.dims) for t in sample.types)

    poisoned = np.full_like(like, np.nan)
    np.testing.assert_array_equal(
        *sample.op.evaluate(first, second, like), *sample.op.evaluate(first, second, poisoned)
    )


def test_integers_keep_their_dtype() -> None:
    """And wrap around: 4 * 64 is 0 as i8."""
    y = call(conv2d, np.full((1, 1, 2, 2), 64, np.int8), np.ones((1, 1, 2, 2), np.int8))

    assert np.int8 == y.dtype
    assert y[0, 0, 0, 0] == 0


@pytest.mark.parametrize(
    ("x", "w", "attributes", "message"),
    [
        (
            (2, 3, 8, 8),
            (4, 2, 3, 3),
            {},
            r"channels differ: x is f32\[2,3,8,8\] with 3, the filter is f32\[4,2,3,3\] for 2",
        ),
        ((2, 4, 8, 8), (3, 2, 3, 3), {"groups": 2}, "3 filters do not split into 2 groups"),
        (
            (2, 3, 4, 8),
            (4, 3, 5, 3),
            {},
            r"a window that spans 5 does not fit into 4 elements with padding \(0, 0\)",
        ),
        ((3, 8, 8), (4, 3, 3, 3), {}, r"x is f32\[3,8,8\] of rank 3; NCHW has 4 axes"),
        ((2, 3, 8, 8), (3, 3), {}, r"the filter is f32\[3,3\]; OIHW has 4 axes"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": "HALF"}, "padding 'HALF' is neither"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"layout": "CHWN"}, "layout 'CHWN' is neither"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"strides": (0, 1)}, r"strides \(0, 1\) is no"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"groups": 0}, "groups 0 is no count"),
    ],
)
def test_what_does_not_fit_is_named(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, Any], message: str
) -> None:
    """With the shapes and the attribute."""
    with pytest.raises(ShapeError, match=message):
        conv2d(f32(*x), f32(*w), **attributes)


def test_a_transposed_convolution_of_nothing_is_nothing() -> None:
    """Steps longer than the filter: (0 - 1) 2 + 1 elements and one of padding are none."""
    op = Conv2dTranspose((2, 2), ((0, -1), (0, -1)))

    (y,) = op.evaluate(np.zeros((1, 3, 0, 2), np.float32), np.zeros((3, 4, 1, 1), np.float32))

    assert y.shape == (1, 4, 0, 4)


def test_a_transposed_convolution_needs_numbers() -> None:
    """The op refuses "SAME"; the function refuses a shape that no x would have given."""
    with pytest.raises(ShapeError, match="'SAME' fits several extents of y; the function"):
        Conv2dTranspose(padding="SAME")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="output_shape 9 along axis 0 would come of 4 elements"):
        conv2d_transpose(f32(1, 2, 3, 4), f32(2, 5, 3, 3), 2, output_shape=(9, 9))
