"""What `build` has decided, with the constants computed: all that machines need but memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import GraphError, Space
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import Placed
from byparts_runtime.building.signature import Signature
from byparts_runtime.memory.plan import Bytes, Plan


@dataclass(frozen=True)
class Loaded:
    """What runs, and what all machines that run it share.

    Attributes:
        constants: where the values of the last inputs of the graph are.
    """

    placed: Placed
    parts: Parts
    options: BuildOptions
    constants: tuple[Bytes, ...]

    @property
    def graph(self) -> Any:
        """The graph that runs; constants are its last inputs."""
        return self.placed.schedule.graph

    @property
    def signature(self) -> Signature:
        """The roles of its inputs and outputs."""
        return self.placed.schedule.compiled.signature

    @property
    def plan(self) -> Plan:
        """Where its values are."""
        return self.placed.plan

    @property
    def space(self) -> Space:
        """The memory space of feeds and fetches."""
        return self.parts.space

    def feed_name(self, i: int) -> str:
        """How errors call a feed: by the name of the input, or else its position."""
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
