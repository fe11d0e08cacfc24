"""A graph pass of this backend: several nodes become one op that torch computes in one call.

    c + x * y, c - x * y                           add_mul(c, x, y)
    max_pool, max_pool_gradient of the same        max_pool_indices, max_pool_scatter
    attention of transposed rows, and its gradient attention_rows, attention_rows_gradient

Before, `accumulate` of byparts-opset adds what can be added to products of matrices.

The first saves a pass over the product; only products that nothing else reads are joined.  The
second saves searching for each maximum again.  The third saves eight copies a layer: q, k, v that
are `transpose(rows, (0, 2, 1, 3))` are read from the rows, and the transposed outputs are written
as rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from byparts_graph_ir import FLOATS, Graph, Node, Op, TensorType, Value, inherit
from byparts_graph_ir.model.frozen import field_names
from byparts_kernels_torch.ops import (
    SWAP_AXES,
    AddMul,
    AttentionRows,
    AttentionRowsGradient,
    MaxPoolIndices,
    MaxPoolScatter,
)
from byparts_opset.accumulate import accumulate
from byparts_opset.attention import Attention, AttentionGradient
from byparts_opset.axes import Transpose
from byparts_opset.binary import Add, Mul, Sub
from byparts_opset.pool import MaxPool, MaxPoolGradient


def join(graph: Graph) -> Graph:
    """The same program in the ops of `ops.py`, where they fit.

    Needs static types; preserves values to rounding, effects and order.  O(nodes).
    """
    graph = accumulate(graph, _adds)
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
        """A sum as one op, if one operand is a product of elements.

        Args:
            old: the sum or difference.
            inputs: its inputs in the result.
            places: positions of the operands that may be the product.
            sign: of the product in the sum.
        """
        for i in places:
            factors = self._factors(old.inputs[i])
            if factors is not None:
                return (AddMul(sign)(inputs[1 - i], *factors),)
        return None

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


def _rows_of(v: Value) -> Optional[Value]:
    """The rows [b, time, heads, width] that a value is the transpose of; `None`: it is none."""
    return v.node.inputs[0] if v.node is not None and v.node.op == SWAP_AXES else None


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


def _adds(c: TensorType, product: Node) -> bool:
    """Whether `addmm` adds to this product."""
    a, b = (v.type for v in product.inputs)
    folds = a.rank == 2 or not product.op.transpose_a  # type: ignore[attr-defined]  # a MatMul
    return (
        b.rank == 2 and folds and a.dtype == b.dtype and a.dtype in FLOATS and a.size * b.size > 0
    )
