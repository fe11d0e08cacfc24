"""A product of matrices and an activation that alone reads it are one launch: a pass over graphs.

    relu(add_matmul(b, x, w))     fused(b, x, w, graph=... { add_matmul; relu })

The activation is computed of each sum when it is finished; the product is never in memory.  Where
cuBLASLt is, it computes products, and activations stay with what else is elementwise.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from byparts_graph_ir import Fused, Graph, Input, Node, Value, inherit
from byparts_kernels_cuda.libraries import cublas
from byparts_kernels_cuda.products.contraction import has_kernels
from byparts_opset import AddMatmul, MatMul
from byparts_tensor_ir.expression import FLOATS

if TYPE_CHECKING:
    from byparts_tensor_ir.launches import Launches


def epilogues(graph: Graph) -> Graph:
    """The same program, with products and their activations as regions.  O(nodes)."""
    if cublas.library() is not None:
        return graph
    uses = Counter([*[v for n in graph.nodes for v in n.inputs], *graph.outputs])
    new: dict[Value, Value] = {v: v for v in graph.inputs}
    for old in graph.nodes:
        inputs = tuple([new[v] for v in old.inputs])
        node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
        product = inputs[0].node if len(inputs) == 1 else None
        if product is not None and uses[old.inputs[0]] == 1 and _fits(node, product):
            with inherit(old.where):
                node = _region(product, node)
        new.update(zip(old.outputs, node.outputs, strict=True))
    return Graph.of(graph.inputs, [new[v] for v in graph.outputs], order=new.values())


def is_epilogue(graph: Graph) -> bool:
    """Whether a region was made by this pass."""
    return isinstance(graph.nodes[0].op, (MatMul, AddMatmul))


def epilogue_launches(graph: Graph) -> Launches:
    """Launches for the inputs of the product, then the result.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    # Not where the text is on the disk.
    from byparts_kernels_cuda.products.matmul import add_matmul_launches, matmul_launches
    from byparts_tensor_ir.lowering.elementwise import element

    product, last = graph.nodes
    types = [v.type for v in product.inputs]
    if isinstance(product.op, AddMatmul):
        return add_matmul_launches(product.op, types, after=lambda x: element[last.op](last.op, x))
    assert isinstance(product.op, MatMul), "`is_epilogue` said so"
    return matmul_launches(product.op, types, after=lambda x: element[last.op](last.op, x))


def _fits(node: Node, product: Node) -> bool:
    """Whether a node of one input is elementwise on what a product of floats gives."""
    from byparts_tensor_ir.lowering.elementwise import element  # as in `epilogue_launches`

    if not isinstance(product.op, (MatMul, AddMatmul)) or element.get(node.op) is None:
        return False
    kind = product.outputs[0].type
    floats = kind.dtype in FLOATS and has_kernels(kind.dtype) and kind.size
    return bool(floats) and [v.type for v in node.outputs] == [kind]


def _region(product: Node, node: Node) -> Node:
    given = tuple([Input(v.type, None, "", "") for v in product.inputs])
    inner = Node(product.op, given, product.where)
    last = Node(node.op, inner.outputs, node.where)
    return Node(Fused(Graph(given, (inner, last), last.outputs)), product.inputs, node.where)
