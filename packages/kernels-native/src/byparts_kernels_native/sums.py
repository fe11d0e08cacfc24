"""Products of matrices that are added to something while they are computed.

A sum of gradients over many products, and the step of gradient descent by one, pass over the sum
once a product instead of twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Kernel, Node, Pass, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import products, walk
from byparts_kernels_native.grouped import grouped
from byparts_opset.accumulate import accumulate

RegionKernel = Callable[[Graph], Kernel]


def add_matmul(
    op: Any, types: Sequence[TensorType], constants: frozenset[int], of_region: RegionKernel
) -> Kernel:
    """y = c + scale * a @ b, on the bytes of c where it is as large as y.

    Args:
        op: an `AddMatmul`.
        types: of c, a and b.
        constants: which of them are the same at each run.
        of_region: compiles the copy of c.

    Raises:
        Refused: a dtype that C does not have.
    """
    c, a, b = types
    (y,) = op.infer(*types)
    if c == y:
        return products.matmul(op, types, constants)
    multiply, addend = products.matmul(op, (y, a, b), constants), Input(c)
    copy = of_region(Graph.of([addend], [ops.BroadcastTo(y.dims)(addend)]))

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
    a, b = (v.type for v in product.inputs)
    same = c == product.outputs[0].type and a.dtype == b.dtype and a.dtype in ("f32", "f64")
    return same and a.rank == 2 and b.rank == 2 and a.size * b.size > 0


PASSES = (
    Pass("group products", grouped, needs=("static",)),
    Pass("accumulate", partial(accumulate, fits=_adds), needs=("static",)),
)
