"""A product or convolution and what is computed of its elements are one launch: a pass over graphs.

    relu(add_matmul(b, x, w))                fused(b, x, w, graph=... { add_matmul; relu })
    relu(conv2d(x, w) * scale + y)           fused(x, w, scale, y, graph=... { conv2d; mul; ... })

Elements are computed where a sum is finished; the product is never in memory.  What is joined is
elementwise and makes one array that something else reads; other arrays that it reads are as large,
or broadcast along axes that kernels tell apart.  Where cuBLASLt (cuDNN) is, it computes products
(convolutions), and what follows stays with what else is elementwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from byparts_graph_ir import Fused, Graph, Input, Node, Op, TensorType, Value, inherit
from byparts_kernels_cuda.libraries import cublas, cudnn
from byparts_kernels_cuda.products.contraction import has_kernels
from byparts_opset import AddMatmul, Conv2d, Conv2dTranspose, Fill, MatMul
from byparts_tensor_ir.expression import FLOATS

if TYPE_CHECKING:
    from byparts_gpu_ir.launches import Launches
    from byparts_tensor_ir.expression import Expr

_PRODUCTS = (MatMul, AddMatmul)
_CONVOLUTIONS = (Conv2d, Conv2dTranspose)
_MOST_NODES, _MOST_ARRAYS = 16, 6  # after a product, in one region


def epilogues(graph: Graph) -> Graph:
    """The same program, with products and what follows them as regions.  O(nodes)."""
    chains = _chains(graph)
    inside = {node for chain in chains.values() for node in chain[:-1]}
    new: dict[Value, Value] = {v: v for v in graph.inputs}
    for old in graph.nodes:
        if old in chains:
            with inherit(old.where):
                node = _region(chains[old], new)
        elif old in inside:
            continue
        else:
            inputs = tuple([new[v] for v in old.inputs])
            node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
        new.update(zip(old.outputs, node.outputs, strict=True))
    return Graph.of(graph.inputs, [new[v] for v in graph.outputs], order=new.values())


def is_epilogue(graph: Graph) -> bool:
    """Whether a region was made by this pass."""
    return isinstance(graph.nodes[0].op, (*_PRODUCTS, *_CONVOLUTIONS))


def epilogue_launches(graph: Graph) -> Launches:
    """Launches for the inputs of the product, the other arrays, then the result.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    # Not where the text is on the disk.
    from byparts_kernels_cuda.convolutions import convolution_launches
    from byparts_kernels_cuda.products.after import After
    from byparts_kernels_cuda.products.matmul import add_matmul_launches, matmul_launches
    from byparts_op_loops.elementwise import element

    product, *rest = graph.nodes
    more = graph.inputs[len(product.inputs) :]

    def compute(value: Expr, *elements: Expr) -> Expr:
        known = dict(zip((product.outputs[0], *more), (value, *elements), strict=True))
        for node in rest:
            known[node.outputs[0]] = element[node.op](node.op, *[known[v] for v in node.inputs])
        return known[graph.outputs[0]]

    types, after = [v.type for v in product.inputs], After(compute, tuple([v.type for v in more]))
    if isinstance(product.op, AddMatmul):
        return add_matmul_launches(product.op, types, after=after)
    if isinstance(product.op, MatMul):
        return matmul_launches(product.op, types, after=after)
    assert isinstance(product.op, _CONVOLUTIONS), "`is_epilogue` said so"
    return convolution_launches(product.op, types, after=after)


# -- what is joined --------------------------------------------------------------------------------


def _chains(graph: Graph) -> dict[Node, list[Node]]:
    """Last node of a region -> its nodes, the product first."""
    kinds: tuple[type[Op], ...] = ()
    kinds += _PRODUCTS if cublas.library() is None else ()
    kinds += _CONVOLUTIONS if cudnn.library() is None else ()
    chains: dict[Node, list[Node]] = {}
    finder, taken = _Finder(graph), set[Node]()
    for node in graph.nodes:
        if isinstance(node.op, kinds) and _is_contraction(node):
            chain = finder.chain(node, taken)
            if len(chain) > 1:
                chains[chain[-1]] = chain
                taken.update(chain)
    return chains


