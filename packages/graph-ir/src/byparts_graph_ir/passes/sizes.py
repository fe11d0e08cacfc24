"""Named dimensions as numbers: the names of a program, and the same program at given sizes.

A graph of named dimensions stands for a graph of each size.  Passes and kernels are made once, on
the names; `with_sizes` then gives the graph of one size, node by node: the i-th node of the result
is the i-th node of the graph.  Every shape rule runs again, on numbers.  What the rules said of the
names must be true of the numbers, or else the graph is not that of this size and an error says so:
a rule may have taken it that `n` is not 1.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ShapeError, add_note
from byparts_graph_ir.model.bodies import body_fields, subgraphs
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.value import Input, Node, Value
from byparts_graph_ir.passes.specialize import bind_fields, names_of, substitute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def with_sizes(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph with numbers in the place of names, its nodes in the same order.  O(nodes).

    Nothing is simplified, so that node and value stand where those of the graph do.

    Raises:
        ShapeError: with these numbers a shape rule gives another type than the names promised, or
            a name has no number.
    """
    known: dict[TensorType, TensorType] = {}
    env: dict[Value, Value] = {}
    for v in graph.inputs:
        kind = _sized(v.type, sizes, known)
        name, line = getattr(v, "name", ""), getattr(v, "where", "")
        env[v] = v if kind is v.type else Input(kind, None, name, line)
    nodes = [_node(old, sizes, known, env) for old in graph.nodes]
    return Graph(
        tuple([env[v] for v in graph.inputs]), tuple(nodes), tuple([env[v] for v in graph.outputs])
    )


def nodes_with_sizes(nodes: Sequence[Node], sizes: Mapping[str, int]) -> tuple[Node, ...]:
    """Nodes that depend on nothing, with numbers in the place of names; as `with_sizes`."""
    return tuple([_node(node, sizes, {}, {}) for node in nodes])


def names_in(graph: Graph) -> frozenset[str]:
    """The names in the dimensions of its inputs: what a call decides."""
    return frozenset([n for v in graph.inputs for d in v.type.shape or () for n in names_of(d)])


def is_sized(node: Node) -> bool:
    """Whether the node holds for one size alone: no name in its types, or free in its bodies."""
    for v in (*node.inputs, *node.outputs):
        if not v.type.static:
            return False
    return not body_fields(type(node.op)) or not any(map(_free_names, subgraphs(node.op)))


def _node(
    old: Node,
    sizes: Mapping[str, int],
    known: dict[TensorType, TensorType],
    env: dict[Value, Value],
) -> Node:
    inputs = tuple([env[v] for v in old.inputs])
    op = bind_fields(old.op, sizes)
    node = old if op is old.op and inputs == old.inputs else Node(op, inputs, old.where)
    for before, now in zip(old.outputs, node.outputs, strict=True):
        promised = _sized(before.type, sizes, known)
        if now.type != promised:
            error = ShapeError(
                f"{op.name}: gives {before.type} for named dimensions, and {now.type} instead of "
                f"{promised} for {', '.join(f'{k} = {n}' for k, n in sorted(sizes.items()))}"
            )
            raise add_note(error, f"created at {old.where}") if old.where else error
        env[before] = now
    return node


def _sized(
    kind: TensorType, sizes: Mapping[str, int], known: dict[TensorType, TensorType]
) -> TensorType:
    sized = known.get(kind)
    if sized is None:
        sized = kind if kind.static else substitute(kind, sizes)
        if not sized.static:
            raise ShapeError(f"{kind} has no numbers where {', '.join(sorted(sizes))} have some")
        known[kind] = sized
    return sized


def _free_names(body: Graph) -> frozenset[str]:
    """The names in a body that are not its own: not in the dimensions of its inputs."""
    shapes = [v.type.shape or () for v in body.values]
    inside = frozenset([n for shape in shapes for d in shape for n in names_of(d)])
    bodies = [s for node in body.nodes if body_fields(type(node.op)) for s in subgraphs(node.op)]
    return inside.union(*map(_free_names, bodies)) - names_in(body)
