"""A region: nodes that a backend may compute in one go, while the pass `fuse` lets them grow.

The pass asks a backend `joins(a, b)`, often: a chain of n nodes is n questions.  So a region knows
what such a question needs without looking at its nodes: how many they are, which values are read
and how often, and a summary that is the backend's own business (an iteration space, a cost).

    def joins(a: Region, b: Region) -> Region | None:  # c + x @ w, if nobody else reads x @ w
        if a.size == b.size == 1 and type(a.nodes[0].op) is MatMul and type(b.nodes[0].op) is Add:
            if a.only_read_in(b, a.nodes[0].outputs[0]):
                return a.joined(b, summary="product and sum")
        return None
"""

from __future__ import annotations

from byparts_graph_ir.model.graph import Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from byparts_graph_ir.model.value import Node, Value

Reads: TypeAlias = "Mapping[Value, int]"


class Region:
    """Nodes of one program; never changes.

    Args:
        node: the one that the region begins with.
        reads: how often each value of the program is read (`reads_of(graph)`).
        summary: anything that the backend wants to know again when it is asked about this region;
            regions of one node have `None` at first.

    Attributes:
        size: the number of nodes.
        parts: the two regions that were joined; none for one node.
    """

    __slots__ = ("_bounds", "_node", "_nodes", "_reads", "parts", "size", "summary")

    def __init__(self, node: Node, reads: Reads, summary: Any = None) -> None:
        self._node, self._reads = node, reads
        self.parts: tuple[Region, ...] = ()
        self.size = 1
        self.summary = summary
        self._nodes: tuple[Node, ...] | None = (node,)
        self._bounds: tuple[dict[Value, int], dict[Value, int]] | None = None

    def joined(self, other: Region, summary: Any = None) -> Region:
        """The nodes of both as one region with this summary.  O(1): nothing is copied yet."""
        region = Region(self._node, self._reads, summary)
        region.parts = (self, other)
        region.size = self.size + other.size
        region._nodes = None
        return region

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, each after those whose values it reads.  O(size) when first asked for."""
        if self._nodes is None:
            nodes: list[Node] = []
            todo: list[Region] = [self]
            while todo:  # a region of a thousand joins is a thousand parts deep
                region = todo.pop()
                if region._nodes is None:
                    todo += reversed(region.parts)
                else:
                    nodes += region._nodes
            self._nodes = tuple(nodes)
        return self._nodes

    @property
    def inputs(self) -> Reads:
        """The values that are read in here and made elsewhere; how often they are read in here.

        O(inputs and outputs) when first asked for, given those of the parts.
        """
        return self._inputs_and_outputs()[0]

    @property
    def outputs(self) -> Reads:
        """The values that are made in here and read elsewhere; how often they are read elsewhere.

        A result of the program counts as read once.  Cost as of `inputs`.
        """
        return self._inputs_and_outputs()[1]

    def only_read_in(self, other: Region, value: Value) -> bool:
        """Whether all nodes outside this region that read its `value` are nodes of `other`.

        The value then does not leave the region that joins both.  O(1).
        """
        return 0 < self.outputs.get(value, 0) == other.inputs.get(value, 0)

    def _inputs_and_outputs(self) -> tuple[dict[Value, int], dict[Value, int]]:
        """Return the inputs and outputs, after computing those of the parts."""
        todo: list[Region] = [self]
        while self._bounds is None:
            region = todo[-1]
            unknown = [part for part in region.parts if part._bounds is None]
            todo += unknown
            if not unknown:
                region._bounds = _joined_bounds(*region.parts) if region.parts else region._single()
                todo.pop()
        return self._bounds

    def _single(self) -> tuple[dict[Value, int], dict[Value, int]]:
        inputs: dict[Value, int] = {}
        for v in self._node.inputs:
            inputs[v] = inputs.get(v, 0) + 1
        outputs = {v: self._reads[v] for v in self._node.outputs if self._reads.get(v)}
        return inputs, outputs

    def __repr__(self) -> str:
        names = [node.op.name for node in self.nodes[:8]]
        more = [f"{self.size - 8} more"] * (self.size > 8)
        return f"Region({', '.join([*names, *more])})"


def reads_of(graph: Graph) -> dict[Value, int]:
    """The number of times that each value is read by a node or is a result.  O(edges)."""
    reads: dict[Value, int] = {}
    for values in (*[node.inputs for node in graph.nodes], graph.outputs):
        for v in values:
            reads[v] = reads.get(v, 0) + 1
    return reads


def _joined_bounds(a: Region, b: Region) -> tuple[dict[Value, int], dict[Value, int]]:
    """Return the inputs and outputs of both as one: values between them are neither."""
    inputs = dict(a.inputs)
    for v, count in b.inputs.items():
        inputs[v] = inputs.get(v, 0) + count
    outputs = {}
    for written, read in ((a.outputs, b.inputs), (b.outputs, a.inputs)):
        for v, count in written.items():
            inputs.pop(v, None)
            if count > (here := read.get(v, 0)):
                outputs[v] = count - here
    return inputs, outputs
