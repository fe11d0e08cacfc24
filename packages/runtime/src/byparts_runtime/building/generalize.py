"""Generalization: a graph of named dimensions out of two graphs that differ in numbers alone.

    (x: f32[17,4]) -> reshape(x, (68,))    and    (x: f32[16,4]) -> reshape(x, (64,))
    give (x: f32[_size_0,4]) -> reshape(x, ("4*_size_0",))

A front-end that follows a program with the arrays of a call makes a graph of numbers for each size.
Where two such graphs have the same ops on the same inputs, the dimensions of feeds that differ are
names, and every number that differs elsewhere is an expression of them: the one of the shape rule
("(n+1)//2" of a convolution by steps of 2) if it gives both numbers, else `c * name + d`, or a
product of two names.  Two points allow many expressions, so a third size may belong to another one:
whoever uses the result compares what it gives for a size with the graph of that size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, Optional

from byparts_graph_ir import (
    Dimension,
    Graph,
    Input,
    Node,
    Op,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_graph_ir.model.bodies import body_fields
from byparts_graph_ir.model.frozen import field_names, replace
from byparts_graph_ir.model.value import output_types, typed_node
from byparts_graph_ir.passes.specialize import OF_THE_PROGRAM

Pair = tuple[int, int]


class _DifferError(Exception):
    """Two graphs differ in more than numbers of dimensions."""


def common_form(graph: Graph) -> tuple[Any, ...]:
    """Form that two graphs must share to be generalized: classes of ops, and what they read."""
    ids = graph.ids
    nodes = [(type(n.op), tuple([ids[v] for v in n.inputs])) for n in graph.nodes]
    inputs = [(v.type.dtype, v.type.rank) for v in graph.inputs]
    return tuple(inputs), tuple(nodes), tuple([ids[v] for v in graph.outputs])


def generalized(one: Graph, other: Graph, feeds: int) -> Optional[Graph]:
    """A graph that is `one` and `other` at two sizes; `None` where they differ otherwise.

    Only the first `feeds` inputs get names.  O(nodes), bodies included.
    """
    names: dict[Pair, str] = {}
    for v, w in zip(one.inputs[:feeds], other.inputs[:feeds], strict=True):
        for pair in zip(v.type.dims, w.type.dims, strict=True):
            if pair[0] != pair[1]:
                names.setdefault(pair, f"{OF_THE_PROGRAM}{len(names)}")
    if not names:
        return None
    try:
        return _Pairs(names).graph(one, other)
    except _DifferError:
        return None


class _Pairs:
    """Pairs of numbers, each an expression of names."""

    def __init__(self, names: dict[Pair, str]) -> None:
        self.names = names
        self.known: dict[Pair, Dimension] = dict(names)

    def graph(self, one: Graph, other: Graph) -> Graph:
        if common_form(one) != common_form(other):
            raise _DifferError
        new: dict[Value, Value] = {}
        for v, w in zip(one.inputs, other.inputs, strict=True):
            name, line = getattr(v, "name", ""), getattr(v, "where", "")
            new[v] = Input(self.type(v.type, w.type), None, name, line)
        for a, b in zip(one.nodes, other.nodes, strict=True):
            inputs, op = tuple([new[v] for v in a.inputs]), self.op(a.op, b.op)
            node = typed_node(op, inputs, a.where, self.types(op, inputs, a, b))
            new.update(zip(a.outputs, node.outputs, strict=True))
        return Graph(
            tuple([new[v] for v in one.inputs]),
            tuple([v.node for v in new.values() if v.node is not None and v is v.node.outputs[0]]),
            tuple([new[v] for v in one.outputs]),
        )

    def types(self, op: Op, inputs: Sequence[Value], a: Node, b: Node) -> Types:
        """Types by the shape rule, if they are those of both nodes; else by what two points say."""
        pairs = [(v.type, w.type) for v, w in zip(a.outputs, b.outputs, strict=True)]
        try:
            ruled = output_types(op, [v.type for v in inputs])
        except Exception:  # of a rule that knows numbers alone: any
            return tuple([self.type(*pair) for pair in pairs])
        return tuple([self.agreed(kind, *pair) for kind, pair in zip(ruled, pairs, strict=True)])

    def agreed(self, ruled: TensorType, one: TensorType, other: TensorType) -> TensorType:
        """The type of the shape rule, if it is both types at their sizes."""
        shape = ruled.shape or ()
        for kind, i in ((one, 0), (other, 1)):
            sizes = {name: pair[i] for pair, name in self.names.items()}
            if kind.shape != tuple([dimension(d, sizes) for d in shape]):
                return self.type(one, other)
        for *pair, d in zip(one.dims, other.dims, shape, strict=True):
            self.known.setdefault((pair[0], pair[1]), d)
        return ruled

    def type(self, one: TensorType, other: TensorType) -> TensorType:
        if one == other:
            return one
        if one.dtype != other.dtype or one.rank != other.rank:
            raise _DifferError
        return TensorType(one.dtype, self.dims(one.dims, other.dims))

    def dims(self, one: Sequence[Any], other: Sequence[Any]) -> tuple[Dimension, ...]:
        if len(one) != len(other):
            raise _DifferError
        return tuple([self.dimension(pair) for pair in zip(one, other, strict=True)])

    def dimension(self, pair: tuple[Any, Any]) -> Dimension:
        if pair[0] == pair[1]:
            number: Dimension = pair[0]
            return number
        if not all([isinstance(n, int) for n in pair]):
            raise _DifferError
        if pair not in self.known:
            self.known[pair] = self._expression(pair)
        return self.known[pair]

    def _expression(self, pair: Pair) -> Dimension:
        """`c * name + d` with whole numbers, or a product of two names."""
        a, b = pair
        for (m, n), name in self.names.items():
            c, rest = divmod(a - b, m - n)
            if not rest and c > 0:
                d = a - c * m
                return dimension(f"{c}*{name}{'-' if d < 0 else '+'}{abs(d)}")
        for (p, x), (q, y) in combinations_with_replacement(self.names.items(), 2):
            products = p[0] * q[0], p[1] * q[1]
            c = a // products[0] if products[0] else 0
            if c and (c * products[0], c * products[1]) == pair:
                return dimension(f"{c}*{x}*{y}")
        raise _DifferError

    def op(self, one: Op, other: Op) -> Op:
        if one == other:
            return one
        bodies, changed = body_fields(type(one)), dict[str, Any]()
        for name in field_names(type(one)):
            a, b = getattr(one, name), getattr(other, name)
            if name in one.shape_fields:
                changed[name] = self.dims(a, b)
            elif name in one.size_fields and a != b:
                changed[name] = self.dimension((_whole(a), _whole(b)))
            elif name in bodies:
                changed[name] = self.bodies(a, b)
            elif a != b:
                raise _DifferError
        return replace(one, **changed)

    def bodies(self, one: Any, other: Any) -> Any:
        if isinstance(one, Graph) and isinstance(other, Graph):
            return self.graph(one, other)
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            return tuple([self.bodies(a, b) for a, b in zip(one, other, strict=True)])
        if one != other:
            raise _DifferError
        return one


def _whole(number: Any) -> Any:
    """A number that counts as an integer."""
    if isinstance(number, float) and number.is_integer():
        return int(number)
    return number
