"""A graph pass of this backend: several nodes become one op that torch computes in one call.

    c + matmul(a, b), c - matmul(a, b)             add_matmul(c, a, b)
    c + x * y, c - x * y                           add_mul(c, x, y)
    w - rate * matmul(a, b)   (gradient descent)   add_matmul(w, a, b), on the variable itself
    max_pool, max_pool_gradient of the same        max_pool_indices, max_pool_scatter
    attention of transposed rows, and its gradient attention_rows, attention_rows_gradient
    adam of a weight larger than all others        adam of the others, adam of that weight

The first two save a pass over the product.  The third saves the gradient: it is never in memory.
The fourth saves searching for each maximum again.  The fifth saves eight copies a layer: q, k, v
that are `transpose(rows, (0, 2, 1, 3))` are read from the rows, and the transposed outputs are
written as rows.  Only products that nothing else reads are joined.  The last splits an op: then the
runtime can compute the largest gradient in the memory of the others (its `in_place.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from byparts_graph_ir import FLOATS, Graph, Node, Op, TensorType, Value, inherit
from byparts_graph_ir.model.frozen import field_names, replace
from byparts_kernels_torch.ops import (
    SWAP_AXES,
    AddMatMul,
    AddMul,
    AttentionRows,
    AttentionRowsGradient,
    MaxPoolIndices,
    MaxPoolScatter,
)
from byparts_opset.attention import Attention, AttentionGradient
from byparts_opset.axes import Transpose
from byparts_opset.binary import Add, Mul, Sub
from byparts_opset.constant import Fill
from byparts_opset.matmul import MatMul
from byparts_opset.optimizer import Adam, GradientDescent
from byparts_opset.pool import MaxPool, MaxPoolGradient


def join(graph: Graph) -> Graph:
    """The same program in the ops of `ops.py`, where they fit.

    Needs static types; preserves values to rounding, effects and order.  O(nodes).
    """
    joining = _Joining(graph)
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
    """The state of one run of `join`.

    Attributes:
        new: values of the given graph -> values of the result.
        single: values of the given graph that are read once.
        pools: y of a max pool -> the node of its gradient.
        unpools: the nodes of these gradients.
        indices: y of a max pool -> the indices of its maxima, in the result.
    """

    def __init__(self, graph: Graph) -> None:
        self.new: dict[Value, Value] = {v: v for v in graph.inputs}
        uses = Counter([v for n in graph.nodes for v in n.inputs])
        uses.update(graph.outputs)
        self.single = {v for v, count in uses.items() if count == 1}
        self.pools = _pools(graph)
        self.unpools = set(self.pools.values())
        self.indices: dict[Value, Value] = {}

    def outputs(self, old: Node, inputs: tuple[Value, ...]) -> Optional[tuple[Value, ...]]:
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
            case MaxPool() if old.outputs[0] in self.pools:
                return self._pool(old.op, old.outputs[0], inputs[0])
            case MaxPoolGradient() if old in self.unpools:
                return self._pool_gradient(old, inputs)
            case Attention(causal, scale):
                return self._on_rows(AttentionRows(causal, scale), inputs, (0,))
            case AttentionGradient(causal, scale):
                return self._on_rows(AttentionRowsGradient(causal, scale), inputs, (0, 1, 2))
            case Transpose() if old.op == SWAP_AXES and (rows := _rows_of(inputs[0])) is not None:
                return (rows,)
        return None

    def _on_rows(
        self, op: Op, inputs: tuple[Value, ...], swapped_outputs: Sequence[int]
    ) -> Optional[tuple[Value, ...]]:
        """The outputs of `op` on rows, if each input of rank 4 is the transpose of rows.

        Args:
            op: takes and gives rows [b, time, heads, width].
            inputs: of the attention that it replaces, [b, heads, time, width].
            swapped_outputs: positions of the outputs to transpose back to heads.
        """
        if inputs[0].type.rank != 4:
            return None
        rows = [_rows_of(v) if v.type.rank == 4 else v for v in inputs]  # logsumexp has three axes
        values = [v for v in rows if v is not None]
        if len(values) < len(rows):
            return None
        outputs = op.outputs_of(*values)
        return tuple(SWAP_AXES(v) if i in swapped_outputs else v for i, v in enumerate(outputs))

    def _sum(
        self, old: Node, inputs: tuple[Value, ...], places: Sequence[int], sign: float
    ) -> Optional[tuple[Value, ...]]:
        """A sum as one op, if one operand is a product of matrices, or else of elements.

        Args:
            old: the sum or difference.
            inputs: its inputs in the result.
            places: positions of the operands that may be the product.
            sign: of the product in the sum.
        """
        for i in places:
            product = self._product(old.inputs[i])
            if product is not None and product.outputs[0].type == old.outputs[0].type:
                return (_add_matmul(product, inputs[1 - i], sign),)
        for i in places:
            factors = self._factors(old.inputs[i])
            if factors is not None:
                return (AddMul(sign)(inputs[1 - i], *factors),)
        return None

    def _updated_weights(self, old: Node, inputs: tuple[Value, ...]) -> Optional[tuple[Value, ...]]:
        """A step of gradient descent in which products of matrices are added to their weights.

        `None` if no gradient is such a product.  The other weights keep one op together.
        """
        count, rate = len(old.outputs), _filled_number(inputs[-1])
        if rate is None:
            return None
        products = [self._product(v) for v in old.inputs[count:-1]]
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

    def _product(self, old: Value) -> Optional[Node]:
        """The product of matrices that a value is, if it is read once and torch can add to it."""
        node = self.new[old].node
        if old not in self.single or node is None or not isinstance(node.op, MatMul):
            return None
        a, b = (v.type for v in node.inputs)
        folds = a.rank == 2 or not node.op.transpose_a
        return node if b.rank == 2 and folds and _fits(a, b) else None

    def _factors(self, old: Value) -> Optional[tuple[Value, ...]]:
        """The two factors of a product of elements that is read once, in f32 or f64."""
        node = self.new[old].node
        if old not in self.single or node is None or not isinstance(node.op, Mul):
            return None
        return node.inputs if old.type.dtype in ("f32", "f64") else None

    def _pool(self, op: MaxPool, old: Value, x: Value) -> tuple[Value, ...]:
        y, self.indices[old] = MaxPoolIndices(**_window(op)).outputs_of(x)
        return (y,)

    def _pool_gradient(self, old: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        x, _, dy = inputs
        return (MaxPoolScatter(**_window(old.op))(dy, self.indices[old.inputs[1]], x),)


def _largest_apart(op: Adam, inputs: tuple[Value, ...]) -> Optional[tuple[Value, ...]]:
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


def _rows_of(v: Value) -> Optional[Value]:
    """The rows [b, time, heads, width] that a value is the transpose of; `None`: it is none."""
    return v.node.inputs[0] if v.node is not None and v.node.op == SWAP_AXES else None


def _add_matmul(product: Node, c: Value, scale: float) -> Value:
    """c + scale * product."""
    op = product.op
    assert isinstance(op, MatMul), "`_product` looks for it"
    return AddMatMul(op.transpose_a, op.transpose_b, scale)(c, *product.inputs)


def _pools(graph: Graph) -> Mapping[Value, Node]:
    """y of a pool -> the node that computes the gradient of that very pool."""
    makers: dict[Value, Node] = {}
    for node in graph.nodes:
        if not isinstance(node.op, MaxPoolGradient):
            continue
        x, y, _ = node.inputs
        pool = y.node
        same = pool is not None and isinstance(pool.op, MaxPool) and pool.inputs == (x,)
        same = same and x.type.dtype in FLOATS  # torch counts places in the type of the elements
        if same and pool is not None and _window(pool.op) == _window(node.op):
            makers[y] = node
    return makers


def _window(op: Op) -> dict[str, Any]:
    """The fields of a pool or its gradient, which have the same."""
    return {name: getattr(op, name) for name in field_names(type(op))}


def _filled_number(v: Value) -> Optional[float]:
    """The number that a value is filled with; `None`: it is not a `Fill`."""
    op = v.node.op if v.node is not None else None
    return float(op.value) if isinstance(op, Fill) else None


def _fits(a: TensorType, b: TensorType) -> bool:
    return a.dtype == b.dtype and a.dtype in FLOATS and a.size > 0 and b.size > 0
