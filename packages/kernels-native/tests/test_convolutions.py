"""Convolutions of floats, in shapes that the samples of the ops are too small for."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest
from convolved import convolutions, result_of

import byparts_kernels_native as native
from byparts_opset.dtypes import numpy_dtype

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
SAME = ((1, 1), (1, 1))


@pytest.fixture(autouse=True)
def _without_winograd(monkeypatch: pytest.MonkeyPatch) -> None:
    """`test_winograd.py` has those by fewer multiplications."""
    monkeypatch.setenv("BYPARTS_WINOGRAD", "0")


# (strides, padding, dilations, groups, layout), x, filter, dtype: tiles of two heights, panels of
# two widths, several images at a time, blocks of the sums, phases of all sizes, pixels as lanes.
CASES = [
    (((1, 1), SAME, (1, 1), 1, "NCHW"), (6, 9, 14, 14), (33, 9, 3, 3), "f32"),
    (((2, 2), SAME, (1, 1), 1, "NCHW"), (3, 16, 13, 17), (20, 16, 3, 3), "f64"),
    (((3, 2), ((0, 2), (3, -1)), (2, 3), 1, "NCHW"), (2, 5, 19, 18), (24, 5, 3, 2), "f32"),
    (((1, 1), "VALID", (1, 1), 1, "NCHW"), (2, 70, 8, 8), (200, 70, 1, 1), "f32"),
    (((2, 2), "VALID", (1, 1), 1, "NHWC"), (2, 11, 9, 40), (1, 1, 40, 17), "f32"),
    (((1, 1), SAME, (1, 1), 4, "NHWC"), (3, 9, 9, 64), (3, 3, 16, 128), "f32"),
    (((1, 1), SAME, (1, 1), 1, "NCHW"), (1, 64, 4, 4), (96, 64, 3, 3), "f32"),
    (((1, 1), "VALID", (1, 1), 1, "NCHW"), (5, 11, 24, 24), (21, 11, 9, 9), "f32"),
    (((1, 1), "VALID", (1, 1), 1, "NCHW"), (4, 20, 12, 12), (50, 20, 5, 5), "f32"),
    (((1, 1), "VALID", (1, 1), 1, "NCHW"), (2, 3, 8, 8), (7, 3, 5, 5), "f32"),
    (((1, 1), SAME, (1, 1), 40, "NCHW"), (2, 40, 16, 16), (40, 1, 3, 3), "f32"),
]


@needs_compiler
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_and_its_gradients_compute_what_the_ops_do(case: Any) -> None:
    backend, random = native.make(), np.random.default_rng(0)
    todo = convolutions(case)
    for op, types in todo:
        backend.compile(op, types)  # sources wait, and are compiled together
    for op, types in todo:
        dtype = numpy_dtype(types[0].dtype)
        arrays = [random.normal(size=t.dims).astype(dtype) for t in types]

        result = result_of(backend, op, types, arrays)

        (expected,) = op.evaluate(*arrays)
        error = np.abs(result - expected).max() / np.abs(expected).max()
        assert error < (2e-6 if dtype == np.float32 else 1e-14), f"{op} on {types}"


@needs_compiler
@pytest.mark.parametrize(
    "case",  # whose channels are lanes
    [(((1, 1), SAME, (1, 1), 1, "NCHW"), (2, 32, 7, 7), (64, 32, 3, 3), "f32"), CASES[1]],
)
def test_a_constant_filter_is_packed_when_the_kernel_is_bound(case: Any) -> None:
    backend, random = native.make(), np.random.default_rng(0)
    for op, types in convolutions(case)[:2]:
        dtype = numpy_dtype(types[0].dtype)
        arrays = [random.normal(size=t.dims).astype(dtype) for t in types]
        (expected,) = op.evaluate(*arrays)

        result = result_of(backend, op, types, arrays, (1,))

        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
