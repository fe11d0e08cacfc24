"""Convolutions of floats, in shapes that the samples of the ops are too small for."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import byparts_kernels_native as native
from byparts_graph_ir import Input, Op, TensorType
from byparts_opset import Conv2d, Conv2dFilterGradient
from byparts_opset.conv2d import _input_gradient
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.window import remade

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
SAME = ((1, 1), (1, 1))
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


def _ops(case: Any) -> list[tuple[Op, tuple[TensorType, ...]]]:
    """The convolution and its gradients, with the types of their inputs."""
    attributes, x_dims, w_dims, dtype = case
    op, x, w = Conv2d(*attributes), TensorType(dtype, x_dims), TensorType(dtype, w_dims)
    (y,) = op.infer(x, w)
    node = _input_gradient(op, Input(y), Input(w), Input(x)).node
    assert node is not None
    return [(op, (x, w)), (node.op, (y, w)), (remade(Conv2dFilterGradient, op), (x, y, w))]


def _result(backend: Any, op: Op, types: Any, arrays: list[Any], constants: Any = ()) -> Any:
    kernel = backend.compile(op, types, frozenset(constants))
    (y,) = op.infer(*types)
    result = np.full(y.dims, 7, arrays[0].dtype)
    garbage = np.full(kernel.workspace_bytes // 8 + 8, np.nan)
    addresses = [a.ctypes.data for a in arrays]
    place = -(-garbage.ctypes.data // 64) * 64
    kept = np.zeros(kernel.persistent_bytes + 64, np.uint8)
    block = -(-kept.ctypes.data // 64) * 64
    run = kernel.bind(addresses, [result.ctypes.data], place, block)
    for x in constants:
        arrays[x][:] = np.nan  # it was read when the kernel was bound
    run()
    return result


@needs_compiler
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_and_its_gradients_compute_what_the_ops_do(case: Any) -> None:
    backend, random = native.make(), np.random.default_rng(0)
    todo = _ops(case)
    for op, types in todo:
        backend.compile(op, types)  # sources wait, and are compiled together
    for op, types in todo:
        dtype = numpy_dtype(types[0].dtype)
        arrays = [random.normal(size=t.dims).astype(dtype) for t in types]

        result = _result(backend, op, types, arrays)

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
    for op, types in _ops(case)[:2]:
        dtype = numpy_dtype(types[0].dtype)
        arrays = [random.normal(size=t.dims).astype(dtype) for t in types]
        (expected,) = op.evaluate(*arrays)

        result = _result(backend, op, types, arrays, (1,))

        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
