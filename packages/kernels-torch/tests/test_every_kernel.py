"""What must hold for all kernels: they stay on their device, and allocate where they say so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from torch_kernel import BACKEND, Bound, allocations

import byparts_opset as ops
from byparts_graph_ir import Op, Sample, TensorType

torch = pytest.importorskip("torch", reason="needs torch")
cases = pytest.importorskip("byparts_conformance.cases", reason="needs byparts-conformance")
meaning = pytest.importorskip("byparts_conformance.meaning", reason="needs byparts-conformance")
table = pytest.importorskip("byparts_kernels_torch.table")

ALL = [pytest.param(op, id=op.name) for op in BACKEND.kernels if any(op.samples())]

F32, F16, BF16 = (partial(TensorType, dtype) for dtype in ("f32", "f16", "bf16"))

# What torch computes otherwise when there is more of it than in a sample.
LONG: list[Sample] = [
    Sample(ops.Transpose((1, 0)), (F32((80, 70)),)),
    Sample(ops.Transpose((0, 2, 1)), (F32((3, 80, 70)),)),
    Sample(ops.MatMul(), (F32((64, 128)), F32((128, 96)))),
    Sample(ops.MatMul(True, True), (F32((2, 1, 128, 64)), F32((3, 96, 128)))),
    Sample(ops.MatMul(), (BF16((64, 128)), BF16((128, 96)))),
    Sample(ops.Gelu(), (F32((5000,)),)),
    Sample(ops.Add(), (F32((300, 1)), F32((300,)))),
    Sample(ops.Sum((0, 2)), (F16((30, 40, 50)),)),
    Sample(ops.Sum((0,)), (F32((300, 300)),)),
    Sample(ops.Softmax(1), (F32((300, 300)),)),
    Sample(ops.Select(), (TensorType("bool", (5000,)), F32((5000,)), F32(()))),
    Sample(ops.Dropout(0.5), (F32((5000,)), TensorType("bool", (5000,)))),
    Sample(ops.Concat(1), (F32((300, 300)), F32((300, 200)))),
    Sample(ops.RandomUniform((70_000,)), (TensorType("i64", ()),) * 2),
]

# What cannot run on torch's device without memory, and why.
NOT_WITHOUT_MEMORY = {
    "print": "reads the values to print them",
    **dict.fromkeys(("gradient_descent", "momentum", "adam"), "torch has it for real devices only"),
}


@pytest.mark.parametrize("op", ALL)
def test_a_rule_reads_no_value_and_stays_on_the_device(op: type[Op]) -> None:
    """Bound and run with tensors of "meta", which have no memory: all else would raise."""
    if op.name in NOT_WITHOUT_MEMORY:
        with pytest.raises(NotImplementedError):
            _run_without_memory(cases.cases_of(op)[0])
        return
    for case in cases.cases_of(op):
        _run_without_memory(case)


@pytest.mark.parametrize("op", ALL)
def test_a_run_allocates_nothing_unless_the_table_says_so(op: type[Op]) -> None:
    """Counted by torch's own allocator, in each dtype; an entry that is not true fails as well."""
    if op is ops.MatMul and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("needs a CPU on which oneDNN multiplies bf16")
    longer = [cases.Case(sample, "basic") for sample in LONG if type(sample.op) is op]
    samples = [*cases.cases_of(op), *longer]
    allocated = {str(case): made for case in samples if (made := _allocations_of(case))}

    assert bool(allocated) == (op in table.allocates), allocated or table.allocates[op]


def test_it_counts() -> None:
    """The counter of allocations sees one."""
    assert allocations(lambda: torch.empty(100)) == [400]


def _run_without_memory(case: Any) -> None:
    def empty(t: TensorType) -> Any:
        return torch.empty(t.dims, dtype=table.DTYPES[t.dtype], device="meta")

    with BACKEND.around():
        node = meaning.graph_of(case).nodes[0]
        BACKEND.bind(node, [empty(t) for t in case.types], [empty(t) for t in case.outputs])()


def _allocations_of(case: Any) -> list[int]:
    return allocations(Bound(case.op, *case.arrays()).run)
