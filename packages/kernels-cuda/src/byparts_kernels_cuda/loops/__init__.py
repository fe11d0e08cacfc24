"""Ops as loops that suit a GPU, where those for a CPU do not.

A CPU goes through indices in order; a thousand threads cannot.  Here each of them finds by itself
what it has to do: which of several updates of a row is the last, or where its elements stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Op, Table, TensorType
from byparts_op_loops.function import Function, Functions, Rule, function

loops: Table[Rule] = Functions.lazily(  # op -> rule(op, types of inputs)
    "function of loops for a GPU",
    "byparts_kernels_cuda.loops",
    "byparts_opset",
    index="index",
    order="argmax",
    running="cumulative",
    pooling="pool",
)


def loops_of(op: Op, types: Sequence[TensorType]) -> Function:
    """The function of an op of the table `function`, in the loops that suit a GPU."""
    rule = loops.get(op)
    if rule is not None:
        return rule(op, types)
    return function[op](op, types)
