"""The backend: what it wants joined, and what it compiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from acme_byparts_c.capture import capture
from acme_byparts_c.compiler import call, check_compiler, later
from acme_byparts_c.expressions import EXPRESSIONS, REDUCTIONS
from acme_byparts_c.loops import Loops
from acme_byparts_c.product import narrow_product
from acme_byparts_c.space import joins, wants
from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    Input,
    Kernel,
    KernelRule,
    Node,
    Op,
    Pass,
    Table,
    TensorType,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_opset import MatMul
from byparts_opset.dtypes import Array, numpy_dtype
from byparts_optimize import merge

kernels: Table[KernelRule] = Table("kernel")
kernels.compiles(MatMul)(narrow_product)


@kernels.compiles(Fused)
def region(op: Fused, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """One function for all nodes of the graph."""
    loops = Loops(op.graph)
    name, sizes = later(loops.body()), loops.sizes

    def bind(inputs: Any, outputs: Any, workspace: Any, persistent: Any) -> Run:
        return call(name, [*inputs, *outputs, 0 if workspace is None else workspace, *sizes])

    return Kernel(bind, loops.workspace_bytes, inplace=loops.inplace, atomic=True)


@kernels.compiles(*EXPRESSIONS, *REDUCTIONS)
def single(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A region of one node."""
    inputs = tuple(Input(t, None, "", "") for t in types)
    node = Node(op, inputs, "")
    kernel: Kernel = region(Fused(Graph(inputs, (node,), node.outputs)), types, constants)
    return kernel


def view(memory: Any, offset: int, type: TensorType) -> Array:
    """`memory` from `offset` on, as NumPy sees it."""
    dtype = numpy_dtype(type.dtype)
    if type.size == 0:
        return np.empty(type.dims, dtype)
    found: Array = np.frombuffer(memory, dtype, type.size, offset).reshape(type.dims)
    return found


def make() -> Backend:
    """Raises MissingCompiler where there is no gcc."""
    check_compiler()
    return Backend(
        "c",
        view,
        kernels,
        passes=(Pass("merge", merge),),  # decompositions have parts in common
        wants=wants,
        joins=joins,
        capture=capture,
        stretches=True,
    )
