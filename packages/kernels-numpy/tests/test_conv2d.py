"""Kernels of convolution against what the ops mean: every algorithm, every cut into chunks."""

from collections.abc import Iterator

import bound
import numpy as np
import pytest
from bound import BACKEND, Array, bound as bind, kernel, node_on, peak_bytes, spread

from byparts_graph_ir import Input, Node, Op, Sample, TensorType
from byparts_kernels_numpy import make, patches
from byparts_kernels_numpy.table import allocates
from byparts_opset.conv2d import Conv2d, Conv2dFilterGradient, Conv2dInputGradient, Conv2dTranspose
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.window import Padding, Pair

RANDOM = np.random.default_rng(0)
PRECISION = {"f64": 1e-12, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2, "i32": 0, "i8": 0}
KERNELS = (Conv2d, Conv2dTranspose, Conv2dFilterGradient)
SAMPLES = [s for op in KERNELS for s in op.samples()]

Attributes = tuple[Pair, Padding, Pair, int]
Extents = tuple[int, ...]

# (strides, padding, dilations, groups), images NCHW, filter OIHW: many channels and few, with
# rows of a large image cut, 1x1 with and without strides, groups, padding past the kernel, cropping.
LARGER: tuple[tuple[Attributes, Extents, Extents], ...] = (
    (((1, 1), "SAME", (1, 1), 1), (5, 16, 9, 8), (12, 16, 3, 3)),
    (((2, 2), "SAME", (1, 1), 1), (5, 16, 9, 8), (12, 16, 3, 3)),
    (((1, 1), "VALID", (1, 1), 1), (3, 9, 12, 12), (10, 9, 5, 5)),
    (((1, 1), "VALID", (1, 1), 1), (7, 1, 12, 12), (4, 1, 5, 5)),
    (((1, 1), "SAME", (1, 1), 2), (3, 32, 9, 8), (20, 16, 3, 3)),
    (((1, 1), "VALID", (1, 1), 1), (3, 32, 8, 9), (20, 32, 1, 1)),
    (((2, 1), "VALID", (1, 1), 1), (3, 32, 9, 8), (20, 32, 1, 1)),
    (((1, 1), "SAME", (2, 2), 2), (2, 32, 30, 40), (20, 16, 3, 3)),
    (((2, 2), "SAME", (1, 1), 8), (2, 8, 30, 30), (16, 1, 3, 3)),
    (((1, 1), ((4, 5), (0, 7)), (1, 1), 1), (2, 9, 6, 6), (10, 9, 3, 3)),
    (((1, 2), ((-2, 3), (1, -3)), (2, 1), 1), (2, 2, 40, 50), (10, 2, 3, 4)),
    (((1, 2), ((-2, 3), (1, -3)), (2, 1), 1), (2, 20, 40, 50), (10, 20, 3, 4)),
)


def cases() -> Iterator[Sample]:
    """The three ops on all of `LARGER`, in both layouts."""
    for attributes, x, w in LARGER:
        for layout in ("NCHW", "NHWC"):
            op = Conv2d(*attributes, layout)
            if layout == "NHWC":
                x, w = tuple(x[a] for a in (0, 2, 3, 1)), tuple(w[a] for a in (2, 3, 1, 0))
            images, filter = TensorType("f32", x), TensorType("f32", w)
            (pixels,) = op.infer(images, filter)
            yield Sample(op, (images, filter))
            yield Sample(Conv2dFilterGradient(*vars(op).values()), (images, pixels, filter))
            yield Sample(transposed(op, pixels, filter, images), (pixels, filter))


def arrays(sample: Sample, dtype: str) -> list[Array]:
    return [(RANDOM.normal(size=t.dims) * 3).astype(numpy_dtype(dtype)) for t in sample.types]


def transposed(op: Conv2d, *types: TensorType) -> Op:
    """What runs on static shapes in place of the gradient of x."""
    node = Node(Conv2dInputGradient(*vars(op).values()), tuple(Input(t) for t in types))
    (y,) = node.op.canonical(node) or ()
    assert y.node is not None
    return y.node.op


def assert_kernel_is_evaluate(op: Op, given: list[Array], precision: float) -> None:
    """The kernel and the op's meaning differ by rounding of a sum of these terms only."""
    (expected,), (found,) = op.evaluate(*given), kernel(op, *given)
    assert expected.dtype == found.dtype
    wide = expected.astype(np.float64)
    scale = np.abs(wide).max(initial=1)
    np.testing.assert_allclose(
        wide, found.astype(np.float64), rtol=precision, atol=precision * scale
    )


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_kernels_compute_what_ops_mean(sample: Sample, dtype: str) -> None:
    """On contiguous arrays and on arrays with gaps."""
    given = arrays(sample, dtype)

    assert_kernel_is_evaluate(sample.op, given, PRECISION[dtype])
    assert_kernel_is_evaluate(sample.op, [spread(a) for a in given], PRECISION[dtype])


@pytest.mark.parametrize("patch_bytes", [1 << 19, 1 << 12])
@pytest.mark.parametrize("sample", list(cases()), ids=str)
def test_every_algorithm_on_every_cut(
    sample: Sample, patch_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole batches at once, and a few rows of one image at a time."""
    monkeypatch.setattr(patches, "PATCH_BYTES", patch_bytes)
    monkeypatch.setattr(bound, "BACKEND", make())  # one that has compiled nothing yet

    assert_kernel_is_evaluate(sample.op, arrays(sample, "f32"), 1e-5)


@pytest.mark.parametrize("channels", [2, 9])
def test_a_second_run_starts_anew(channels: int) -> None:
    """The workspace keeps nothing of the run before: sums and borders are cleared."""
    op = Conv2dTranspose((2, 2), ((1, 0), (1, -2)))
    given = [RANDOM.normal(size=(2, 16, 5, 5)), RANDOM.normal(size=(16, channels, 3, 3))]
    node = node_on(op, *given)
    y = np.empty(node.outputs[0].type.dims)
    run = BACKEND.bind(node, given, [y])
    run()
    first = y.copy()
    y.fill(np.nan)
    run()

    np.testing.assert_array_equal(first, y)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_runs_allocate_no_array(layout: str) -> None:
    """Forward and backward of a layer of a residual network, of 32 images."""
    x, w = np.ones((32, 16, 16, 16), np.float32), np.ones((16, 16, 3, 3), np.float32)
    if layout == "NHWC":
        w = np.ones((3, 3, 16, 16), np.float32)
    op = Conv2d((1, 1), "SAME", layout=layout)
    attributes = vars(op).values()

    assert peak_bytes(bind(op, x, w)) < 2000
    assert peak_bytes(bind(Conv2dFilterGradient(*attributes), x, x, w)) < 2000
    assert peak_bytes(bind(Conv2dTranspose((1, 1), ((1, 1), (1, 1)), layout=layout), x, w)) < 2000


def test_adding_to_strided_images_takes_buffers_only() -> None:
    """Three of 8192 elements, however large the images: `allocates` says so."""
    x, w = np.ones((32, 16, 16, 16), np.float32), np.ones((16, 16, 3, 3), np.float32)

    assert Conv2dTranspose in allocates
    assert peak_bytes(bind(Conv2dTranspose((2, 2)), x, w)) < 3 * 8192 * 4 + 8000
