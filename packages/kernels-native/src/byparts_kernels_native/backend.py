"""The backend: which nodes it joins, and how regions and single ops become code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    Input,
    Kernel,
    Node,
    Op,
    Pass,
    Refused,
    Table,
    TensorType,
)
from byparts_graph_ir.backend.instruction import Move
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import panels, products, sums, updates, walk
from byparts_kernels_native.converted import in_f32
from byparts_kernels_native.regions import nothing, region_kernel
from byparts_op_loops.function import function
from byparts_op_loops.regions import columns
from byparts_op_loops.regions.axes import CONSTANTS, RESHAPES, kinds, taken, wanted
from byparts_op_loops.regions.joins import joins
from byparts_op_loops.regions.updates import UPDATES
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.compile import default_emitter


class _Kernels(Table[Any]):
    """Rules of this part; beside them all ops of the table `function` have one.

    Whether an op is in that table loads its lowering, so it is asked when the op is met.
    """

    def get(self, op: Op | type[Op]) -> Any:
        """The rule for an op, or `None`."""
        rule = super().get(op)
        if rule is None and function.get(op) is not None:
            kind = op if isinstance(op, type) else type(op)
            self._compiled.add(kind)
            rule = self._rules[kind] = _later("functions", "whole")
        return rule

    def __iter__(self) -> Iterator[type[Op]]:
        for kind in function:
            self.get(kind)
        return super().__iter__()


kernels: Table[Any] = _Kernels("kernel")
PASSES = (*sums.PASSES, Pass("share panels", panels.share_panels, needs=("static",)))
Rule = Callable[[Op, Sequence[TensorType], frozenset[int]], Kernel]


def make() -> Backend:
    """The backend of this process."""
    default_emitter()  # says now that there is no compiler, or that it does not work
    return Backend(
        "native",
        view,
        kernels,
        passes=PASSES,
        wants=wanted,
        joins=joins,
        capture=walk.captured,
        stretches=True,
        loops=True,
        sub_byte=_takes_sub_byte,
    )


def _takes_sub_byte(op: Op) -> bool:
    """Whether the kernel for the op takes i4: those of this package do, others need not."""
    return str(kernels[op].__module__).startswith("byparts_kernels_native.")


def view(memory: Any, offset: int, type: TensorType) -> int:
    """The address of an array; the planner keeps the memory alive."""
    if isinstance(memory, int):
        return memory + offset
    if memory is None:  # of a body whose values have no bytes
        return 0
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) + offset


@kernels.compiles(Fused)
def fused(op: Fused, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A region as one function."""
    return region_kernel(op.graph)


def _alone(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """One op as a region of one node."""
    inputs = tuple([Input(t) for t in types])
    node = Node(op, inputs)
    results = [v.type for v in node.outputs]
    if not any(t.size for t in results):
        return nothing([(i, o) for i, o in op.inplace if types[i] == results[o]])
    if not any(t.size for t in types):
        return _constant(op, types, constants)
    if not taken(node):
        given = ", ".join(map(str, types))
        raise Refused(f"{type(op).__name__} on ({given}) is not generated")
    return region_kernel(Graph.of(inputs, node.outputs))


def _constant(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A copy of what an op gives that has no input, or inputs of no element."""

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        given = [np.empty(t.dims, numpy_dtype(t.dtype)) for t in types]
        arrays = [np.ascontiguousarray(a) for a in op.evaluate(*given)]
        moves = [Move(y, a.ctypes.data, a.nbytes) for y, a in zip(outputs, arrays, strict=True)]
        return walk.captured(moves, False, arrays)

    return Kernel(bind)


@kernels.compiles(ops.MatMul)
def _matmul(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    rows = columns.sums_of_rows(op, types)
    return products.matmul(op, types, constants) if rows is None else region_kernel(rows)


@kernels.compiles(*RESHAPES)
def _bytes(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A copy, where the planner does not make the output bytes of the input."""

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        return walk.captured([Move(outputs[0], inputs[0], types[0].size_bytes)], False)

    return Kernel(bind)


def _later(module: str, name: str) -> Rule:
    """A rule whose module, which has an emitter or large tables, is imported when it is needed."""

    def rule(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
        found: Rule = getattr(import_module(f"byparts_kernels_native.{module}"), name)
        return found(op, types, constants)

    return rule


for _kind in kinds():
    kernels.compiles(_kind)(_alone)
for _kind in (*CONSTANTS, ops.Range, ops.Eye):
    kernels.compiles(_kind)(_constant)
_CONVOLUTIONS = {ops.Conv2d, ops.Conv2dTranspose, ops.Conv2dFilterGradient}
kernels.compiles(ops.Print)(_later("functions", "evaluated"))
kernels.compiles(ops.TopK)(_later("functions", "top_k"))
for _kind in UPDATES:
    kernels.compiles(_kind)(updates.update)
kernels.compiles(ops.AddMatmul)(sums.add_matmul)
kernels.compiles(panels.PackPanels)(panels.pack)
kernels.compiles(panels.PanelMatmul)(panels.multiply)
kernels.compiles(ops.Attention)(in_f32(_later("attention", "forward")))
kernels.compiles(ops.AttentionGradient)(in_f32(_later("attention", "backward")))
for _kind in _CONVOLUTIONS:
    kernels.compiles(_kind)(in_f32(_later("convolution.kernels", "convolution")))
