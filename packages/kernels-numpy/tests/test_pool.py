"""Kernels of pooling against what the ops mean."""

from collections.abc import Iterator

import numpy as np
import pytest
from bound import Array, bound as bind, kernel, peak_bytes, spread

from byparts_graph_ir import Op, Sample
from byparts_kernels_numpy import pool
from byparts_kernels_numpy.table import allocates
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.pool import (
    AveragePool,
    AveragePoolGradient,
    MaxPool,
    MaxPoolGradient,
    MaxPoolGradientGradient,
)

RANDOM = np.random.default_rng(0)
PRECISION = {"f64": 1e-12, "f32": 1e-6, "f16": 2e-3, "bf16": 1.6e-2}
MAXIMA = list(MaxPool.samples())
MEANS = [s for op in (AveragePool, AveragePoolGradient) for s in op.samples()]


def drawn(sample: Sample, dtype: str) -> list[Array]:
    """Few different numbers, so that maxima are met more than once."""
    return [RANDOM.integers(-3, 4, t.dims).astype(numpy_dtype(dtype)) for t in sample.types]


def assert_kernel_is_evaluate(op: Op, given: list[Array], precision: float = 0) -> None:
    """On contiguous arrays and on arrays with gaps."""
    (expected,) = op.evaluate(*given)
    for arrays in (given, [spread(a) for a in given]):
        (found,) = kernel(op, *arrays)
        assert expected.dtype == found.dtype
        wide = expected.astype(np.float64), found.astype(np.float64)
        np.testing.assert_allclose(*wide, rtol=precision, atol=precision)


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("sample", MEANS, ids=str)
def test_means(sample: Sample, dtype: str) -> None:
    """And their gradient."""
    assert_kernel_is_evaluate(sample.op, drawn(sample, dtype), PRECISION[dtype])


@pytest.mark.parametrize("dtype", [*PRECISION, "i32", "i8", "u8"])
@pytest.mark.parametrize("sample", MAXIMA, ids=str)
def test_maxima(sample: Sample, dtype: str) -> None:
    """Their gradient and its gradient, exactly; of integers too."""
    (x,) = drawn(Sample(sample.op, sample.types), "i32")
    x = (abs(x) if dtype == "u8" else x).astype(numpy_dtype(dtype))
    (y,) = sample.op.evaluate(x)
    attributes = vars(sample.op).values()

    assert_kernel_is_evaluate(sample.op, [x])
    assert_kernel_is_evaluate(MaxPoolGradient(*attributes), [x, y, y])
    assert_kernel_is_evaluate(MaxPoolGradientGradient(*attributes), [x, y, x])


def larger() -> Iterator[tuple[MaxPool, Array]]:
    """Batches that fill several chunks."""
    for attributes in (((3, 3), (2, 2), "SAME"), ((2, 2), (2, 2), "VALID")):
        yield MaxPool(*attributes), RANDOM.normal(size=(9, 4, 13, 12)).astype(np.float32)
        yield MaxPool(*attributes, "NHWC"), RANDOM.normal(size=(9, 13, 12, 4)).astype(np.float32)


@pytest.mark.parametrize(("op", "x"), list(larger()), ids=str)
def test_chunks(op: MaxPool, x: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some images at a time, the last ones fewer."""
    monkeypatch.setattr(pool, "CHUNK_BYTES", x.nbytes // 4)
    (y,) = op.evaluate(x)
    attributes = vars(op).values()
    mean = AveragePool(*attributes)

    assert_kernel_is_evaluate(op, [x])
    assert_kernel_is_evaluate(MaxPoolGradient(*attributes), [x, y, y], 1e-6)
    assert_kernel_is_evaluate(MaxPoolGradientGradient(*attributes), [x, y, x])
    assert_kernel_is_evaluate(mean, [x], 1e-6)
    assert_kernel_is_evaluate(AveragePoolGradient(*vars(mean).values()), [y, x], 1e-6)


def test_runs_take_buffers_only() -> None:
    """Three of 8192 elements, however large the images: `allocates` says so."""
    x, attributes = np.ones((32, 16, 32, 32), np.float32), ((3, 3), (2, 2), "SAME")
    (y,) = MaxPool(*attributes).evaluate(x)
    runs = (
        bind(MaxPool(*attributes), x),
        bind(MaxPoolGradient(*attributes), x, y, y),
        bind(MaxPoolGradientGradient(*attributes), x, y, x),
        bind(AveragePool(*attributes), x),
        bind(AveragePoolGradient(*attributes), y, x),
    )

    assert {MaxPool, MaxPoolGradient, AveragePool} <= allocates.keys()
    assert max(map(peak_bytes, runs)) < 3 * 8192 * 4 + 8000


def test_infinite_gradients_leave_no_nan() -> None:
    """What is no maximum gets 0, not 0 times infinity."""
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    op, attributes = MaxPool((2, 2), (2, 2)), ((2, 2), (2, 2))
    (y,) = op.evaluate(x)

    assert_kernel_is_evaluate(MaxPoolGradient(*attributes), [x, y, np.full_like(y, np.inf)])
    assert_kernel_is_evaluate(MaxPoolGradientGradient(*attributes), [x, y, np.full_like(x, np.nan)])
