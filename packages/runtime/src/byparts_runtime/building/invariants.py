"""Takes out of the body of a loop what depends on its invariants alone, to compute it once.

A value is taken out if each round reads it and all it depends on are invariants.  Views of an
invariant stay: they cost nothing in a round, and outside they would be copies.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from byparts_graph_ir import Graph, Input, Node, Value, has_effect


def invariant_values(body: Graph, first: int) -> list[Value]:
    """The values to compute before the first round.  O(nodes).

    Args:
        body: of static types.
        first: position of the first invariant among its inputs.
    """
    fixed = set(body.inputs[first:])
    read_by_rounds = list(body.outputs)
    for node in body.nodes:
        if has_effect(node.op) or not fixed.issuperset(node.inputs):
            read_by_rounds += node.inputs
        else:
            fixed.update(node.outputs)
    computed_once: dict[Value, None] = {}
    todo = [v for v in read_by_rounds if v in fixed]
    while todo:
        v = todo.pop()
        if v.node is None or not v.node.inputs:  # given, or a constant of the program
            continue
        if _is_view(v.node):
            todo += v.node.inputs
        else:
            computed_once[v] = None
    return [v for v in body.values if v in computed_once]


def split(body: Graph, first: int, values: Sequence[Value]) -> tuple[Graph, Graph]:
    """Two graphs: (invariants) -> `values`, and the body, which takes these behind its inputs."""
    invariants: dict[Value, Value] = {v: Input(v.type, None, "invariant", "") for v in values}
    env = {v: invariants.get(v, v) for v in body.inputs}
    for old in body.nodes:
        inputs = tuple([env[v] for v in old.inputs])
        node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
        env.update(zip(old.outputs, node.outputs, strict=True))
        env.update({v: invariants[v] for v in old.outputs if v in invariants})
    inputs = (*body.inputs, *invariants.values())
    rounds = Graph.of(inputs, [env[v] for v in body.outputs], order=env.values())
    return Graph.of(body.inputs[first:], values), rounds


def smallest(values: Collection[Value], most_bytes: int) -> list[Value]:
    """The smallest of the values, in order, up to so many bytes in all."""
    fitting = []
    for v in sorted(values, key=lambda v: v.type.size_bytes):
        most_bytes -= v.type.size_bytes
        if most_bytes < 0:
            break
        fitting.append(v)
    return fitting


def _is_view(node: Node) -> bool:
    """Whether all that it gives are bytes of its inputs."""
    views = node.op.views(*[v.type for v in node.inputs])
    return len({output for _, output, _ in views}) == len(node.outputs)
