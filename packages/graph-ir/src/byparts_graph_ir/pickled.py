"""A graph as tuples of numbers, for `pickle`: a program of any length, without recursion.

For what one process sends another: errors, tasks of a pool.  A pickle runs code when it is loaded;
in files a graph is JSON.
"""

from __future__ import annotations

from byparts_graph_ir.graph import Graph, Input, Node, Op, Value
from byparts_graph_ir.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Given: TypeAlias = tuple[TensorType, str, str]  # type, name, where
    Step: TypeAlias = tuple[Op, tuple[int, ...], str]  # op, inputs, where
    Flat: TypeAlias = tuple[tuple[Given, ...], tuple[Step, ...], tuple[int, ...]]


def flat(graph: Graph) -> Flat:
    """Values by their number in `Graph.ids`.  O(nodes)."""
    ids = graph.ids
    given = [(v.type, getattr(v, "name", ""), getattr(v, "where", "")) for v in graph.inputs]
    steps = [(n.op, tuple([ids[v] for v in n.inputs]), n.where) for n in graph.nodes]
    return tuple(given), tuple(steps), tuple([ids[v] for v in graph.outputs])


def graph_of(given: tuple[Given, ...], steps: tuple[Step, ...], outputs: tuple[int, ...]) -> Graph:
    """What `flat` was taken of: an equal graph of new values."""
    inputs = tuple([Input(kind, None, name, line) for kind, name, line in given])
    values: list[Value] = list(inputs)
    nodes: list[Node] = []
    for op, numbers, line in steps:
        nodes.append(Node(op, tuple([values[i] for i in numbers]), line))
        values += nodes[-1].outputs
    return Graph(inputs, tuple(nodes), tuple([values[i] for i in outputs]))
