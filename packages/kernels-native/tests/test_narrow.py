"""Products of few columns: for every width of vectors, held against NumPy, with their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import TensorType
from byparts_kernels_native import narrow, products
from byparts_tensor_ir.target import TARGETS, lacking

CASES = (  # rows, columns, depth, which of a and b are transposed, something added, b constant
    (37, 10, 64, False, False, "f32", False, False),
    (33, 7, 99, False, False, "f32", True, False),
    (20, 3, 70, False, False, "f32", False, True),
    (9, 1, 40, False, True, "f32", False, False),
    (64, 10, 37, True, False, "f32", True, False),
    (70, 15, 8, True, True, "f32", False, False),
    (33, 5, 9, True, False, "f32", False, False),
    (50, 10, 70, True, False, "f64", False, False),
    (11, 13, 35, False, False, "f64", False, False),
)
_BEHIND = 64  # numbers that nobody may write


def _operands(m: int, n: int, k: int, flips: tuple[bool, bool], dtype: str) -> list[Any]:
    """C, a and b, each in the order in which it is stored."""
    draw = np.random.default_rng(m + 31 * n + 1009 * k)
    shapes = ((m, n), (k, m) if flips[0] else (m, k), (n, k) if flips[1] else (k, n))
    return [draw.uniform(-1, 1, s).astype(dtype.replace("f", "float")) for s in shapes]


def _run(kernel: Any, arrays: list[Any], y: Any) -> None:
    sizes = (kernel.workspace_bytes, kernel.persistent_bytes)
    blocks = [np.full(n + 64, 0x7F, np.uint8) for n in sizes]  # no zeros
    at = [-(-x.ctypes.data // 64) * 64 for x in blocks]
    kernel.bind([x.ctypes.data for x in arrays], [y.ctypes.data], *at)()


@pytest.mark.parametrize("name", [t.name for t in TARGETS if lacking(t) == ()])
def test_products_of_few_columns_are_those_of_numpy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole vectors and not, both orders of a and b, with something added in place, packed b."""
    monkeypatch.setenv("BYPARTS_MEASURE", "0")
    monkeypatch.setenv("BYPARTS_TARGET", name)
    todo = []
    for m, n, k, flip_a, flip_b, dtype, added, constant in CASES:
        arrays = _operands(m, n, k, (flip_a, flip_b), dtype)
        op: Any = ops.AddMatmul(flip_a, flip_b, scale=-0.5) if added else ops.MatMul(flip_a, flip_b)
        arrays = arrays if added else arrays[1:]
        p = products._product(op, *[TensorType(dtype, x.shape) for x in arrays])
        if narrow.wanted(p.of):
            monkeypatch.setattr(products, "_ways", lambda p, c: [products._narrow(p, c)])
            todo.append((op, arrays, products.kernel(p, constant)))
    assert len(todo) >= len(CASES) - 2  # vectors of two f64 are not wanted
    for op, arrays, kernel in todo:
        (want,) = op.evaluate(*arrays)
        memory = np.full(want.size + _BEHIND, 7, want.dtype)
        y = memory[: want.size].reshape(want.shape)
        if len(arrays) == 3:
            y[...] = arrays[0]
            arrays = [y, *arrays[1:]]
        _run(kernel, arrays, y)
        np.testing.assert_allclose(
            y, want, rtol=2e-5, atol=2e-5, err_msg=f"{op} {arrays[-2].shape}"
        )
        np.testing.assert_array_equal(memory[want.size :], 7)
