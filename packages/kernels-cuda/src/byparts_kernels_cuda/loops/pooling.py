"""Pooling without a padded copy of the image: a window asks what is inside."""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_graph_ir import Op, TensorType
from byparts_kernels_cuda.loops import loops
from byparts_op_loops.function import Function, function
from byparts_tensor_ir.schedule.place import inline


@loops.on(
    ops.MaxPool,
    ops.MaxPoolGradient,
    ops.MaxPoolGradientGradient,
    ops.AveragePool,
    ops.AveragePoolGradient,
)
def _pool(op: Op, types: Sequence[TensorType]) -> Function:
    general = function[op](op, types)
    func = general.unscheduled or general.func
    if any(b.name == "framed" for b in func.locals):
        func = inline(func, "framed")
    return Function(func)
