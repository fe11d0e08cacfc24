"""Kernels of products of matrices against what the op means."""

import numpy as np
import pytest
from bound import bound as bind, kernel, peak_bytes, spread

from byparts_graph_ir import Sample
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.matmul import MatMul

RANDOM = np.random.default_rng(0)
PRECISION = {"f64": 1e-12, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2, "i32": 0, "i8": 0}


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("sample", list(MatMul.samples()), ids=str)
def test_kernels_compute_what_the_op_means(sample: Sample, dtype: str) -> None:
    """On contiguous arrays and on arrays with gaps; integers wrap around alike."""
    arrays = [(RANDOM.normal(size=t.dims) * 9).astype(numpy_dtype(dtype)) for t in sample.types]
    (expected,) = sample.op.evaluate(*arrays)

    for given in (arrays, [spread(a) for a in arrays]):
        (found,) = kernel(sample.op, *given)
        wide = expected.astype(np.float64), found.astype(np.float64)
        np.testing.assert_allclose(*wide, rtol=PRECISION[dtype], atol=PRECISION[dtype] * 81)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_transposed_operands_are_not_copied(dtype: type[np.generic]) -> None:
    """Nor batches, nor half types: a run allocates nothing but NumPy's small change."""
    a, b = np.ones((200, 100), dtype), np.ones((300, 200), dtype)

    assert peak_bytes(bind(MatMul(True, True), a, b)) < 2000
    assert peak_bytes(bind(MatMul(False, True), np.ones((5, 20, 200), dtype), b)) < 2000