def _is_contraction(node: Node) -> bool:
    kind = node.outputs[0].type
    floats = kind.dtype in FLOATS and has_kernels(kind.dtype) and kind.static and kind.size
    return bool(floats) and getattr(node.op, "groups", 1) == 1


class _Finder:
    """Search of a graph for the nodes that follow a product."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = graph.nodes
        self.uses = Counter([*[v for n in graph.nodes for v in n.inputs], *graph.outputs])
        self.readers: dict[Value, list[int]] = {}
        for number, node in enumerate(graph.nodes):
            for v in dict.fromkeys(node.inputs):
                self.readers.setdefault(v, []).append(number)

    def chain(self, product: Node, taken: set[Node]) -> list[Node]:
        """The product, and the most nodes after it of which the last alone is read elsewhere."""
        y = product.outputs[0]
        chain, best, waiting = [product], 1, set(self.readers.get(y, ()))
        unread = {y: self.uses[y]}  # value inside -> how often it is read outside
        while waiting and len(chain) <= _MOST_NODES:
            number = min(waiting)
            waiting.remove(number)
            node = self.nodes[number]
            chain.append(node)
            if node in taken or not _follows(node, chain[:-1]):
                break
            for v in node.inputs:
                if v in unread:
                    unread[v] -= 1
            (z,) = node.outputs
            if not any(unread.values()):
                best = len(chain)
            unread[z] = self.uses[z]
            waiting.update(self.readers.get(z, ()))
        return chain[:best]


def _follows(node: Node, chain: Sequence[Node]) -> bool:
    """Whether the node is elementwise on what the chain makes, and reads little beside."""
    from byparts_op_loops.elementwise import element  # as in `epilogue_launches`

    (y,) = chain[0].outputs
    if [v.type for v in node.outputs] != [y.type] or element.get(node.op) is None:
        return False
    arrays = _arrays([*chain, node])
    merged = getattr(chain[0].op, "layout", "") == "NCHW"  # rows and columns are one axis of y
    return len(arrays) <= _MOST_ARRAYS and all(_fits(v.type, y.type, merged) for v in arrays)


def _arrays(chain: Sequence[Node]) -> list[Value]:
    """Values that nodes after the product read from elsewhere, except results of `Fill`."""
    inner = {v for node in chain for v in node.outputs}
    read = dict.fromkeys([v for node in chain[1:] for v in node.inputs])
    return [v for v in read if v not in inner and _fill(v) is None]


def _fill(v: Value) -> Fill | None:
    """The op, if it is one."""
    return v.node.op if v.node is not None and isinstance(v.node.op, Fill) else None


def _fits(kind: TensorType, y: TensorType, merged: bool) -> bool:
    if not kind.static:
        return False
    flat = not merged or all(d == 1 for d in kind.dims[-2:])
    return kind.dtype == y.dtype and (kind.size == y.size or flat)


def _region(chain: Sequence[Node], new: dict[Value, Value]) -> Node:
    """The nodes as one, of what their inputs have become."""
    product, *rest = chain
    outer = [*product.inputs, *_arrays(chain)]
    placeholders = [Input(v.type, None, "", "") for v in outer]
    count = len(product.inputs)
    nodes = [Node(product.op, tuple(placeholders[:count]), product.where)]
    known: dict[Value, Value] = dict(zip(outer[count:], placeholders[count:], strict=True))
    known[product.outputs[0]] = nodes[0].outputs[0]
    for node in rest:
        for v in node.inputs:
            fill = _fill(v)
            if fill is not None and v not in known:
                nodes.append(Node(fill, (), node.where))
                known[v] = nodes[-1].outputs[0]
        nodes.append(Node(node.op, tuple([known[v] for v in node.inputs]), node.where))
        known[node.outputs[0]] = nodes[-1].outputs[0]
    region = Fused(Graph(tuple(placeholders), tuple(nodes), nodes[-1].outputs))
    return Node(region, tuple([new[v] for v in outer]), rest[-1].where)
