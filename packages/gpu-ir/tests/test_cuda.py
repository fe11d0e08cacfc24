"""CUDA C: what it computes, on a CPU; that a compiler for GPUs takes it; and that people read it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_on_cpu import on_cpu
from emitters import c_emitter
from gpu_kernels import KERNELS, bound, buffer, empty, put
from nvcc import needs_nvcc, ptxas_report
from test_matrices import product
from test_operations import casts, check, convertible, func_of, operands, rules
from thread_programs import programs

from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_gpu_ir.emulation import build
from byparts_tensor_ir.expression import BYTES, variable
from byparts_tensor_ir.nest import has_meeting
from byparts_tensor_ir.statement import For, Func

GOLDEN = Path(__file__).parent / "golden"
FUNCS = {**{name: make()[0] for name, make in KERNELS.items()}, "product": product("bf16")}


@pytest.mark.long
@c_emitter
@pytest.mark.parametrize("dtype", BYTES)
def test_operations_in_cuda_c_give_the_interpreters_bits(dtype: str) -> None:
    check(dtype, list(rules(dtype)), operands(dtype), on_cpu)


@pytest.mark.long
@c_emitter
@pytest.mark.parametrize("dtype", BYTES)
def test_casts_in_cuda_c_give_the_interpreters_bits(dtype: str) -> None:
    check(dtype, list(casts(dtype)), convertible(dtype), on_cpu)


@needs_nvcc
@pytest.mark.long
@pytest.mark.parametrize("dtype", BYTES)
def test_a_compiler_takes_all_operations(dtype: str) -> None:
    func = func_of(dtype, [*rules(dtype), *casts(dtype)], 6)  # loops are unrolled
    (report,) = ptxas_report([emit_cuda(func)], "sm_80")
    assert report.registers > 0


@c_emitter
@pytest.mark.parametrize("name", [n for n, f in FUNCS.items() if not has_meeting(f.body)])
def test_the_text_computes_what_is_emulated(name: str) -> None:
    """With wide loads and stores, and indices of 32 bits."""
    func, inputs, _ = KERNELS[name]()
    outputs, others = empty(func), empty(func)
    build(func)(*inputs, *outputs)
    on_cpu(func)(*inputs, *others)
    for a, b in zip(outputs, others, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", FUNCS)
def test_the_text_is_as_it_was_read(name: str, golden: Any) -> None:
    golden(GOLDEN / f"{name}.cu", emit_cuda(FUNCS[name]).text)


@pytest.mark.parametrize("dtype", BYTES)
def test_neighbours_of_each_dtype_are_one_access(dtype: str) -> None:
    x, y = buffer("x", 128, dtype=dtype), buffer("y", 128, dtype=dtype)
    thread, lane = variable("t", 32), variable("lane", 2)
    copy = For(lane, (put(y, (thread * 2 + lane,), x[thread * 2 + lane]),), "vectorize")
    text = emit_cuda(Func("copy", (x, y), (y,), (), bound([copy], tx=thread))).text

    assert len(re.findall(r"2 \*\)&[xy]\[t \* 2\]", text)) == 2


@needs_nvcc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_compiler_takes_it_and_spills_nothing(arch: str) -> None:
    reports = ptxas_report([emit_cuda(f) for f in FUNCS.values()], arch)
    assert {
        name: r.spill_bytes + r.stack_bytes for name, r in zip(FUNCS, reports, strict=True)
    } == dict.fromkeys(FUNCS, 0)
    assert max(r.registers for r in reports) <= 64


@needs_nvcc
@pytest.mark.parametrize("first", [0, pytest.param(100, marks=pytest.mark.long)])
def test_a_compiler_takes_random_programs(first: int) -> None:
    sources = [emit_cuda(f) for f in programs(range(first, first + 40))]
    assert len(ptxas_report(sources, "sm_90")) == 40
