"""Puts each value into the memory spaces in which it is read.

    %2 = tanh(%x)                            %2 = tanh(%x)
    %3 = matmul(%2, %w)    matmul: npu  ->   %3 = copy(%2, space="npu:0", source="host")
    %4 = exp(%2)                             %4 = matmul(%3, %w)
                                             %5 = exp(%2)

The fewest copies for given spaces of the nodes: one for each value and each space that reads it and
is not where it is made, at the first node that reads it there.
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
    """The same program in which each node reads values of its own space.

    Needs nothing; preserves values to the bit, effects and the order of the other nodes.  Copies
    that are there already are kept where they are needed.  Idempotent.  O(values); a node is in one
    space with all of its bodies, which are not entered.

    Args:
        graph: the program.
        space_of: the space in which a node computes, by its op and types; not asked of copies.
        inputs: for each input, the space that it is in.
        outputs: for each output, the space in which it is wanted; `None`: wherever it is.

    Raises:
        GraphError: there are more or fewer spaces than inputs or outputs.
    """
    _check_count("inputs", inputs, graph.inputs)
    _check_count("outputs", outputs, graph.outputs)
    made = _Made(graph, inputs)
    for node in graph.nodes:
        made.add(node, space_of)
    results = [made.wanted(v, space) for v, space in zip(graph.outputs, outputs, strict=True)]
    after = Graph.of(graph.inputs, results, order=made.order)
    return graph if _same(graph, after) else after


@checked
def spaces(graph: Graph, space_of: SpaceOf, inputs: Sequence[str]) -> tuple[str, ...]:
    """The space of each value, by `graph.ids`; for what `transfer` gave.

    Raises:
        GraphError: there are more or fewer spaces than inputs.
    """
    _check_count("inputs", inputs, graph.inputs)
    found = list(inputs)
    for node in graph.nodes:
        space = node.op.space if isinstance(node.op, Copy) else space_of(node)
        found += [space] * len(node.outputs)
    return tuple(found)


class _Made:
    """The new program, as far as it is made.

    Attributes:
        order: its values, in the order in which they are made.
    """

    def __init__(self, graph: Graph, inputs: Sequence[str]) -> None:
        self.order: list[Value] = []
        self._new: dict[Value, Value] = {v: v for v in graph.inputs}  # of values before
        self._home = dict(zip(graph.inputs, inputs, strict=True))  # of values that no copy made
        self._origin: dict[Value, Value] = {v: v for v in graph.inputs}  # before all copies
        self._copies: dict[tuple[Value, str], Value] = {}  # by origin and space

    def add(self, node: Node, space_of: SpaceOf) -> None:
        """The node, or what stands in its place, and the copies that it reads."""
        if isinstance(node.op, Copy):
            (x,), (y,) = node.inputs, node.outputs
            self._new[y] = self._there(self._new[x], node.op.space, node)
            return
        space = space_of(node)
        with_bytes = [i not in node.op.ignores for i in range(len(node.inputs))]
        inputs = tuple(
            [
                self._there(self._new[v], space) if read else self._new[v]
                for v, read in zip(node.inputs, with_bytes, strict=True)
            ]
        )
        again = node if inputs == node.inputs else Node(node.op, inputs, node.where)
        for old, new in zip(node.outputs, again.outputs, strict=True):
            self._new[old], self._home[new], self._origin[new] = new, space, new
        self.order += again.outputs

    def wanted(self, v: Value, space: Optional[str]) -> Value:
        """A value of the program before, in the space; `None`: wherever it is."""
        return self._new[v] if space is None else self._there(self._new[v], space)

    def _there(self, v: Value, space: str, known: Optional[Node] = None) -> Value:
        """The value in that space: itself, the copy that there is, or a new one (maybe `known`)."""
        origin = self._origin[v]
        home = self._home[origin]
        if home == space:
            return origin
        found = self._copies.get((origin, space))
        if found is None:
            op = Copy(space, home)
            if known is not None and known.op == op and known.inputs == (origin,):
                (found,) = known.outputs
            else:
                line = known.where if known else origin.node.where if origin.node else None
                (found,) = Node(op, (origin,), line).outputs
            self._copies[origin, space], self._origin[found] = found, origin
            self.order.append(found)
        return found


def _check_count(what: str, given: Sequence[object], values: Sequence[Value]) -> None:
    if len(given) != len(values):
        raise GraphError(
            f"transfer: {len(given)} spaces of {what} ({', '.join(map(repr, given))}), and the "
            f"program has {len(values)} {what}; give one for each"
        )


def _same(before: Graph, after: Graph) -> bool:
    return before.nodes == after.nodes and before.outputs == after.outputs
