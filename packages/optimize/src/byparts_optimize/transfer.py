"""Inserts copies so that each node reads values of its own memory space.

    %2 = tanh(%x)                            %2 = tanh(%x)
    %3 = matmul(%2, %w)    matmul: npu  ->   %3 = copy(%2, space="npu:0", source="host")
    %4 = exp(%2)                             %4 = matmul(%3, %w)
                                             %5 = exp(%2)

For given spaces of the nodes these are the fewest copies: one for each value and each other space
that reads it.  A copy stands before the first node that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from byparts_graph_ir import Copy, Graph, GraphError, Node, Value
from byparts_graph_ir.contract import checked

SpaceOf = Callable[[Node], str]


@checked
def transfer(
    graph: Graph,
    space_of: SpaceOf,
    inputs: Sequence[str],
    outputs: Sequence[Optional[str]],
) -> Graph:
    """Return the program with copies, so that each node reads values of its own space.

    Preserves values to the bit, effects and the order of the other nodes.  `Copy` nodes that the
    program has already are kept where they are needed.  Idempotent.  O(values).  The bodies of a
    node are in the space of the node; the pass does not enter them.

    Args:
        graph: the program.
        space_of: returns the space in which a node computes; not called for `Copy` nodes.
        inputs: for each input, the space in which it lies.
        outputs: for each output, the space in which it must lie; `None`: any space.

    Raises:
        GraphError: the number of spaces differs from that of the inputs or outputs.
    """
    _check_count("inputs", inputs, graph.inputs)
    _check_count("outputs", outputs, graph.outputs)
    new = _NewProgram(graph, inputs)
    for node in graph.nodes:
        new.add(node, space_of)
    results = [new.in_space(v, space) for v, space in zip(graph.outputs, outputs, strict=True)]
    after = Graph.of(graph.inputs, results, order=new.order)
    return graph if _same(graph, after) else after


@checked
def spaces(graph: Graph, space_of: SpaceOf, inputs: Sequence[str]) -> tuple[str, ...]:
    """The space of each value of a graph made by `transfer`, indexed by `graph.ids`.

    Raises:
        GraphError: the number of spaces differs from that of the inputs.
    """
    _check_count("inputs", inputs, graph.inputs)
    names = list(inputs)
    for node in graph.nodes:
        space = node.op.space if isinstance(node.op, Copy) else space_of(node)
        names += [space] * len(node.outputs)
    return tuple(names)


class _NewProgram:
    """The nodes of the new program that exist so far.

    Attributes:
        order: its values, in the order in which they are computed.
    """

    def __init__(self, graph: Graph, inputs: Sequence[str]) -> None:
        self.order: list[Value] = []
        self._new: dict[Value, Value] = {
            v: v for v in graph.inputs
        }  # value of the old program -> of the new
        self._home = dict(
            zip(graph.inputs, inputs, strict=True)
        )  # value that no copy made -> its space
        self._origin: dict[Value, Value] = {
            v: v for v in graph.inputs
        }  # value -> the value that it is a copy of, or itself
        self._copies: dict[tuple[Value, str], Value] = {}  # by origin and space

    def add(self, node: Node, space_of: SpaceOf) -> None:
        """Add the node and the copies that it reads; a `Copy` is added only if it is needed."""
        if isinstance(node.op, Copy):
            (x,), (y,) = node.inputs, node.outputs
            self._new[y] = self._copied(self._new[x], node.op.space, node)
            return
        space = space_of(node)
        with_bytes = [i not in node.op.ignores for i in range(len(node.inputs))]
        inputs = tuple(
            [
                self._copied(self._new[v], space) if read else self._new[v]
                for v, read in zip(node.inputs, with_bytes, strict=True)
            ]
        )
        again = node if inputs == node.inputs else Node(node.op, inputs, node.where)
        for old, new in zip(node.outputs, again.outputs, strict=True):
            self._new[old], self._home[new], self._origin[new] = new, space, new
        self.order += again.outputs

    def in_space(self, v: Value, space: Optional[str]) -> Value:
        """The new value for `v` of the old program in `space`; `None`: in any space."""
        return self._new[v] if space is None else self._copied(self._new[v], space)

    def _copied(self, v: Value, space: str, known: Optional[Node] = None) -> Value:
        """New value `v` in `space`: itself, a copy made before, `known` if it is one, or new."""
        origin = self._origin[v]
        home = self._home[origin]
        if home == space:
            return origin
        copy = self._copies.get((origin, space))
        if copy is None:
            op = Copy(space, home)
            if known is not None and known.op == op and known.inputs == (origin,):
                (copy,) = known.outputs
            else:
                line = known.where if known else origin.node.where if origin.node else None
                (copy,) = Node(op, (origin,), line).outputs
            self._copies[origin, space], self._origin[copy] = copy, origin
            self.order.append(copy)
        return copy


def _check_count(what: str, given: Sequence[object], values: Sequence[Value]) -> None:
    if len(given) != len(values):
        raise GraphError(
            f"transfer: {len(given)} spaces of {what} ({', '.join(map(repr, given))}), and the "
            f"program has {len(values)} {what}; give one for each"
        )


def _same(before: Graph, after: Graph) -> bool:
    return before.nodes == after.nodes and before.outputs == after.outputs
