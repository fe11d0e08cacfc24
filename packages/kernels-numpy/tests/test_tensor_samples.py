"""Kernels of the ops that reduce, move and index, on the ops' own samples."""

from importlib import import_module

import numpy as np
import pytest
from bound import BACKEND, Array, bound as bind, kernel, node_on, peak_bytes, spread
from numeric import ops_of

from byparts_graph_ir import FLOATS, Op, Sample
from byparts_kernels_numpy.table import allocates
from byparts_opset.dtypes import numpy_dtype

MODULES = (
    *("reduce", "prod", "argmax", "cumulative", "reshape", "transpose", "reverse"),
    *("broadcast_to", "join", "slicing", "pad", "index", "top_k"),
)
OPS = ops_of(*MODULES)
SAMPLES = [s for op in OPS if op in BACKEND.kernels for s in op.samples()]
PRECISION = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-14}
MANY = 128 * 1024  # bytes: above NumPy's own buffers of 8192 elements, below any array here


def arrays(sample: Sample, f32: str) -> list[Array]:
    """Random inputs in the ranges of the sample, its f32 replaced."""
    random = np.random.default_rng(3)
    drawn = []
    for i, t in enumerate(sample.types):
        integers = t.dtype not in FLOATS and i >= len(sample.ranges)
        low, high = (0, 2) if integers else sample.ranges[i] if i < len(sample.ranges) else (-3, 3)
        x = np.asarray(random.uniform(low, high, t.dims))
        whole = t.dtype not in FLOATS or f32 not in FLOATS
        dtype = numpy_dtype(f32 if t.dtype == "f32" else t.dtype)
        drawn.append((np.floor(x) if whole else x).astype(dtype))
    return drawn


DTYPES = ("f16", "bf16", "f32", "f64", "i8", "i64")
CASES = [(s, d) for s in SAMPLES for d in DTYPES if d in FLOATS or s.op.name != "mean"]


@pytest.mark.parametrize(("sample", "dtype"), CASES, ids=str)
def test_kernels_compute_what_ops_mean(sample: Sample, dtype: str) -> None:
    """On contiguous arrays and on arrays with gaps, into memory that held something else."""
    inputs = arrays(sample, dtype)
    gaps = [spread(x) if x.ndim else x for x in inputs]

    for found in (kernel(sample.op, *inputs), kernel(sample.op, *gaps)):
        for y, expected in zip(found, sample.op.evaluate(*inputs), strict=True):
            precision = PRECISION.get(expected.dtype.name, 0)
            wide = y.astype(np.float64), expected.astype(np.float64)
            np.testing.assert_allclose(*wide, rtol=precision, atol=precision)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_outputs_may_have_gaps(sample: Sample) -> None:
    """Every element is written, and nothing between them."""
    inputs = arrays(sample, "f32")
    node = node_on(sample.op, *inputs)
    dtypes = [numpy_dtype(v.type.dtype) for v in node.outputs]
    memory = [
        np.full((*v.type.dims, 2), 77).astype(d) for v, d in zip(node.outputs, dtypes, strict=True)
    ]

    with np.errstate(all="ignore"):
        BACKEND.bind(node, inputs, [m[..., 0] for m in memory])()

    for m, expected in zip(memory, sample.op.evaluate(*inputs), strict=True):
        np.testing.assert_allclose(m[..., 0], expected, rtol=2e-6, atol=2e-6)
        assert np.all(m[..., 1] == np.asarray(77).astype(m.dtype))


LARGE = np.random.default_rng(0).normal(size=(512, 256)).astype(np.float32)
ROWS = np.random.default_rng(0).integers(0, 512, 700).astype(np.int32)


def large_cases() -> list[tuple[Op, tuple[Array, ...]]]:
    """One case for each op, of 512 KiB and more."""
    ops = import_module("byparts_opset")
    x = LARGE
    reductions = [
        ops.Sum((0,)),
        ops.Sum((1,)),
        ops.Mean(),
        ops.Prod((0,)),
        ops.Max((1,)),
        ops.Min(),
    ]
    moves = [
        ops.Reshape((256, 512)),
        ops.Transpose(),
        ops.Reverse((0,)),
        ops.Slice((0,), (511,), (2,)),
    ]
    return [
        *((op, (x,)) for op in (*reductions, *moves)),
        (ops.All((0,)), (x > 0,)),
        (ops.ArgMax(1), (x,)),
        (ops.ArgMin(0), (x,)),
        (ops.CumSum(0, True, True), (x,)),
        (ops.ProdOfOthers(1), (x,)),
        (ops.Concat(1), (x, x)),
        (ops.Split((200, 56), 1), (x,)),
        (ops.SliceGradient((0,), (512,), (2,)), (x[::2].copy(), x)),
        (ops.Pad(((1, 1), (2, 2)), 0, "reflect"), (x,)),
        (ops.BroadcastTo((2, 512, 256)), (x,)),
        (ops.Gather(0), (x, ROWS)),
    ]


@pytest.mark.parametrize(
    ("op", "inputs"), large_cases(), ids=lambda v: str(v) if isinstance(v, Op) else ""
)
@pytest.mark.parametrize("half", [False, True])
def test_a_run_allocates_no_array(op: Op, inputs: tuple[Array, ...], half: bool) -> None:
    """Half types neither: what they are widened into was there when the step was bound."""
    if half:
        inputs = tuple(x.astype(np.float16) if x.dtype == np.float32 else x for x in inputs)

    with np.errstate(all="ignore"):
        assert peak_bytes(bind(op, *inputs)) < MANY
    assert type(op) not in allocates
