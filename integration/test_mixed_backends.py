"""Two backends of one space in one program: what one lacks runs on the other, on the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Backend, Graph, Input, KernelRule, MissingRule, Op, Table, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import build

pytest.importorskip("torch", reason="needs torch")

Bound = tuple[str, Op, list[int], list[int]]  # backend, op, addresses read, addresses written
SIZES = TensorType("f32", (4, 6)), TensorType("f32", (6, 5))


def layer() -> Graph:
    """sum(tanh(x @ w) * 2), by rows."""
    x, w = (Input(t, name=name) for t, name in zip(SIZES, "xw", strict=True))
    return Graph.of([x, w], [ops.sum(ops.tanh(x @ w) * 2, 1)])


def watched(backend: Backend, address: Callable[[Any], int], seen: list[Bound]) -> Backend:
    """The backend with some kernels only, which write down where their tensors are."""
    kernels: Table[KernelRule] = Table("kernel")

    def watch(rule: KernelRule) -> KernelRule:
        def bind(op: Op, inputs: Sequence[Any], outputs: Sequence[Any], *workspace: Any) -> Run:
            places = [list(map(address, arrays)) for arrays in (inputs, outputs)]
            seen.append((backend.name, op, places[0], places[1]))
            return rule(op, inputs, outputs, *workspace)  # type: ignore[no-any-return]

        return bind

    for op in (ops.MatMul(), ops.Mul(), ops.Sum(), ops.Tanh(), ops.Fill(0.0)):
        if (backend.name, op) != ("torch", ops.Tanh()):  # the gap
            rule = watch(backend.kernels[op])
            kernels.on(type(op), workspace=backend.kernels.takes_workspace(op))(rule)
    return replace(backend, kernels=kernels, passes=(), wants=None, capture=None)


def test_a_gap_of_torch_runs_on_numpy_without_a_copy() -> None:
    """The addresses that NumPy sees are those that torch sees before and after."""
    seen: list[Bound] = []
    torch_ = watched(parts.backend("torch"), lambda t: t.data_ptr(), seen)
    numpy_ = watched(parts.backend("numpy"), lambda a: a.__array_interface__["data"][0], seen)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(t.dims).astype(np.float32) for t in SIZES)

    program = build(layer(), backends=(torch_, numpy_))
    (y,) = program(x, w)

    assert [(s.node.op.name, s.backend) for s in program.steps] == [
        *(("matmul", "torch"), ("tanh", "numpy"), ("mul", "torch"), ("sum", "torch")),
    ]
    last = {type(one[1]): one for one in seen}  # those before were bound to compile them
    product, tanh, double = (last[op] for op in (ops.MatMul, ops.Tanh, ops.Mul))
    assert tanh[2] == product[3] and double[2][0] == tanh[3][0]
    np.testing.assert_allclose(y, np.tanh(x @ w).sum(1) * 2, rtol=1e-5)


def test_a_gap_in_all_backends_is_named() -> None:
    """With its types."""
    torch_ = watched(parts.backend("torch"), lambda t: t.data_ptr(), [])

    with pytest.raises(MissingRule, match=r"no kernel for Tanh on \(f32\[4,5\]\)"):
        build(layer(), backends=(torch_,))


def test_the_order_of_the_list_decides() -> None:
    """Both have all of it: the first named computes."""
    for first, second in (("torch", "numpy"), ("numpy", "torch")):
        program = build(layer(), backends=(first, second))

        assert {s.backend for s in program.steps} == {first}
