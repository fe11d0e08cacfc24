"""Convolution and pooling as tensors: the interpreter's answer against the ops' own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Op, Sample
from byparts_op_loops.function import function
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.interpret import interpret

KINDS = (
    *(ops.Conv2d, ops.Conv2dTranspose, ops.Conv2dFilterGradient),
    *(ops.MaxPool, ops.MaxPoolGradient, ops.MaxPoolGradientGradient),
    *(ops.AveragePool, ops.AveragePoolGradient),
)
SAMPLES = [
    pytest.param(s, id=f"{kind.__name__}-{i}")
    for kind in KINDS
    for i, s in enumerate(kind.samples())
    if all(0 < t.size < 200 for t in s.types)
]


def _arguments(op: Op, sample: Sample) -> list[Any]:
    random = np.random.default_rng(0)
    given = [random.normal(size=t.dims).astype(numpy_dtype(t.dtype)) for t in sample.types]
    return list(op.domain(*given))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_loops_compute_what_the_op_does(sample: Sample) -> None:
    made = function[sample.op](sample.op, sample.types)
    arguments = _arguments(sample.op, sample)
    expected = sample.op.evaluate(*arguments)
    got = [np.full(e.shape, 7, e.dtype) for e in expected]

    interpret(made.func, *arguments, *got)

    for y, wanted in zip(got, expected, strict=True):
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)
