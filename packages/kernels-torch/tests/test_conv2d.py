"""Convolution: every way of computing it gives what the ops mean, and shapes choose the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from torch_kernel import Bound, kernel

from byparts_graph_ir import Input, Node, Op, Sample, TensorType
from byparts_opset.conv2d import Conv2d, Conv2dFilterGradient, Conv2dInputGradient

torch = pytest.importorskip("torch", reason="needs torch")
conv2d_choice = pytest.importorskip("byparts_kernels_torch.conv2d_choice", reason="needs torch")
patches = pytest.importorskip("byparts_kernels_torch.patches", reason="needs torch")

RANDOM = np.random.default_rng(0)

Attributes = tuple[Any, Any, Any, int]

# (strides, padding, dilations, groups), images NCHW, filter OIHW.
LARGER: tuple[tuple[Attributes, tuple[int, ...], tuple[int, ...]], ...] = (
    (((1, 1), "VALID", (1, 1), 1), (7, 1, 12, 12), (4, 1, 5, 5)),
    (((1, 1), "SAME", (1, 1), 1), (3, 20, 9, 8), (6, 20, 2, 2)),
    (((2, 2), "SAME", (1, 1), 1), (3, 16, 9, 8), (6, 16, 3, 3)),
    (((2, 1), "SAME", (2, 1), 2), (2, 8, 9, 8), (6, 4, 3, 3)),
    (((1, 1), "VALID", (1, 1), 1), (3, 32, 8, 9), (20, 32, 1, 1)),
    (((2, 3), "VALID", (1, 1), 1), (3, 32, 9, 8), (20, 32, 1, 1)),
    (((1, 1), ((-1, 0), (0, -2)), (1, 1), 1), (3, 5, 9, 8), (4, 5, 1, 1)),
    (((1, 1), ((4, 5), (0, 7)), (1, 1), 1), (2, 9, 6, 6), (4, 9, 3, 3)),
    (((1, 2), ((-2, 3), (1, -3)), (2, 1), 1), (2, 2, 20, 20), (4, 2, 3, 4)),
    (((1, 2), ((-2, 3), (1, -3)), (2, 1), 1), (2, 20, 20, 20), (4, 20, 3, 4)),
    (((3, 2), ((0, -1), (0, -1)), (1, 1), 1), (2, 6, 11, 10), (4, 6, 2, 3)),
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


def transposed(op: Conv2d, *types: TensorType) -> Op:
    """What runs on static shapes in place of the gradient of x."""
    node = Node(Conv2dInputGradient(*vars(op).values()), tuple(Input(t) for t in types))
    (y,) = node.op.canonical(node) or ()
    assert y.node is not None
    return y.node.op


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 1 << 10])
@pytest.mark.parametrize("sample", list(cases()), ids=str)
def test_kernels_compute_what_ops_mean(
    sample: Sample, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images of one chunk, and one image at a time."""
    monkeypatch.setattr(patches, "CHUNK_BYTES", chunk_bytes)
    given = [RANDOM.normal(size=t.dims).astype(np.float32) for t in sample.types]

    (expected,), (found,) = sample.op.evaluate(*given), kernel(sample.op, *given)

    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("sample", [s for s in cases() if s.types[0].dims[0] < 3], ids=str)
def test_integers_are_exact(sample: Sample) -> None:
    """torch convolves no integers; patches do, and wrap around."""
    given = [RANDOM.integers(-9, 9, t.dims).astype(np.int8) for t in sample.types]

    np.testing.assert_array_equal(kernel(sample.op, *given), sample.op.evaluate(*given))


def test_shapes_choose_the_way() -> None:
    """The rows of the table in `conv2d.py`: y, dx and dw."""
    assert ways((100, 1, 28, 28), (20, 1, 5, 5)) == ("patches", "patches", "torch")
    assert ways((100, 20, 12, 12), (50, 20, 5, 5)) == ("channels last", "torch", "channels last")
    assert ways((32, 64, 32, 32), (64, 64, 3, 3), "SAME") == ("torch", "torch", "torch")
    assert ways((32, 64, 32, 32), (128, 64, 1, 1)) == ("product", "product", "product")


def test_integers_and_other_devices_choose_too() -> None:
    """Integers are patches anywhere; a GPU has its own library."""
    assert ways((2, 64, 8, 8), (4, 64, 3, 3), dtype=torch.int32) == ("patches",) * 3
    assert ways((2, 20, 8, 8), (4, 20, 1, 1), device="meta") == ("torch",) * 3


def ways(
    x: tuple[int, ...],
    w: tuple[int, ...],
    padding: str = "VALID",
    dtype: Any = torch.float32,
    device: str = "cpu",
) -> tuple[str, ...]:
    images = torch.empty(x, dtype=dtype, device=device)
    g = patches.geometry(Conv2d(padding=padding), images, torch.empty(w, device="meta"))
    by = conv2d_choice.forward_by, conv2d_choice.input_by, conv2d_choice.filter_by
    return tuple(choose(g, images) for choose in by)


@pytest.mark.parametrize(
    ("padding", "asked"),
    [
        (((1, 1), (0, 0)), (1, 0)),
        (((1, 0), (0, 0)), (1, 0)),
        (((0, 1), (0, 0)), None),
        (((0, -1), (0, 0)), (0, 0)),
        (((-1, -1), (0, 0)), None),
    ],
)
def test_torch_pads_what_it_can(padding: Any, asked: tuple[int, int] | None) -> None:
    """Alike on both sides, or so that what differs is in no window."""
    op, x = Conv2d((2, 2), padding), torch.empty(1, 4, 8, 8)

    assert patches.geometry(op, x, torch.empty(2, 4, 3, 3)).padding == asked


def test_a_second_run_starts_anew() -> None:
    """Sums in scratch memory are cleared, and so are frames."""
    sample = list(cases())[2]
    bound = Bound(sample.op, *(np.ones(t.dims, np.float32) for t in sample.types))
    bound.run()
    first = bound.outputs[0].copy()

    bound.run()

    np.testing.assert_array_equal(bound.outputs[0], first)
