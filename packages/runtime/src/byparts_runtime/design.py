"""All that is decided before there is memory: what to run, on what, with which variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Optional

from byparts_graph_ir import Backend, Graph, Input, Space
from byparts_graph_ir.lazy_dataclass import dataclass, replace
from byparts_runtime.bind import Bytes
from byparts_runtime.capture import CaptureArgument
from byparts_runtime.plan import Plan, Planner, check_plan
from byparts_runtime.variable import Variable

CommitArgument = Literal["auto", "copy", "exchange"]
COMMITS = ("auto", "copy", "exchange")


@dataclass(frozen=True)
class Design:
    """A graph with what its inputs and outputs are.

    Its inputs are `feeds` feeds, the variables, the constants, and then, with `commit="exchange"`,
    an input for the second memory of each updated variable, which no node reads: the planner may
    "donate" it to the new value.  Its outputs are `fetches` fetches and the updates.  `in_place`
    are (input, output) positions of variables and new values that may be written over them by the
    last nodes, within the commit.  `results` is the backend whose arrays the fetches are; NumPy's
    if there is none.
    """

    graph: Graph
    feeds: int
    fetches: int
    variables: tuple[Variable, ...]
    updates: tuple[Variable, ...]
    constants: tuple[Bytes, ...]
    backends: tuple[Backend, ...]
    planner: Planner
    alignment: int
    commit: CommitArgument = "auto"
    in_place: tuple[tuple[int, int], ...] = ()
    capture: CaptureArgument = "auto"
    results: Optional[Backend] = None

    @property
    def space(self) -> Space:
        """The one memory space of all backends."""
        return self.backends[0].space

    @property
    def first_constant(self) -> int:
        """Its position among the inputs."""
        return self.feeds + len(self.variables)

    @property
    def first_second(self) -> int:
        """Position of the first second memory among the inputs."""
        return self.first_constant + len(self.constants)

    def plan(self, *, external_feeds: bool) -> Plan:
        """Where every value goes; the planner's answer, checked."""
        first = 0 if external_feeds else self.feeds
        external = frozenset(range(first, len(self.graph.inputs)))
        seconds = range(self.first_second, len(self.graph.inputs))
        donate = dict(self.in_place) | {k: self.fetches + j for j, k in enumerate(seconds)}
        options = {"donate": donate} if donate else {}
        made = self.planner(self.graph, external=external, alignment=self.alignment, **options)
        check_plan(self.graph, made, external)
        return made

    def outside(self, feeds: Sequence[Bytes] = ()) -> dict[int, Bytes]:
        """Input position -> bytes outside the arena, for the variables' present sides."""
        found = dict(enumerate(feeds))
        values = [Bytes(v.memory(v.side[0]), 0) for v in self.variables]
        found.update(enumerate(values, self.feeds))
        found.update(enumerate(self.constants, self.first_constant))
        if self.commit == "exchange":
            seconds = [Bytes(v.memory(1 - v.side[0]), 0) for v in self.updates]
            found.update(enumerate(seconds, self.first_second))
        return found


def with_seconds(design: Design) -> Design:
    """The design whose commit is an exchange."""
    graph = design.graph
    seconds = tuple(Input(v.type, None, f"{v.name}_new", "") for v in design.updates)
    extended = Graph((*graph.inputs, *seconds), graph.nodes, graph.outputs)
    return replace(design, graph=extended, commit="exchange")
