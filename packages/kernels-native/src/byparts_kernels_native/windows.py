"""Convolution and pooling as loops of tensor-ir, for every case that has no code of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import Kernel, Op, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_tensor_ir import lower
from byparts_tensor_ir.compile import vector_bytes
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.lowering.elementwise import takes
from byparts_tensor_ir.lowering.window import program


def windowed(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """The loops of the op's tensor program."""
    if not all(takes(t.dtype) and t.static for t in types):
        given = ", ".join(map(str, types))
        raise Refused(f"{type(op).__name__} on ({given}): no such dtype in C")
    inputs, outputs = program(op, types)
    source = emit_c(lower([*inputs, *outputs], "window"), vector_bytes())
    name = code.later(source)

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        return code.call(name, [*inputs, *outputs, workspace or 0])

    return Kernel(bind, source.workspace_bytes, 0, (), True)
