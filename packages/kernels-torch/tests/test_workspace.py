"""Rules ask for memory when a kernel is compiled, and find it in planned bytes.  Needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch_kernel import BACKEND, Bound, compiled, kernel

import byparts_opset as ops
from byparts_graph_ir import GraphError, Op, TensorType, Workspace

torch = pytest.importorskip("torch", reason="needs torch")
workspace = pytest.importorskip("byparts_kernels_torch.workspace", reason="needs torch")

LIKE = torch.ones(1)
F32, BF16 = (lambda *dims, t=t: TensorType(t, dims) for t in ("f32", "bf16"))


def planned(scratch_bytes: int = 0, kept_bytes: int = 0) -> Any:
    """Taken from blocks of so many bytes."""
    blocks = (torch.zeros(n, dtype=torch.uint8) if n else None for n in (scratch_bytes, kept_bytes))
    return Workspace(BACKEND, True, *blocks)


def test_the_plan_learns_what_a_kernel_needs() -> None:
    """Stand-ins in f32 for half types, rows of one vector, which are kept, and their results."""
    halves = compiled(ops.Softmax(1), (BF16(300, 300),))  # type: ignore[no-untyped-call]
    rows = compiled(ops.Softmax(1), (F32(100, 10),))  # type: ignore[no-untyped-call]

    assert (halves.workspace_bytes, halves.persistent_bytes) == (0, 0)  # torch's own adds in f32
    assert (rows.workspace_bytes, rows.persistent_bytes) == (100 * 64, 100 * 64)
    assert compiled(ops.Erf(), (BF16(300, 300),)).workspace_bytes == 2 * 4 * 300 * 300 // 64 * 64  # type: ignore[no-untyped-call]


def test_one_step_may_have_the_bytes_of_another() -> None:
    """Nothing of a step is left in its scratch memory when it runs again."""
    x = np.arange(6, dtype=np.float32)
    bound = Bound(ops.CumSum(0, reverse=True), x)
    for _ in range(2):
        bound.workspace[...] = 255
        bound.run()

        np.testing.assert_array_equal(bound.outputs[0], x[::-1].cumsum()[::-1])


def test_what_one_step_takes_lies_apart_and_aligned() -> None:
    given = planned(128)
    parts = [workspace.scratch(given, (3,), LIKE, t) for t in (torch.int8, torch.float64)]
    for i, part in enumerate(parts):
        part.fill_(i)

    assert [p.tolist() for p in parts] == [[0, 0, 0], [1, 1, 1]]
    assert parts[1].data_ptr() - parts[0].data_ptr() == 64


def test_more_than_was_planned_is_an_error() -> None:
    given = planned(64)
    workspace.scratch(given, (16,), LIKE)

    with pytest.raises(GraphError, match=r"asks for 68 bytes of workspace .* asked for 64"):
        workspace.scratch(given, (1,), LIKE)


def test_an_order_of_the_axes_is_kept() -> None:
    for take in (workspace.scratch, workspace.kept):
        x = take(planned(512, 512), (2, 3, 4, 5), LIKE, None, torch.channels_last)

        assert x.shape == (2, 3, 4, 5)
        assert x.is_contiguous(memory_format=torch.channels_last)


def test_no_elements_need_no_bytes() -> None:
    assert workspace.scratch(planned(), (2, 0), LIKE, torch.int64).dtype is torch.int64


@pytest.mark.parametrize(
    ("op", "types"),
    [
        (ops.Softmax(1), (F32(4, 5),)),  # type: ignore[no-untyped-call]
        (ops.Attention(True), (F32(1, 2, 40, 8),) * 3),  # type: ignore[no-untyped-call]
        (
            ops.MaxPoolGradient((3, 3), (2, 2), ((0, 2), (1, 1))),
            (F32(2, 2, 8, 8), *[F32(2, 2, 4, 4)] * 2),  # type: ignore[no-untyped-call]
        ),
        (ops.Conv2d((2, 2), "SAME"), (F32(2, 16, 8, 8), F32(4, 16, 3, 3))),  # type: ignore[no-untyped-call]
        (ops.Reverse((0,)), (F32(9),)),  # type: ignore[no-untyped-call]
    ],
    ids=lambda x: x.name if isinstance(x, Op) else None,
)
def test_equal_steps_share_what_they_keep(op: Op, types: tuple[TensorType, ...]) -> None:
    """Bound again on a block that another has filled, both compute the same."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(t.dims).astype(np.float32) for t in types]
    want = kernel(op, *arrays)
    bound = Bound(op, *arrays)
    assert bound.kernel.persistent_bytes > 0

    for _ in range(2):
        bound.bind()
        bound.run()
        for got, y in zip(bound.outputs, want, strict=True):
            np.testing.assert_array_equal(got, y)


def test_threads_do_not_change_what_a_rule_asks_for() -> None:
    """A kernel that was compiled with one thread is bound with more."""
    c, x = np.arange(300_000) % 3 == 0, np.ones(300_000, np.float32)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        bound = Bound(ops.Select(), c, x, -x)
        torch.set_num_threads(4)
        bound.step = bound.bind()
    finally:
        torch.set_num_threads(threads)
    bound.run()

    np.testing.assert_array_equal(bound.outputs[0], np.where(c, x, -x))
