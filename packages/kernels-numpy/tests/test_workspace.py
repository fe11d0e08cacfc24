"""Kernels compute in planned memory: a workspace that others spoil, constants that stay."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from bound import BACKEND, Array, block, outputs_of

from byparts_graph_ir import FLOATS, Input, Node, Op, Sample, TensorType
from byparts_graph_ir.backend.kernel import Kernel, Run, Workspace
from byparts_kernels_numpy.workspace import Shared, empty, kept, ones
from byparts_opset import OPS
from byparts_opset.batch_norm import BatchNorm, BatchNormGradient
from byparts_opset.conv2d import Conv2d, Conv2dFilterGradient, Conv2dInputGradient
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.optimizer import Adam
from byparts_opset.pool import MaxPool, MaxPoolGradient
from byparts_opset.random_normal import RandomNormal
from byparts_opset.softmax import Softmax, SoftmaxGradient

SAMPLES = [s for op in OPS.values() if op in BACKEND.kernels for s in op.samples()]


def arrays(sample: Sample) -> list[Array]:
    """Random inputs in the ranges of the sample."""
    random, drawn = np.random.default_rng(3), []
    for i, t in enumerate(sample.types):
        low, high = sample.ranges[i] if i < len(sample.ranges) else (0.0, 2.0)
        x = np.asarray(random.uniform(low, high, t.dims))
        drawn.append((x if t.dtype in FLOATS else np.floor(x)).astype(numpy_dtype(t.dtype)))
    return drawn


def bits(values: Sequence[Array]) -> list[bytes]:
    return [y.tobytes() for y in values]


class Bound:
    """A kernel bound on blocks of its own, which lie between bytes that nobody may write."""

    def __init__(self, kernel: Kernel, op: Op, inputs: Sequence[Array]) -> None:
        self.sizes = (kernel.workspace_bytes, kernel.persistent_bytes)
        self.memories = [block(64 + size + 64, 0xAB) for size in self.sizes]
        planned = [
            m[64 : 64 + size] if size else None  # type: ignore[index]
            for m, size in zip(self.memories, self.sizes, strict=True)
        ]
        if planned[1] is not None:
            planned[1].fill(0)
        self.workspace = planned[0]
        self.outputs = outputs_of(op, *inputs)
        self.run: Run = kernel.bind(inputs, self.outputs, *planned)

    def spoil(self) -> None:
        """All of the workspace becomes what is no number, as after other steps."""
        if self.workspace is not None:
            self.workspace.fill(0xFF)

    def overrun(self) -> bool:
        """Whether a byte around the blocks was written."""
        pairs = zip(self.memories, self.sizes, strict=True)
        return any((m[:64] != 0xAB).any() or (m[64 + n :] != 0xAB).any() for m, n in pairs)  # type: ignore[index]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_kernels_keep_to_their_planned_memory(sample: Sample) -> None:
    """Bit for bit what memory of its own gives: bound twice, run in turn, on a spoiled workspace."""
    inputs, expected = arrays(sample), outputs_of(sample.op, *arrays(sample))
    kernel = BACKEND.compile(sample.op, sample.types)
    node = Node(sample.op, tuple(Input(t) for t in sample.types))
    with np.errstate(all="ignore"):
        BACKEND.bind(node, inputs, expected)()
        first, second = (Bound(kernel, sample.op, inputs) for _ in range(2))
        for each in (first, second, first):
            each.spoil()
            each.run()
            assert bits(each.outputs) == bits(expected)
            assert not each.overrun()


def requests() -> Iterator[tuple[Sample, int, int]]:
    for sample in SAMPLES:
        outputs = sample.op.infer(*sample.types)
        for i, o in sample.op.inplace:
            if i < len(sample.types) and sample.types[i] == outputs[o]:
                yield sample, i, o


@pytest.mark.parametrize(("sample", "i", "o"), list(requests()), ids=str)
def test_rules_ask_for_the_same_memory_in_place(sample: Sample, i: int, o: int) -> None:
    """What was planned fits however the step is bound."""
    kernel = BACKEND.compile(sample.op, sample.types)
    inputs = arrays(sample)
    outputs = outputs_of(sample.op, *inputs)
    outputs[o] = inputs[i]
    workspace = Workspace(BACKEND)
    BACKEND._bound(sample.op, inputs, outputs, workspace)

    assert workspace.workspace_bytes == kernel.workspace_bytes
    assert workspace.persistent_bytes == kernel.persistent_bytes


def f32(*dims: int) -> TensorType:
    return TensorType("f32", dims)


Bytes = tuple[Op, tuple[TensorType, ...], int]  # what it took before


def convolution(
    before: Sequence[int], x: TensorType, w: TensorType, *attributes: object
) -> list[Bytes]:
    """The three ops of a layer, each with the bytes it took before workspaces were planned."""
    op = Conv2d(*attributes)  # type: ignore[arg-type]  # strides, padding
    (y,) = op.infer(x, w)
    fields = vars(op).values()
    node = Node(Conv2dInputGradient(*fields), (Input(y), Input(w), Input(x)))
    (dx,) = node.op.canonical(node) or ()
    assert dx.node is not None
    ops = (op, (x, w)), (Conv2dFilterGradient(*fields), (x, y, w)), (dx.node.op, (y, w))
    return [(*each, most) for each, most in zip(ops, before, strict=True)]


# Layers of LeNet, of residual networks and beside them, and bytes: of the thread's lender, whose
# blocks were powers of two, and of the arrays that rules kept on their own.
BEFORE: list[tuple[Op, tuple[TensorType, ...], int]] = [
    *convolution((524288, 561152, 524288), f32(100, 1, 28, 28), f32(20, 1, 5, 5), (1, 1), "VALID"),
    *convolution((766976, 898048, 786432), f32(100, 20, 12, 12), f32(50, 20, 5, 5), (1, 1), "VALID"),
    *convolution((647424, 663808, 647424), f32(100, 16, 32, 32), f32(16, 16, 3, 3), (1, 1), "SAME"),
    *convolution((897216, 929984, 1474560), f32(100, 16, 32, 32), f32(32, 16, 3, 3), (2, 2), "SAME"),
    *convolution((4178944, 4441088, 4178944), f32(2, 64, 112, 112), f32(64, 64, 3, 3), (1, 1), "SAME"),
    (MaxPool((2, 2), (2, 2)), (f32(100, 20, 24, 24),), 131072),
    (MaxPoolGradient((2, 2), (2, 2)), (f32(100, 20, 24, 24), *[f32(100, 20, 12, 12)] * 2), 98304),
    (Softmax(-1), (f32(6000, 10),), 294912),
    (SoftmaxGradient(-1), (f32(128, 1000),) * 2, 147200),
    (BatchNorm(1), (f32(100, 16, 32, 32), f32(16), f32(16)), 131392),
    (BatchNormGradient(1), (f32(100, 16, 32, 32), *[f32(16)] * 3, f32(100, 16, 32, 32)), 262800),
    (Adam(2), ((f32(784, 256), f32(256)) * 4 + (f32(), f32())), 148480),
    (RandomNormal((1000, 256)), (TensorType("i64", ()),) * 2, 1155264),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "types", "before"), BEFORE, ids=lambda v: str(v) if isinstance(v, Op) else ""
)
def test_workspaces_take_no_more_than_the_lender(
    op: Op, types: tuple[TensorType, ...], before: int
) -> None:
    """And a workspace lies where values lie at other steps, which lent memory never did."""
    kernel = BACKEND.compile(op, types)

    assert kernel.workspace_bytes + kernel.persistent_bytes <= before


@pytest.mark.long
@pytest.mark.parametrize(
    ("op", "types", "before"), BEFORE, ids=lambda v: str(v) if isinstance(v, Op) else ""
)
def test_rules_keep_no_memory_of_their_own(
    op: Op, types: tuple[TensorType, ...], before: int
) -> None:
    """Bound in the planned blocks, a step holds no data of NumPy but single numbers."""
    kernel = BACKEND.compile(op, types)
    inputs = [np.ones(t.dims, numpy_dtype(t.dtype)) for t in types]
    outputs = outputs_of(op, *inputs)
    blocks = block(kernel.workspace_bytes), block(kernel.persistent_bytes)
    gc.collect()
    tracemalloc.start()
    try:
        run = kernel.bind(inputs, outputs, *blocks)
        gc.collect()
        data = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([data]).traces
    finally:
        tracemalloc.stop()

    assert run is not None
    assert sum(trace.size for trace in traces) < 600


def test_scratch_is_shared_by_blocks_and_shaped_as_asked() -> None:
    """Under one name the front of one array; of any dtype of NumPy, in either order."""
    workspace = Workspace(BACKEND)
    shared = Shared(workspace)
    x, y, z = (shared.take(name, (n, 5), np.uint32) for name, n in (("a", 3), ("a", 2), ("b", 3)))
    turned = empty(workspace, (4, 5), np.float32, "F")

    assert x.shape == (3, 5) and x.dtype == np.uint32 and turned.flags.f_contiguous
    assert np.shares_memory(x, y) and not np.shares_memory(x, z)
    assert x.ctypes.data == y.ctypes.data
    assert empty(workspace, (0, 3), np.float32).shape == (0, 3)
    assert workspace.workspace_bytes == 64 + 64 + 128


def test_constants_are_kept_memory() -> None:
    """Filled when they are bound, asked for once."""
    workspace = Workspace(BACKEND)
    shared = Shared(workspace)

    assert kept(workspace, np.array([[1, 2]], np.int16)).tolist() == [[1, 2]]
    assert ones(workspace, 3, np.float32).tolist() == [1, 1, 1]
    assert shared.ones(4, np.float64).tolist() == [1] * 4
    assert np.shares_memory(shared.ones(4, np.float64), shared.ones(2, np.float64))
    assert shared.counting(3).tolist() == [0, 1, 2]
    assert (workspace.workspace_bytes, workspace.persistent_bytes) == (0, 4 * 64)
