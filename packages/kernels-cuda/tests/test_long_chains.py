"""A thousand elementwise ops are one kernel, whose text is made without Python's stack."""

from __future__ import annotations

import pytest

from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.mapping import mapped
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_op_loops.regions.region import RegionLoops


@pytest.mark.parametrize("n", [1, 8, 1000])
def test_a_chain_of_a_thousand(n: int) -> None:
    """Also where a thread asks whether it has an element."""
    x, a, b = (Input(TensorType("f32", (n,)), name=name) for name in "xab")
    y: Value = x
    for _ in range(500):
        y = y * b + a
    made = RegionLoops(Graph.of([x, a, b], [y]))
    (kernel,) = mapped(made.func, made.inplace).kernels

    assert emit_cuda(kernel).body.count(" * ") >= 500
    assert emulate(kernel, "checked").body.count(" * ") >= 500
