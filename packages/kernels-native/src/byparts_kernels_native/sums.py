"""Products of matrices that are added to something while they are computed.

A sum of gradients over many products, and the step of gradient descent by one, pass over the sum
once a product instead of twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Kernel, KernelFamily, Node, Pass, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import products, walk
from byparts_kernels_native.grouped import grouped
from byparts_kernels_native.regions import region_kernel
from byparts_kernels_native.tilings import are_matrices_of_floats
from byparts_op_loops.rules import is_symbolic
from byparts_opset.accumulate import accumulate


def add_matmul(
    op: Any, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    """An `AddMatmul`: y = c + scale * a @ b, on the bytes of c where it is as large as y.

    Raises:
        Refused: a dtype that C does not have.
    """
    c, a, b = types
    (y,) = op.infer(*types)
    if is_symbolic(op, types):
        return products.family(op, types, constants)
    if c == y:
        return products.matmul(op, types, constants)
    multiply, addend = products.matmul(op, (y, a, b), constants), Input(c)
    copy = region_kernel(Graph.of([addend], [ops.BroadcastTo(y.dims)(addend)]))

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, more: Any) -> Run:
        first = copy.bind(inputs[:1], outputs, workspace, more)
        then = multiply.bind([*outputs, *inputs[1:]], outputs, workspace, more)
        return walk.captured([first, then], False)

    workspace_bytes = max(copy.workspace_bytes, multiply.workspace_bytes)
    return Kernel(bind, workspace_bytes, multiply.persistent_bytes, (), True)


def _adds(c: TensorType, product: Node) -> bool:
    """Whether the product is of two matrices, and c as large as it.

    A smaller c, such as a bias, is added in the region that follows: it passes over the product
    anyway.
    """
    a, b = product.inputs
    return c == product.outputs[0].type and are_matrices_of_floats(a.type, b.type)


PASSES = (
    Pass("group products", grouped, needs=("static",)),
    Pass("accumulate", partial(accumulate, fits=_adds), needs=("static",)),
)
