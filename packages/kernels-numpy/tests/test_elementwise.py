"""Kernels of all elementwise ops against the ops' own meaning."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bound import BACKEND, Array, bound as bind, kernel, peak_bytes, spread
from numeric import ops_of

from byparts_graph_ir import Node, Op, Sample, Value
from byparts_opset.binary import Floordiv, Mod, Pow
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.signs import NextAfter

MODULES = (
    *("activation", "binary", "cast", "compare", "error_function", "hyperbolic"),
    *("logic", "rounding", "select", "signs", "trigonometric", "unary"),
)
OPS = ops_of(*MODULES)
SAMPLES = [s for op in OPS for s in op.samples()]
HALVES = [s for s in SAMPLES if "f32" in {t.dtype for t in s.types}]
PRECISION = {"f16": 1e-3, "bf16": 8e-3, "f32": 1.2e-7, "f64": 2.3e-16}


def arrays(sample: Sample, f32: str = "f32") -> list[Array]:
    """Random inputs in the ranges of the sample, its f32 replaced."""
    random = np.random.default_rng(3)
    result = []
    for i, t in enumerate(sample.types):
        low, high = sample.ranges[i] if i < len(sample.ranges) else (-1, 1)
        dtype = numpy_dtype(f32 if t.dtype == "f32" else t.dtype)
        drawn = (
            random.integers(0, 2, t.dims)
            if t.dtype == "bool"
            else random.uniform(low, high, t.dims)
        )
        result.append(np.asarray(drawn).astype(dtype))
    return result


def assert_near(expected: Array, found: Array, precision: float = 1.2e-7) -> None:
    """Equal but for the last digits of a dtype."""
    wide = expected.astype(np.float64), found.astype(np.float64)
    np.testing.assert_allclose(*wide, rtol=6 * precision, atol=3 * precision)


def precision_of(x: Array) -> float:
    """Of what NumPy calls the dtype."""
    names = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
    return PRECISION.get(names.get(x.dtype.name, ""), 0.0)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_kernels_compute_what_ops_mean(sample: Sample, dtype: str) -> None:
    """On contiguous arrays, and on arrays with gaps."""
    inputs = arrays(sample, dtype)
    (expected,) = sample.op.evaluate(*inputs)
    (found,) = kernel(sample.op, *inputs)
    (of_gaps,) = kernel(sample.op, *map(spread, inputs))

    assert_near(expected, found, precision_of(expected))
    assert_near(expected, of_gaps, precision_of(expected))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("sample", HALVES, ids=str)
def test_half_types_agree_to_their_precision(sample: Sample, dtype: str) -> None:
    """Whatever is computed between is wider."""
    inputs = arrays(sample, dtype)
    (expected,) = sample.op.evaluate(*inputs)
    (found,) = kernel(sample.op, *inputs)

    assert_near(expected, found, precision_of(expected))


def in_place() -> Iterator[tuple[Sample, int]]:
    """Every sample that may be written over an input."""
    for sample in SAMPLES:
        node = Node(sample.op, tuple(Value(t) for t in sample.types))
        for i, o in sample.op.inplace:
            if sample.types[i] == node.outputs[o].type:
                yield sample, i


@pytest.mark.parametrize(("sample", "into"), list(in_place()), ids=str)
@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16"])
def test_kernels_may_write_over_an_input(sample: Sample, into: int, dtype: str) -> None:
    """Where the op says so."""
    inputs = arrays(sample, dtype)
    (expected,) = sample.op.evaluate(*inputs)
    (found,) = kernel(sample.op, *inputs, into=into)

    assert_near(expected, found, precision_of(expected))


@pytest.mark.parametrize("sample", [next(op.samples()) for op in OPS], ids=str)
def test_a_run_allocates_no_array(sample: Sample) -> None:
    """On 100 000 elements, less than a few kB of Python's own."""
    shapes = [(100, 1000) if t.shape else () for t in sample.types]
    random = np.random.default_rng(0)
    inputs = [
        random.uniform(0.1, 0.9, s).astype(numpy_dtype(t.dtype))
        for s, t in zip(shapes, sample.types, strict=True)
    ]

    with np.errstate(all="ignore"):
        assert peak_bytes(bind(sample.op, *inputs)) < 10_000


def test_every_elementwise_op_has_a_kernel() -> None:
    """None is left to decomposition."""
    assert [op for op in OPS if op not in BACKEND.kernels] == []


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("op", [Pow(), Floordiv(), Mod()], ids=lambda op: op.name)
@pytest.mark.parametrize("into", [None, 0, 1])
def test_integers_at_their_edges(op: Op, dtype: type[np.integer[Any]], into: int | None) -> None:
    """Divisors of 0, the least by -1, negative powers, all of all: nothing raises."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    edges = np.unique(np.array([0, 1, 2, 3, 7, -1, -2, -3, least, most]).astype(dtype))
    x, y = (np.ascontiguousarray(a) for a in np.meshgrid(edges, edges))

    np.testing.assert_array_equal(op.evaluate(x, y)[0], kernel(op, x, y, into=into)[0], strict=True)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_the_next_number_is_exactly_that(dtype: str) -> None:
    """The kit, which allows some units, would not see another one."""
    x, y = (np.array(a, numpy_dtype(dtype)) for a in ([1, -1, 0, 3], [2, np.inf, -1, 3]))
    (found,) = kernel(NextAfter(), x, y)

    np.testing.assert_array_equal(found, np.nextafter(x, y))
