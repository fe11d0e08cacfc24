"""Named dimensions as numbers: the names of a program, and the same program at given sizes.

A graph of named dimensions stands for a graph of each size.  Passes and kernels are made once, on
the names; `NamedGraph.at` then gives the graph of one size, node by node: the i-th node of the
result is the i-th node of the graph.  Every shape rule runs again, on numbers.  What the rules said
of the names must be true of the numbers, or else the graph is not that of this size and an error
says so: a rule may have taken it that `n` is not 1.

Nodes of equal ops on equal types are a group (the layers of a network are mostly alike), and a
shape rule runs once for each group: a node takes 2 us instead of 15.  The rule of a node that no
name concerns, such as an update of weights, does not run again.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ShapeError, add_note
from byparts_graph_ir.model.bodies import body_fields, subgraphs
from byparts_graph_ir.model.digest import op_text
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.value import Input, Node, Value, output_types, typed_node
from byparts_graph_ir.passes.specialize import (
    OF_THE_PROGRAM,
    bind_fields,
    names_of,
    substitute,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from byparts_graph_ir.model.op import Op
    from byparts_graph_ir.model.types import Dimension

Sizes: TypeAlias = "Mapping[str, int]"
_Rule: TypeAlias = "tuple[Op, tuple[TensorType, ...]]"


def with_sizes(graph: Graph, sizes: Sizes) -> Graph:
    """The graph with numbers in the place of names; see `NamedGraph.at`."""
    return NamedGraph(graph).at(sizes)


class NamedGraph:
    """A graph of named dimensions, prepared for being given numbers.  O(nodes) to make.

    Attributes:
        graph: the graph.
        groups: for each node the number of its group.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        keys: dict[object, int] = {}
        groups, self._firsts = [], list[Node]()
        for node in graph.nodes:
            key = (type(node.op), op_text(node.op), tuple([v.type for v in node.inputs]))
            groups.append(keys.setdefault(key, len(keys)))
            if len(keys) > len(self._firsts):
                self._firsts.append(node)
        self.groups = tuple(groups)
        self._fixed: list[_Rule | None] = [
            (node.op, tuple([v.type for v in node.outputs])) if is_sized(node) else None
            for node in self._firsts
        ]

    def at(self, sizes: Sizes) -> Graph:
        """The graph with numbers in the place of names, its nodes in the same order.  O(nodes).

        Nothing is simplified, so that node and value stand where those of the graph do.

        Raises:
            ShapeError: with these numbers a shape rule gives another type than the names promised,
                or a name has no number.
        """
        known: dict[TensorType, TensorType] = {}
        env: dict[Value, Value] = {}
        for v in self.graph.inputs:
            kind = _sized(v.type, sizes, known)
            name, line = getattr(v, "name", ""), getattr(v, "where", "")
            env[v] = v if kind is v.type else Input(kind, None, name, line)
        rules, nodes = self._rules(sizes, known), []
        for old, group in zip(self.graph.nodes, self.groups, strict=True):
            op, types = rules[group]
            node = typed_node(op, tuple([env[v] for v in old.inputs]), old.where, types)
            nodes.append(node)
            env.update(zip(old.outputs, node.outputs, strict=True))
        inputs = tuple([env[v] for v in self.graph.inputs])
        return Graph(inputs, tuple(nodes), tuple([env[v] for v in self.graph.outputs]))

    def check(self, sizes: Sizes) -> None:
        """Run the shape rules on these numbers, without making a graph.  O(groups).

        Raises:
            ShapeError: as `at`.
        """
        self._rules(sizes, {})

    def _rules(self, sizes: Sizes, known: dict[TensorType, TensorType]) -> list[_Rule]:
        """For each group the op at these sizes, and the types that it gives."""
        of_groups = zip(self._firsts, self._fixed, strict=True)
        return [_rule(node, sizes, known) if fixed is None else fixed for node, fixed in of_groups]


def names_in(graph: Graph) -> frozenset[str]:
    """The names in the dimensions of its inputs: what a call decides."""
    return frozenset([n for v in graph.inputs for d in v.type.shape or () for n in names_of(d)])


def is_sized(node: Node) -> bool:
    """Whether no name concerns the node: none in its types and fields, none free in its bodies."""
    for v in (*node.inputs, *node.outputs):
        if not v.type.static:
            return False
    if any([isinstance(d, str) for d in _field_dimensions(node.op)]):
        return False
    return not body_fields(type(node.op)) or not any(map(_free_names, subgraphs(node.op)))


def _rule(node: Node, sizes: Sizes, known: dict[TensorType, TensorType]) -> _Rule:
    """The op of a node at these sizes, and the types that it gives."""
    op = bind_fields(node.op, sizes, simplify=False)
    types = [_sized(v.type, sizes, known) for v in node.inputs]
    promised = [_sized(v.type, sizes, known) for v in node.outputs]
    try:
        given = output_types(op, types)
        if list(given) == promised:
            return op, given
        listed = ", ".join(f"{name} = {n}" for name, n in sorted(sizes.items()))
        raise ShapeError(
            f"{op.name}: gives {', '.join(map(str, given))} for {listed}, where the named "
            f"dimensions promise {', '.join(map(str, promised))}"
        )
    except ShapeError as error:
        if node.where:
            add_note(error, f"created at {node.where}")
        raise


def _sized(kind: TensorType, sizes: Sizes, known: dict[TensorType, TensorType]) -> TensorType:
    sized = known.get(kind)
    if sized is None:
        sized = kind if kind.static else substitute(kind, sizes)
        if not sized.static:
            raise ShapeError(f"{kind} has no numbers where {', '.join(sorted(sizes))} have some")
        known[kind] = sized
    return sized


def _field_dimensions(op: Op) -> list[Dimension]:
    """The dimensions in the fields of an op, numbers and names.

    A field may have a name where no type has one: a rule has found what the name must be.
    """
    lone = [getattr(op, name) for name in op.size_fields]
    return [*lone, *[d for name in op.shape_fields for d in getattr(op, name) or ()]]


def _free_names(body: Graph) -> frozenset[str]:
    """The names in a body that are not its own: not in the dimensions of its inputs."""
    shapes = [v.type.shape or () for v in body.values]
    shapes += [tuple(_field_dimensions(node.op)) for node in body.nodes]
    inside = frozenset([n for shape in shapes for d in shape for n in names_of(d)])
    bodies = [s for node in body.nodes if body_fields(type(node.op)) for s in subgraphs(node.op)]
    own = {name for name in names_in(body) if not name.startswith(OF_THE_PROGRAM)}
    return inside.union(*map(_free_names, bodies)) - own
