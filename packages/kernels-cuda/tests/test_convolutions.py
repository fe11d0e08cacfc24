"""Convolutions as contractions: all samples of the ops, by the meaning of their statements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulation import assert_computes, assert_emulated, compiled, samples

import byparts_opset as ops
from byparts_gpu_ir.emit.emulated import MODES
from byparts_graph_ir import Refused, Sample, TensorType
from byparts_kernels_cuda.convolutions import convolution_launches
from byparts_kernels_cuda.phases import phases
from byparts_kernels_cuda.products.tiles import Tile
from byparts_opset.window import remade

TILE = Tile(16, 16, 4, 4, 2)  # of one warp
KINDS = (ops.Conv2d, ops.Conv2dTranspose, ops.Conv2dFilterGradient)
SAMPLES = [sample for kind in KINDS for sample in kind.samples()]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@pytest.mark.long
@compiled
def test_the_samples_are_emulated(sample: Sample) -> None:
    """Strides, dilations, cropping, groups, both layouts; no images at all."""
    launches = convolution_launches(sample.op, sample.types)  # type: ignore[arg-type]  # of KINDS

    assert_emulated(sample.op, launches, samples(sample.types), modes=MODES)


@pytest.mark.parametrize("sample", [*ops.Conv2d.samples()][1:3] + SAMPLES[-4:-2], ids=str)
def test_samples_are_computed(sample: Sample) -> None:
    launches = convolution_launches(sample.op, sample.types, (TILE, 1))  # type: ignore[arg-type]  # of KINDS

    assert_computes(sample.op, launches, samples(sample.types))


def _around(layout: str, kernel: int, dtype: str = "f32") -> tuple[ops.Conv2d, list[TensorType]]:
    """A convolution of whole vectors: (op, types of x, w, y)."""
    op = ops.Conv2d((1, 1), "SAME", (1, 1), 1, layout)
    x, w = ((2, 4, 2, 4), (8, 4, kernel, kernel))
    if layout == "NHWC":
        x, w = (2, 2, 4, 4), (kernel, kernel, 4, 8)
    types = [TensorType(dtype, x), TensorType(dtype, w)]
    return op, [*types, *op.infer(*types)]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("kernel", [1, 3])
@compiled
def test_vectors_are_read_where_channels_or_pixels_are_neighbours(layout: str, kernel: int) -> None:
    op, (x, w, y) = _around(layout, kernel)
    side = ((kernel // 2, kernel // 2),) * 2
    for one, types in (
        (op, [x, w]),
        (remade(ops.Conv2dFilterGradient, op), [x, y, w]),
        (remade(ops.Conv2dTranspose, op, padding=side), [y, w]),
    ):
        launches = convolution_launches(one, types)
        assert_emulated(one, launches, samples(types))
        assert "range(4):  # vectorize" in str(launches)


def test_a_long_sum_over_pixels_is_shared() -> None:
    op, (x, w, y) = _around("NCHW", 3)
    one = remade(ops.Conv2dFilterGradient, op)
    launches = convolution_launches(one, [x, y, w], (TILE, 3))

    assert len(launches.kernels) == 2
    assert_computes(one, launches, samples([x, y, w]))


def test_integers_are_convolved() -> None:
    op, types = _around("NCHW", 3, "i16")

    assert_computes(op, convolution_launches(op, types[:2], (TILE, 1)), samples(types[:2]))


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@compiled
def test_channels_by_themselves_are_plain_loops(dtype: str) -> None:
    op = ops.Conv2d((1, 1), "SAME", (1, 1), 6, "NCHW")
    x, w = TensorType(dtype, (2, 6, 5, 7)), TensorType(dtype, (12, 1, 3, 3))
    (y,) = op.infer(x, w)
    for one, types in ((op, [x, w]), (remade(ops.Conv2dFilterGradient, op), [x, y, w])):
        launches = convolution_launches(one, types)
        assert "product" not in str(launches)
        assert_emulated(one, launches, samples(types), 5 if dtype == "f32" else 2)


def test_a_dtype_without_kernels_is_refused() -> None:
    op, types = _around("NCHW", 3, "i4")
    with pytest.raises(Refused, match=r"conv2d of \(i4\[2,4,2,4\], i4\[.*: no kernels of i4"):
        convolution_launches(op, types[:2])


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2, 4])
@pytest.mark.parametrize(("kernel", "lower"), [(1, 0), (3, 1), (2, 3), (5, -1)])
def test_phases_reach_what_a_convolution_reads(
    stride: int, dilation: int, kernel: int, lower: int
) -> None:
    """Rows of y and elements of the filter that meet one row of x: the same set both ways."""
    extent = 9
    forward = {
        (p * stride + u * dilation - lower, u, p) for p in range(-20, 30) for u in range(kernel)
    }
    found: set[Any] = set()
    for f in phases(extent, kernel, stride, dilation, lower):
        for k in range(f.count):
            for t in range(f.taps):
                at = (f.row + k * stride, f.tap + t * f.tap_step, f.first - t * f.back + k)
                found.add(at)

    assert found == {x for x in forward if 0 <= x[0] < extent}
    rows = np.concatenate(
        [
            f.row + stride * np.arange(f.count)
            for f in phases(extent, kernel, stride, dilation, lower)
        ]
    )
    assert sorted(rows) == list(range(extent))
