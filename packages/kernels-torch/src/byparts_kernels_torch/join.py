"""A graph pass of this backend: several nodes become one op that torch computes in one call.

    c + matmul(a, b), c - matmul(a, b)             add_matmul(c, a, b)
    c + x * y, c - x * y                           add_mul(c, x, y)
    w - rate * matmul(a, b)   (gradient descent)   add_matmul(w, a, b), on the variable itself
    max_pool, max_pool_gradient of the same        max_pool_indices, max_pool_scatter
    attention of turned rows, and its gradient     attention_rows, attention_rows_gradient
    adam of a weight larger than all others        adam of the others, adam of that weight

The first two save a pass over the product.  The third saves the gradient: it is never in memory.
The fourth saves finding each maximum again.  The last saves eight copies a layer: q, k, v that are
`transpose(rows, (0, 2, 1, 3))` are read as rows, and what is turned back was never turned.  Only
products that nobody else reads are joined.  The one that is parted, not joined, lets the runtime
compute the largest gradient where the others were (its `in_place.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from byparts_graph_ir import FLOATS, Graph, Node, Op, TensorType, Value, inherit
from byparts_graph_ir.model.frozen import field_names, replace
from byparts_kernels_torch.ops import (
    TURN,
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
    def __init__(self, graph: Graph) -> None:
        self.new: dict[Value, Value] = {v: v for v in graph.inputs}
        uses = Counter([v for n in graph.nodes for v in n.inputs])
        uses.update(graph.outputs)
        self.single = {v for v, count in uses.items() if count == 1}
        self.pools = _pools(graph)
        self.unpools = set(self.pools.values())
        self.indices: dict[Value, Value] = {}  # y of a pool -> where its maxima are

    def outputs(self, old: Node, inputs: tuple[Value, ...]) -> Optional[tuple[Value, ...]]:
        """What takes the place of a node, or `None`."""
        match old.op:
            case Add():
                return self._sum(old, inputs, (1, 0), 1.0)
            case Sub():
                return self._sum(old, inputs, (1,), -1.0)
            case GradientDescent():
                return self._descent(old, inputs)
            case Adam(count) if count > 1:
                return _parted(old.op, inputs)
            case MaxPool() if old.outputs[0] in self.pools:
                return self._pool(old.op, old.outputs[0], inputs[0])
            case MaxPoolGradient() if old in self.unpools:
                return self._pool_gradient(old, inputs)
            case Attention(causal, scale):
                return self._rows(AttentionRows(causal, scale), inputs, (0,))
            case AttentionGradient(causal, scale):
                return self._rows(AttentionRowsGradient(causal, scale), inputs, (0, 1, 2))
            case Transpose() if old.op == TURN and (rows := _rows(inputs[0])) is not None:
                return (rows,)
        return None

    def _rows(
        self, op: Op, inputs: tuple[Value, ...], turned: Sequence[int]
    ) -> Optional[tuple[Value, ...]]:
        """The op on rows, if all tensors of heads it takes are rows that were turned."""
        if inputs[0].type.rank != 4:
            return None
        rows = [_rows(v) if v.type.rank == 4 else v for v in inputs]  # logsumexp has three axes
        values = [v for v in rows if v is not None]
        if len(values) < len(rows):
            return None
        outputs = op.outputs_of(*values)
        return tuple(TURN(v) if i in turned else v for i, v in enumerate(outputs))

    def _sum(
        self, old: Node, inputs: tuple[Value, ...], places: Sequence[int], sign: float
    ) -> Optional[tuple[Value, ...]]:
        """A sum of which one operand is a product of matrices, or else of elements."""
        for i in places:
            product = self._product(old.inputs[i])
            if product is not None and product.outputs[0].type == old.outputs[0].type:
                return (_added(product, inputs[1 - i], sign),)
        for i in places:
            factors = self._factors(old.inputs[i])
            if factors is not None:
                return (AddMul(sign)(inputs[1 - i], *factors),)
        return None

    def _descent(self, old: Node, inputs: tuple[Value, ...]) -> Optional[tuple[Value, ...]]:
        """Those weights whose gradient is one product; the others stay together."""
        count, rate = len(old.outputs), _number(inputs[-1])
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
                outputs[k] = _added(product, inputs[k], -rate)
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
        """Those of a product of elements that is read once."""
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


def _parted(op: Adam, inputs: tuple[Value, ...]) -> Optional[tuple[Value, ...]]:
    """The largest weight by itself, if it is larger than all others, and its gradient a product."""
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


def _rows(v: Value) -> Optional[Value]:
    """What was turned to make a value."""
    return v.node.inputs[0] if v.node is not None and v.node.op == TURN else None


def _added(product: Node, c: Value, scale: float) -> Value:
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


def _number(v: Value) -> Optional[float]:
    op = v.node.op if v.node is not None else None
    return float(op.value) if isinstance(op, Fill) else None


def _fits(a: TensorType, b: TensorType) -> bool:
    return a.dtype == b.dtype and a.dtype in FLOATS and a.size > 0 and b.size > 0
