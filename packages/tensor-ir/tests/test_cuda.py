"""CUDA C: what it computes, on a CPU; and that a compiler for GPUs takes it."""

from __future__ import annotations

import pytest
from cuda_on_cpu import on_cpu
from emitters import c_emitter
from test_operations import casts, check, convertible, operands, rules

from byparts_tensor_ir.expression import BYTES


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
