"""Products of small matrices with large results or operands, several as one.

    a0.T @ b0 + a1.T @ b1      concat(a0, a1).T @ concat(b0, b1)       passes over the sum once
    x0 @ w, x1 @ w             parts of concat(x0, x1) @ w             packs w once

The first is the gradient of a weight that is used in each round of an unrolled loop, the second
what such a round computes of its inputs.  What is put together is smaller than one result, so that
memory does not grow by more than that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Node, Value, inherit
from byparts_kernels_native.tilings import are_matrices_of_floats

_ROWS = 256  # of products by one matrix that are one: more are no faster


@dataclass(frozen=True)
class _Sum:
    """`base` (nothing if `None`) plus products of one kind, which are not computed yet."""

    base: Value | None
    products: tuple[Node, ...] = ()


def grouped(graph: Graph) -> Graph:
    """The same program with such products as one.

    Needs static types; preserves values to rounding, effects and order.  O(nodes).
    """
    return _Grouping(graph).result()


@dataclass
class _Grouping:
    """The state of one run of `grouped`.

    Attributes:
        new: values of the given graph -> values of the result.
        sums: values of the given graph that are sums still to be computed.
        order: values of the result, in the order in which they are to be computed.
        concatenated: (parts, axis) -> their concat, so that it is made once.
        added: values that one addition alone reads.
        rows: a product of rows of an input -> all products that are computed with it.
    """

    graph: Graph
    new: dict[Value, Value] = field(default_factory=dict)
    sums: dict[Value, _Sum] = field(default_factory=dict)
    order: list[Value] = field(default_factory=list)
    concatenated: dict[tuple[tuple[Value, ...], int], Value] = field(default_factory=dict)
    added: set[Value] = field(default_factory=set)
    rows: dict[Node, list[Node]] = field(default_factory=dict)

    def result(self) -> Graph:
        """Visit all nodes of the given graph, and return the new one."""
        graph = self.graph
        self.new.update((v, v) for v in graph.inputs)
        readers = [(v, n) for n in graph.nodes for v in n.inputs]
        uses = Counter([v for v, _ in readers] + list(graph.outputs))
        self.added = {v for v, n in readers if uses[v] == 1 and type(n.op) is ops.Add}
        self.rows = _by_matrix(graph)
        for old in graph.nodes:
            if old.outputs[0] in self.new:
                continue  # computed with others
            with inherit(old.where):
                self._visit(old)
                self.order += [self.new[v] for v in old.outputs if v in self.new]
        outputs = [self.new[v] for v in graph.outputs]
        return Graph.of(graph.inputs, outputs, order=self.order)

    def _visit(self, old: Node) -> None:
        (y, *_) = old.outputs
        if type(old.op) is ops.MatMul:
            if y in self.added and _most_depth(old) >= 2 * _depth(old):
                self.sums[y] = _Sum(None, (self._rebuilt(old),))
                return
            if old in self.rows:
                self._rows_of(self.rows[old])
                return
        if type(old.op) is ops.Add and any(v in self.sums for v in old.inputs):
            self._add(old)
            return
        self.new.update(zip(old.outputs, self._rebuilt(old).outputs, strict=True))

    def _rebuilt(self, old: Node) -> Node:
        """The node on values of the result."""
        inputs = tuple([self.new[v] for v in old.inputs])
        return old if inputs == old.inputs else Node(old.op, inputs, old.where)

    def _add(self, old: Node) -> None:
        """Add the operands of an `Add`: later, if a sum that reads it may have more products."""
        (y,) = old.outputs
        a, b = [self.sums.pop(v) if v in self.sums else _Sum(self.new[v]) for v in old.inputs]
        both = (*a.products, *b.products)
        bases = [v for v in (a.base, b.base) if v is not None]
        alike = len({(p.op, p.outputs[0].type, _depth(p)) for p in both}) == 1
        if not alike or any(v.type != y.type for v in bases) or y.type != both[0].outputs[0].type:
            self.new[y] = self._value(a) + self._value(b)
            return
        base = bases[0] + bases[1] if len(bases) == 2 else bases[0] if bases else None
        whole = _Sum(base, both)
        if (len(both) + 1) * _depth(both[0]) > _most_depth(both[0]):
            whole = _Sum(self._value(whole))
        if y in self.added:
            self.sums[y] = whole
        else:
            self.new[y] = self._value(whole)

    def _value(self, s: _Sum) -> Value:
        """The value of a sum: its products as one product of concatenated operands."""
        if not s.products:
            assert s.base is not None, "a sum is of something"
            return s.base
        op = s.products[0].op
        assert isinstance(op, ops.MatMul), "`_visit` looks for it"
        a, b = zip(*[p.inputs for p in s.products], strict=True)
        product = op(
            self._concat(a, 0 if op.transpose_a else 1),
            self._concat(b, 1 if op.transpose_b else 0),
        )
        self.order.append(product if s.base is None else s.base + product)
        return self.order[-1]

    def _concat(self, parts: tuple[Value, ...], axis: int) -> Value:
        """The concat of the parts, made once: products of several weights share a factor."""
        if len(parts) == 1:
            return parts[0]
        if (parts, axis) not in self.concatenated:
            self.concatenated[parts, axis] = ops.concat(parts, axis)
        return self.concatenated[parts, axis]

    def _rows_of(self, nodes: Sequence[Node]) -> None:
        """Compute products by one matrix as one product, and slice their results from it."""
        for n in nodes:
            for maker in _makers(n.inputs[0]):
                if maker.outputs[0] not in self.new:
                    self.new.update(zip(maker.outputs, self._rebuilt(maker).outputs, strict=True))
        op = nodes[0].op
        assert isinstance(op, ops.MatMul), "`_by_matrix` looks for it"
        whole = op(
            ops.concat([self.new[n.inputs[0]] for n in nodes], 0), self.new[nodes[0].inputs[1]]
        )
        row = 0
        for n in nodes:
            count = n.inputs[0].type.dims[0]
            self.new[n.outputs[0]] = whole[row : row + count]
            row += count


def _by_matrix(graph: Graph) -> dict[Node, list[Node]]:
    """Products of rows of inputs by one matrix -> those that are computed together."""
    open_groups: dict[tuple[object, Value], list[Node]] = {}
    groups: dict[Node, list[Node]] = {}
    for n in graph.nodes:
        if type(n.op) is not ops.MatMul or not _fits(n) or n.op.transpose_a:
            continue
        if not isinstance(n.inputs[1], Input) or 2 * n.inputs[0].type.dims[0] > _ROWS:
            continue
        if list(_makers(n.inputs[0])) == [] and not isinstance(n.inputs[0], Input):
            continue
        group = open_groups.setdefault((n.op, n.inputs[1]), [])
        rows = sum([m.inputs[0].type.dims[0] for m in (*group, n)])
        if rows > _ROWS:
            group = open_groups[n.op, n.inputs[1]] = []
        group.append(n)
        groups[n] = group
    return {n: group for n, group in groups.items() if len(group) > 1}


def _makers(x: Value) -> Iterator[Node]:
    """The nodes that make x, first ones first, where x is bytes of an input; else none."""
    nodes: list[Node] = []
    while x.node is not None and len(x.node.op.views(*[v.type for v in x.node.inputs])):
        nodes.append(x.node)
        x = x.node.inputs[0]
    yield from reversed(nodes) if isinstance(x, Input) else ()


def _fits(n: Node) -> bool:
    a, b = n.inputs
    return are_matrices_of_floats(a.type, b.type)


def _depth(n: Node) -> int:
    """The number of products in each sum: the extent that both operands share; 1 if not known."""
    a = n.inputs[0].type
    return a.dims[0 if n.op.transpose_a else 1] if a.static else 1  # type: ignore[attr-defined]  # MatMul


def _most_depth(n: Node) -> int:
    """The largest depth at which both operands together are no larger than the product."""
    if not _fits(n):
        return 0
    m, k = n.outputs[0].type.dims
    return m * k // (m + k)
