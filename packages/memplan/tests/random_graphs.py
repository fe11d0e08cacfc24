"""Random graphs over the ops of the tests: for properties that any graph must have."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hypothesis.strategies import DrawFn, composite, integers, sampled_from, sets
from planned_ops import (
    Add,
    AddTo,
    Cast,
    Copy,
    Full,
    Neg,
    Reshape,
    Rows,
    Shout,
    Split,
    Twins,
    given,
)

from byparts_graph_ir import Graph, Node, Op, OptimizationBarrier, TensorType, Types, Value

SIZES = (0, 1, 2, 3, 5)


class Shaped(Op):
    """Like the second input, whose bytes it does not read."""

    ignores = (1,)
    inplace = ((0, 0),)

    def infer(self, x: TensorType, like: TensorType) -> Types:
        return (like,)


@composite
def graphs(draw: DrawFn, most: int = 7) -> Graph:
    """Up to `most` nodes: in place, views, effects, barriers, several outputs, dead ends."""
    inputs = [given(draw(sampled_from(SIZES)), 2) for _ in range(draw(integers(0, 3)))]
    values: list[Value] = [*inputs]
    nodes: list[Node] = []
    for _ in range(draw(integers(0, most))):
        op = draw(sampled_from(OPS)) if values else Full((draw(sampled_from(SIZES)), 2))
        nodes.append(Node(*_applied(draw, op, values), ""))
        values += nodes[-1].outputs
    outputs = draw(sets(integers(0, len(values) - 1), max_size=3)) if values else ()
    return Graph(tuple(inputs), tuple(nodes), tuple(values[i] for i in outputs))


@composite
def graphs_with_external(draw: DrawFn, most: int = 7) -> tuple[Graph, frozenset[int]]:
    """And which of the inputs live outside the arena."""
    graph = draw(graphs(most))
    positions = range(len(graph.inputs))
    return graph, draw(sets(sampled_from(positions)).map(frozenset)) if positions else frozenset()


OPS: tuple[Op, ...] = (
    *(Neg(), Copy(), Add(), AddTo(), Shaped(), Twins(), Shout(), Split(), Cast("i32")),
    *(OptimizationBarrier(), Reshape(()), Rows(0, 1), Full((2, 2)), Add(), Copy()),
)


def _applied(draw: DrawFn, op: Op, values: list[Value]) -> tuple[Op, tuple[Value, ...]]:
    """The op made to fit some of the values."""
    if isinstance(op, Full):
        return op, ()
    x = draw(sampled_from(values))
    match op:
        case Reshape():
            return Reshape((x.type.size,)), (x,)
        case Rows():
            return Rows(0, min(1, x.type.dims[0])), (x,)
        case Add() | AddTo() | Twins():
            return op, (x, draw(sampled_from([v for v in values if v.type == x.type])))
        case Shaped() | OptimizationBarrier():
            return op, (x, draw(sampled_from(values)))
    return op, (x,)


def all_orders(graph: Graph) -> Iterator[Graph]:
    """Every order of the nodes with inputs before users, effects as they were."""
    todo: list[tuple[Node, ...]] = [()]
    while todo:
        done = todo.pop()
        if len(done) == len(graph.nodes):
            yield Graph(graph.inputs, done, graph.outputs)
            continue
        rest = [n for n in graph.nodes if n not in done]
        effect = next((n for n in rest if n.op.effect), None)
        for node in rest:
            known = all(v.node is None or v.node in done for v in node.inputs)
            if known and (node is effect or not node.op.effect):
                todo.append((*done, node))


def there_and_back(random: Random, depth: int) -> Graph:
    """A chain of copies, casts and sums with what came before, each read again in reverse."""
    x = given(64)
    kept: list[Value] = []
    y: Value = x
    for _ in range(depth):
        alike = [v for v in kept if v.type == y.type]
        kind = random.choice(["copy", "copy", "cast", "add"])
        if kind == "add" and alike:
            y = Add()(y, random.choice(alike))
        else:
            y = Cast(random.choice(["f16", "f64"]))(y) if kind == "cast" else Copy()(y)
        kept.append(y)
    for v in reversed(kept):
        back = y if v.type == y.type else Cast(v.type.dtype)(y)
        y = Add()(Copy()(back), v)
    return Graph.of([x], [y])
