"""Each barrier of the kernels written by hand is needed: without it checked emulation finds a race.

Of attention by matrix units comparisons and indices into shared memory are made wrong too.  Two
tiles along every axis, so that each step follows another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from emulation import assert_emulated, compiled, samples
from kernel_mutants import mutants

import byparts_opset as ops
from byparts_gpu_ir.faults import KernelFault
from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import Op, TensorType
from byparts_kernels_cuda.attention.backward import attention_gradient_launches
from byparts_kernels_cuda.attention.forward import attention_launches
from byparts_kernels_cuda.attention.team import Block
from byparts_kernels_cuda.products.matmul import matmul_launches
from byparts_kernels_cuda.products.tiles import Tile, WarpTile
from byparts_opset.dtypes import type_of
from byparts_tensor_ir.statement import Barrier, Func, rebuilt, walk

BLOCK, MATRICES = Block(2, 1, 1), Block(1, 4, 2, matrices=True)
# A row of keys that there is not has weights, and its sums are not written.
HARMLESS = {"attention_keys": "(block * 16 + thread // 8 + i4 * 4) < 50 made <= in: scores"}
WIDTHS = {BLOCK: 8, MATRICES: 64}
Case = tuple[Op, Launches, list[Any]]


def _product(dtype: str, choice: Any) -> Case:
    op, types = ops.MatMul(), [TensorType(dtype, (70, 130)), TensorType(dtype, (130, 70))]
    return op, matmul_launches(op, types, choice), samples(types)


def _narrow() -> Case:
    op, types = ops.MatMul(), [TensorType("f32", (2, 70)), TensorType("f32", (70, 40))]
    return op, matmul_launches(op, types), samples(types)


def _qkv(block: Block) -> list[Any]:
    draw, dtype = np.random.default_rng(0), np.float16 if block.matrices else np.float32
    return [draw.normal(size=(n, WIDTHS[block])).astype(dtype) for n in (40, 50, 50)]


def _attention(block: Block) -> Case:
    op, given = ops.Attention(True), _qkv(block)
    return op, attention_launches(op, [type_of(x) for x in given], block), given


def _gradient(block: Block) -> Case:
    op, given = ops.AttentionGradient(True), _qkv(block)
    y, logarithms = ops.Attention(True).evaluate(*given)
    given = [np.ones_like(y), *given, y, logarithms]
    types = [type_of(x) for x in given]
    return op, attention_gradient_launches(op, types, block), given


CASES: dict[str, Callable[[], Case]] = {
    "threads": lambda: _product("f32", (Tile(32, 32, 8, 4, 2), 1)),
    "warps": lambda: _product("f16", (WarpTile(32, 64, 32, 1, 2), 1)),
    "narrow": _narrow,
    "attention": lambda: _attention(BLOCK),
    "attention by matrices": lambda: _attention(MATRICES),
    "gradient": lambda: _gradient(BLOCK),
    "gradient by matrices": lambda: _gradient(MATRICES),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.long
@compiled
def test_no_barrier_is_there_for_nothing(name: str) -> None:
    op, launches, given = CASES[name]()
    for kernel in launches.kernels:
        barriers = [s for s in walk(kernel.body) if isinstance(s, Barrier)]
        for k, barrier in enumerate(barriers):
            broken = _without(kernel, barrier)
            some = tuple([broken if x is kernel else x for x in launches.kernels])
            right = f"{kernel.name} is right without barrier {k + 1} of {len(barriers)}"
            assert _fails(op, replace(launches, kernels=some), given), right


@pytest.mark.parametrize("name", ["attention by matrices", "gradient by matrices"])
@pytest.mark.long
@compiled
def test_what_is_made_wrong_is_noticed(name: str) -> None:
    op, launches, given = CASES[name]()
    for kernel in launches.kernels:
        right = []
        for what, broken in mutants(kernel):
            some = tuple([broken if x is kernel else x for x in launches.kernels])
            try:
                assert_emulated(op, replace(launches, kernels=some), given, 2)
                right.append(what)
            except (KernelFault, AssertionError):
                pass
        assert not [x for x in right if not x.startswith(HARMLESS.get(kernel.name, "nothing"))]


def _fails(op: Op, launches: Launches, given: list[Any]) -> bool:
    """Whether the checker finds a fault."""
    try:
        assert_emulated(op, launches, given)
    except KernelFault:
        return True
    return False


def _without(kernel: Func, barrier: Barrier) -> Func:
    return kernel.with_body(rebuilt(kernel.body, lambda s: () if s is barrier else None))
