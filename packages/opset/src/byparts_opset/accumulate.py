"""The pass that adds to products of matrices as they are computed, for backends that can.

    c + matmul(a, b), c - matmul(a, b)             add_matmul(c, a, b)
    w - rate * matmul(a, b)   (gradient descent)   add_matmul(w, a, b), on the variable itself
    adam of a weight larger than all others        adam of the others, adam of that weight

The first saves a pass over the product.  The second saves the gradient: it is never in memory.
Only products that nothing else reads are joined.  The last splits an op: then the runtime can
compute the largest gradient in the memory of the others (its `in_place.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from byparts_graph_ir import Graph, Node, TensorType, Value, inherit
from byparts_graph_ir.model.frozen import replace
from byparts_opset.add_matmul import AddMatmul
from byparts_opset.binary import Add, Sub
from byparts_opset.constant import Fill
from byparts_opset.matmul import MatMul
from byparts_opset.optimizer import Adam, GradientDescent

Fits = Callable[[TensorType, Node], bool]


def accumulate(graph: Graph, fits: Fits) -> Graph:
    """The same program with sums added to products, where they fit.

    Needs static types; preserves values to rounding, effects and order.  O(nodes).

    Args:
        graph: any.
        fits: whether the backend adds to what the node, a `MatMul`, computes: `fits(c, node)`.
    """
    joining = _Joining(graph, fits)
    for old in graph.nodes:
        inputs = tuple([joining.new[v] for v in old.inputs])
        with inherit(old.where):
            outputs = joining.outputs(old, inputs)
        if outputs is None:
            node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
            outputs = node.outputs
        joining.new.update(zip(old.outputs, outputs, strict=True))
    results = [joining.new[v] for v in graph.outputs]
    return Graph.of(graph.inputs, results, order=joining.new.values())


class _Joining:
    """The state of one run of `accumulate`.

    Attributes:
        new: values of the given graph -> values of the result.
        single: values of the given graph that are read once.
    """

    def __init__(self, graph: Graph, fits: Fits) -> None:
        self.fits = fits
        self.new: dict[Value, Value] = {v: v for v in graph.inputs}
        uses = Counter([v for n in graph.nodes for v in n.inputs])
        uses.update(graph.outputs)
        self.single = {v for v, count in uses.items() if count == 1}

    def outputs(self, old: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The values that replace the outputs of a node; `None`: it stays.

        Args:
            old: a node of the given graph.
            inputs: its inputs in the result.
        """
        match old.op:
            case Add():
                return self._sum(old, inputs, (1, 0), 1.0)
            case Sub():
                return self._sum(old, inputs, (1,), -1.0)
            case GradientDescent():
                return self._updated_weights(old, inputs)
            case Adam(count) if count > 1:
                return _largest_apart(old.op, inputs)
        return None

    def _sum(
        self, old: Node, inputs: tuple[Value, ...], places: Sequence[int], sign: float
    ) -> tuple[Value, ...] | None:
        """A sum as one op, if one operand is a product of matrices.

        Args:
            old: the sum or difference.
            inputs: its inputs in the result.
            places: positions of the operands that may be the product.
            sign: of the product in the sum.
        """
        for i in places:
            product = self._product(old.inputs[i], inputs[1 - i])
            if product is not None and product.outputs[0].type == old.outputs[0].type:
                return (_add_matmul(product, inputs[1 - i], sign),)
        return None

    def _updated_weights(self, old: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """A step of gradient descent in which products of matrices are added to their weights.

        `None` if no gradient is such a product.  The other weights keep one op together.
        """
        count, rate = len(old.outputs), _filled_number(inputs[-1])
        if rate is None:
            return None
        products = [
            self._product(v, w) for w, v in zip(inputs[:count], old.inputs[count:-1], strict=True)
        ]
        rest = [k for k in range(count) if products[k] is None]
        if len(rest) == count:
            return None
        outputs: dict[int, Value] = {}
        if rest:
            left = [inputs[k] for k in (*rest, *(count + k for k in rest))]
            new = GradientDescent(len(rest)).outputs_of(*left, inputs[-1])
            outputs.update(zip(rest, new, strict=True))
        for k, product in enumerate(products):
            if product is not None:
                outputs[k] = _add_matmul(product, inputs[k], -rate)
        return tuple(outputs[k] for k in range(count))

    def _product(self, old: Value, c: Value) -> Node | None:
        """The product of matrices that a value is, if it is read once and c can be added to it."""
        node = self.new[old].node
        if old not in self.single or node is None or not isinstance(node.op, MatMul):
            return None
        return node if self.fits(c.type, node) else None


def _largest_apart(op: Adam, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """An Adam step as two: one of the largest weight, one of the others.

    `None` unless that weight is larger than all others together and its gradient is a product of
    matrices.
    """
    *columns, rate, step = inputs
    sizes = [w.type.size for w in columns[: op.count]]
    k = sizes.index(max(sizes))
    maker = columns[3 * op.count + k].node
    if 2 * sizes[k] <= sum(sizes) or maker is None or not isinstance(maker.op, MatMul):
        return None
    outputs: dict[int, Value] = {}
    for chosen in ([i for i in range(op.count) if i != k], [k]):
        given = [columns[row * op.count + i] for row in range(4) for i in chosen]
        new = replace(op, count=len(chosen)).outputs_of(*given, rate, step)
        places = [row * op.count + i for row in range(3) for i in chosen]
        outputs.update(zip(places, new, strict=True))
    return tuple(outputs[i] for i in range(3 * op.count))


def _add_matmul(product: Node, c: Value, scale: float) -> Value:
    """c + scale * product."""
    op = product.op
    assert isinstance(op, MatMul), "`_product` looks for it"
    return AddMatmul(op.transpose_a, op.transpose_b, scale)(c, *product.inputs)


def _filled_number(v: Value) -> float | None:
    """The number that a value is filled with; `None`: it is not a `Fill`."""
    op = v.node.op if v.node is not None else None
    return float(op.value) if isinstance(op, Fill) else None
