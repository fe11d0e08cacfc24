"""What must hold for all kernels: on their device, in planned memory, atomic where they say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pytest
from torch_kernel import BACKEND, WITHOUT_MEMORY, Bound, allocations, compiled, retained

import byparts_opset as ops
from byparts_graph_ir import Op, Sample, TensorType

torch = pytest.importorskip("torch", reason="needs torch")
cases = pytest.importorskip("byparts_conformance.cases", reason="needs byparts-conformance")
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
    Sample(ops.Range(0, 5000), ()),
    Sample(ops.Constant(bytes(20_000), "f32", (5000,)), ()),
    Sample(ops.Reverse((0,)), (F32((5000,)),)),
    Sample(ops.Pad(((9, 9),), mode="reflect"), (F32((5000,)),)),
    Sample(ops.OneHot(700), (TensorType("i64", (9,)),)),
    Sample(ops.Scatter(0), (F32((5000,)), TensorType("i64", (4000,)), F32((4000,)))),
    Sample(ops.Conv2d((2, 2), "SAME"), (F32((8, 16, 18, 18)), F32((8, 16, 3, 3)))),
    Sample(ops.MaxPool((3, 3), (2, 2), "SAME"), (F32((8, 16, 18, 18)),)),
    Sample(ops.AveragePool((3, 3), (2, 2), "SAME"), (F32((2, 3, 70, 70)),)),
    Sample(ops.Softmax(1), (F32((500, 10)),)),
    Sample(ops.SparseSoftmaxCrossEntropy(), (F32((500, 10)), TensorType("i64", (500,)))),
    Sample(ops.Attention(True), (F32((2, 2, 70, 8)),) * 3),
]

# What cannot run on torch's device without memory, and why.
NOT_WITHOUT_MEMORY = {
    "print": "reads the values to print them",
    **dict.fromkeys(("gradient_descent", "momentum", "adam"), "torch has it for real devices only"),
}


FEW_BYTES = 512  # what a rule may keep: numbers beside tensors, and their like


def _cases_of(op: type[Op]) -> list[Any]:
    """Those on dtypes that torch has; that the others are refused is tested in test_backend.py."""
    return [
        case
        for case in cases.cases_of(op)
        if table.DTYPES.keys() >= {t.dtype for t in (*case.types, *case.op.infer(*case.types))}
    ]


@pytest.mark.parametrize("op", ALL)
def test_a_rule_reads_no_value_and_stays_on_the_device(op: type[Op]) -> None:
    """Compiled, bound and run with tensors that have no memory: all else would raise."""
    if op.name in NOT_WITHOUT_MEMORY:
        with pytest.raises(NotImplementedError):
            _run_without_memory(cases.cases_of(op)[0])
        return
    for case in _one_of_each_type(_cases_of(op)):
        _run_without_memory(case)


@pytest.mark.parametrize("op", ALL)
def test_a_run_allocates_nothing_unless_the_table_says_so(op: type[Op]) -> None:
    """Counted by torch's own allocator, in each dtype; an entry that is not true fails as well."""
    if op is ops.MatMul and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("needs a CPU on which oneDNN multiplies bf16")
    every = _one_of_each_type(_with_longer(op))
    allocated = {str(c): made for c in every if (made := _allocations_of(c))}

    assert bool(allocated) == (op in table.allocates), allocated or table.allocates[op]


@pytest.mark.parametrize("op", ALL)
def test_a_bound_step_has_no_memory_of_its_own(op: type[Op]) -> None:
    """But for some numbers: what grows with the data is planned."""
    longer = [c for c in _with_longer(op) if c.column in ("long", "basic")]
    kept = {str(c): n for c in longer if (n := retained(_bound(c).bind)) > FEW_BYTES}

    assert not kept


@pytest.mark.parametrize("op", ALL)
def test_scratch_memory_may_hold_anything(op: type[Op]) -> None:
    """A second run gives the same when other steps have written there, and bound anew."""
    for case in _with_longer(op):
        bound = _bound(case)
        bound.run()
        first = [y.tobytes() for y in bound.outputs]
        for byte in (127, 0):
            bound.workspace[...] = byte
            bound.step = bound.bind()
            bound.run()
            assert [y.tobytes() for y in bound.outputs] == first, str(case)


@pytest.mark.parametrize("op", ALL)
def test_an_atomic_kernel_does_not_raise(op: type[Op]) -> None:
    """On no type that it takes, whatever the numbers, apart and in place."""
    for case in _with_longer(op):
        if compiled(case.op, case.types).atomic:
            for over in (
                slice(0),
                slice(None),
                slice(None, None, -1),
            ):  # the last of two inputs wins
                Bound(case.op, *case.arrays(), over=over).run()


def test_it_counts() -> None:
    """The counter of allocations sees one, and whether it is kept."""
    assert allocations(lambda: torch.empty(100)) == [400]
    assert retained(lambda: torch.empty(100)) == 400
    assert retained(lambda: torch.empty(100).sum().item()) == 0


def _with_longer(op: type[Op]) -> Iterator[Any]:
    """The cases of the kit, and those of `LONG`."""
    yield from _cases_of(op)
    yield from (cases.Case(sample, "long") for sample in LONG if type(sample.op) is op)


def _one_of_each_type(every: Iterable[Any]) -> Iterable[Any]:
    """One case for each op and types: no rule reads a value, as the first test shows."""
    return {(case.op, case.types): case for case in every}.values()


def _run_without_memory(case: Any) -> None:
    kernel = compiled(case.op, case.types, WITHOUT_MEMORY)
    space, view = WITHOUT_MEMORY.space, WITHOUT_MEMORY.view

    def empty(t: TensorType) -> Any:
        return view(space.allocate(t.size_bytes), 0, t)

    blocks = [
        empty(TensorType("u8", (n,))) if n else None
        for n in (kernel.workspace_bytes, kernel.persistent_bytes)
    ]
    arrays = [[empty(t) for t in types] for types in (case.types, case.outputs)]
    with BACKEND.around():
        kernel.bind(*arrays, *blocks)()


def _bound(case: Any) -> Bound:
    return Bound(case.op, *case.arrays())


def _allocations_of(case: Any) -> list[int]:
    return allocations(_bound(case).run)
