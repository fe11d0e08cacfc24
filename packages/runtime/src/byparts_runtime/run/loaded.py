"""`Loaded`: a placed graph with its constants computed; several machines may run it.

A body is one, too, with a name (`building/body.py`): its memory is in the workspace of its node.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Graph, GraphError, Space
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import Kernels
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import Placed
from byparts_runtime.building.signature import Signature
from byparts_runtime.memory.plan import Bytes, Plan


class Loaded(Frozen):
    """The part of a program that all its machines share; bodies have it too.

    Attributes:
        placed: the graph, its kernels and its plan.
        parts: the backends.
        options: how it was built.
        constants: where the values of the last inputs of the graph are.
    """

    placed: Placed
    parts: Parts
    options: BuildOptions
    constants: tuple[Bytes, ...]

    @property
    def graph(self) -> Graph:
        """The graph that runs; behind feeds and variables it has inputs for the constants."""
        return self.placed.graph

    @property
    def signature(self) -> Signature:
        """The roles of the inputs and outputs of the graph."""
        return self.placed.signature

    @property
    def kernels(self) -> Kernels:
        """The kernel of each node of the graph."""
        return self.placed.kernels

    @property
    def plan(self) -> Plan:
        """The plan: where the values of the graph are."""
        return self.placed.plan

    @property
    def space(self) -> Space:
        """The memory space of feeds and fetches."""
        return self.parts.space

    @property
    def new_value_ids(self) -> list[int]:
        """For each update the id of its new value in the graph."""
        return [self.graph.ids[v] for v in self.signature.new_values(self.graph)]

    def feed_name(self, i: int) -> str:
        """The name of a feed in messages: that of the input, or else its position."""
        return repr(getattr(self.graph.inputs[i], "name", "") or i)

    def check_count(self, feeds: Sequence[object]) -> None:
        """Refuse too many feeds, and too few.

        Raises:
            GraphError: says which feeds there are.
        """
        count = self.signature.feeds
        if len(feeds) != count:
            inputs = self.graph.inputs[:count]
            takes = ", ".join(f"{self.feed_name(i)}: {v.type}" for i, v in enumerate(inputs))
            raise GraphError(f"the program takes {count} feeds ({takes}), got {len(feeds)}")
