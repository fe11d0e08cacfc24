"""Copies that arrive while threads go on: two stages of shared memory in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emitters import c_emitter
from gpu_kernels import bound, buffer, local, put
from nvcc import needs_nvcc, ptxas_report

from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_gpu_ir.emit.emulated import MODES
from byparts_gpu_ir.emulation import build
from byparts_gpu_ir.faults import CopyUnderWay, DataRace, KernelFault
from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.expression import ExpressionError, const, variable
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.legal import check_order_free
from byparts_tensor_ir.statement import Barrier, For, Func, If, Statement
from byparts_tensor_ir.substitute import in_statements
from byparts_tensor_ir.transfer import CloseGroup, CopyAsync, WaitGroups

STEPS, THREADS = 5, 32
X, Y = buffer("x", STEPS, 4 * THREADS), buffer("y", THREADS)
STAGE, TOTAL = buffer("stage", 2, 4 * THREADS, scope="shared"), local("total")
T, K = variable("t", THREADS), variable("k", STEPS)


def _copy(step: Any, stage: Any) -> CopyAsync:
    """Each thread copies four neighbours of a row."""
    return CopyAsync(STAGE, (stage, T * 4), X, (step, T * 4), 4)


def _sums(pending: int = 1, waits: bool = True, before: bool = True, after: bool = True) -> Func:
    """Sums of elements that other threads have copied, while the next row is copied."""
    body: list[Statement] = [
        If(K + 1 < STEPS, (_copy(K + 1, (K + 1) % 2),)),
        CloseGroup(),
        *([WaitGroups(pending)] if waits else []),
        *([Barrier()] if before else []),
        put(TOTAL, (), TOTAL[()] + STAGE[K % 2, (T * 4 + 5) % (4 * THREADS)]),
        *([Barrier()] if after else []),
    ]
    thread: list[Statement] = [
        put(TOTAL, (), 0.0),
        _copy(const(0), const(0)),
        CloseGroup(),
        For(K, tuple(body)),
        put(Y, (T,), TOTAL[()]),
    ]
    return Func("sums", (X, Y), (Y,), (), bound(thread, tx=T), (STAGE, TOTAL))


def _input() -> Any:
    return np.random.default_rng(0).standard_normal((STEPS, 4 * THREADS)).astype(np.float32)


def _run(func: Func, mode: str) -> Any:
    y = np.zeros(THREADS, np.float32)
    build(func, mode)(_input(), y)
    return y


@c_emitter
def test_what_was_waited_for_is_there_in_all_orders() -> None:
    expected = np.zeros(THREADS, np.float32)
    for row in _input():
        expected += np.roll(row, -5)[::4]
    for mode in MODES:
        np.testing.assert_array_equal(_run(_sums(), mode), expected)
    for seed in range(4):
        y = np.zeros(THREADS, np.float32)
        interpret(_sums(), _input(), y, seed=seed)
        np.testing.assert_array_equal(y, expected)


@c_emitter
@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"waits": False}, CopyUnderWay),
        ({"pending": 2}, CopyUnderWay),
        ({"before": False}, KernelFault),
        ({"after": False}, DataRace),
    ],
)
def test_a_copy_that_nobody_waited_for_is_a_fault(
    wrong: dict[str, Any], fault: type[KernelFault]
) -> None:
    with pytest.raises(fault, match="shared stage"):
        _run(_sums(**wrong), "checked")


@c_emitter
def test_a_copy_without_a_wait_arrives_late_backwards() -> None:
    late, soon = _run(_sums(waits=False), "reversed"), _run(_sums(waits=False), "forward")
    assert not np.array_equal(late, soon)


@c_emitter
def test_what_is_copied_is_not_written_meanwhile() -> None:
    x = buffer("x", 128)
    body: list[Statement] = [
        CopyAsync(STAGE, (const(0), T * 4), x, (T * 4,), 4),
        CloseGroup(),
        put(x, (T * 4,), 1.0),
        WaitGroups(0),
    ]
    func = Func("f", (x,), (x,), (), bound(body, tx=T), (STAGE,))
    with pytest.raises(
        CopyUnderWay, match=r"on global x.*a copy is under way(.|\n)*which writes it"
    ):
        build(func, "checked")(np.zeros(128, np.float32))


@needs_nvcc
def test_a_copy_is_an_instruction() -> None:
    source = emit_cuda(_sums())
    assert "cp.async.cg.shared.global [to], [from], 16; }" in source.body
    assert "cp.async.commit_group;" in source.body and "cp.async.wait_group 1;" in source.body
    (report,) = ptxas_report([source], "sm_80")
    assert report.spill_bytes == 0 and report.shared_bytes == 1024


def test_what_is_no_copy_is_refused() -> None:
    with pytest.raises(ExpressionError, match="12 bytes from global to shared memory; only"):
        CopyAsync(STAGE, (const(0), T), X, (const(0), T), 3)
    with pytest.raises(ExpressionError, match="4 bytes from shared to global memory"):
        CopyAsync(X, (const(0), T), STAGE, (const(0), T), 1)
    with pytest.raises(ExpressionError, match="not one place in each of two buffers"):
        CopyAsync(STAGE, (T,), X, (const(0), T), 1)
    body = [CopyAsync(STAGE, (const(0), T), X, (const(0), T), 4)]
    with pytest.raises(EmitError, match="not always at a multiple of 16 bytes in stage"):
        emit_cuda(Func("f", (X,), (), (), bound(body, tx=T), (STAGE,)))
    with pytest.raises(ScheduleError, match="its rounds keep their order"):
        check_order_free(For(K, (_copy(K, K % 2),)), "unroll", reductions=True)


def test_a_copy_is_printed_and_its_expressions_replaced() -> None:
    (changed,) = in_statements([_copy(K, K % 2)], {K: const(3)})
    assert str(changed) == "stage[1, t * 4:+4] = copy_async(x[3, t * 4:+4])"
    assert [str(s) for s in (CloseGroup(), WaitGroups(1))] == ["close_group()", "wait_groups(1)"]
