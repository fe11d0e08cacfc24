"""`Bound`: a placed graph at addresses; each node that has something to do becomes one step.

The graph of a program, the body of a loop and the constants are bound by the same class.  They
differ in where their inputs are, and in which steps may be bound to other bytes later.

Backends of one space look at the same bytes, each through its own view.  Values of one type on the
same bytes share a view: NumPy sees that `out is x` and skips its search for overlap, 0.28 us a tiny
op instead of 0.46.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Optional

from byparts_graph_ir import Backend, GraphError, Node, Space, TensorType, Value, add_note
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime.building.kernels import NodeKernel, describe
from byparts_runtime.building.place import Placed
from byparts_runtime.memory.plan import Bytes, Location, after
from byparts_runtime.run.step import Step, aliased_nodes

_NO_RUNS: Mapping[Node, Run] = MappingProxyType({})


class Bound:
    """A placed graph, bound to memory.

    Args:
        placed: the graph, its plan and its kernels.
        inputs: position of an input outside the arena -> its bytes.
        arenas: name of a space -> where the arena of the graph begins there.
        persistent: name of a space -> where the persistent blocks of its kernels begin there.

    Attributes:
        places: where each value of the graph is, by its id.
    """

    def __init__(
        self,
        placed: Placed,
        inputs: Mapping[int, Bytes],
        arenas: Mapping[str, Bytes],
        persistent: Mapping[str, Bytes],
    ) -> None:
        graph, plan = placed.graph, placed.plan
        self._graph, self._locations = graph, plan.locations
        self._several = len(arenas) > 1  # where there is one space, locations need not name it
        self.places = _places(plan.locations, inputs, arenas)
        kernels = [placed.kernels(node) for node in graph.nodes]
        names = [kernel.backend.space.name for kernel in kernels]
        starts = getattr(plan, "workspaces", ()) or [0] * len(names)
        workspaces = [after(arenas[name], at) for name, at in zip(names, starts, strict=True)]
        starts = placed.persistent
        blocks = [after(persistent[name], at) for name, at in zip(names, starts, strict=True)]
        of_nodes = zip(kernels, workspaces, blocks, strict=True)
        self._of_node = dict(zip(graph.nodes, of_nodes, strict=True))
        aliased = aliased_nodes(graph, plan.locations)
        self._nodes = [node for node in graph.nodes if node not in aliased]
        self._views: dict[tuple[str, int, int, TensorType], Any] = {}

    @property
    def outputs(self) -> tuple[Bytes, ...]:
        """The place of each output of the graph."""
        return tuple([self.place(v) for v in self._graph.outputs])

    def place(self, value: Value) -> Bytes:
        """The place of a value of the graph."""
        return self.places[self._graph.ids[value]]

    def root(self, value: Value) -> Optional[int]:
        """Position of the input whose bytes a value is in; `None`: the arena."""
        return self._locations[self._graph.ids[value]].root

    def kernel(self, node: Node) -> NodeKernel:
        """The kernel of a node."""
        return self._of_node[node][0]

    def touching(self, inputs: Container[int]) -> list[Node]:
        """The nodes with a step that read or write bytes of these inputs, given by position."""
        return [
            node
            for node in self._nodes
            if any(self.root(v) in inputs for v in (*node.inputs, *node.outputs))
        ]

    def steps(self, runs: Mapping[Node, Run] = _NO_RUNS) -> tuple[Step, ...]:
        """Bind the nodes, in order, but for those that are not to run.  O(nodes).

        Args:
            runs: what to run for some of the nodes, in the place of their bound kernels.

        Raises:
            Exception: what a backend raised while binding, with a note that says for which node.
        """
        return tuple([self._step(node, runs) for node in self._nodes])

    def move(self, inputs: Mapping[int, Bytes]) -> None:
        """Let what is bound from now on find these inputs at other bytes."""
        for i, at in enumerate(self._locations):
            if at.root is not None and at.root in inputs:
                self.places[i] = after(inputs[at.root], at.offset)
        self._views.clear()  # the memory before may be freed, and its address used again

    def run(self, node: Node) -> Run:
        """Bind the kernel of a node.

        Raises:
            Exception: what a backend raised while binding, with a note that says for which node.
        """
        compiled = self.kernel(node)
        try:
            run = compiled.kernel.bind(*self.arguments(node))
        except Exception as error:
            add_note(error, f"while binding {describe(node)} on {compiled.backend.name!r}")
            raise
        if not callable(run):
            name = compiled.backend.name
            raise GraphError(
                f"{node.op.name}: the kernel rule of backend {name!r} gave {run!r:.60}; it "
                "must return a callable of no arguments, e.g. partial(np.tanh, x, y)"
            )
        return run

    def arguments(self, node: Node) -> tuple[list[Any], list[Any], Any, Any]:
        """The arguments of `Kernel.bind`: inputs, outputs, workspace, persistent block."""
        compiled, workspace, persistent = self._of_node[node]
        backend, kernel = compiled.backend, compiled.kernel
        return (
            [self._input(backend, node, i) for i in range(len(node.inputs))],
            [self._view(backend, v) for v in node.outputs],
            _block(backend, workspace, kernel.workspace_bytes),
            _block(backend, persistent, kernel.persistent_bytes),
        )

    def _step(self, node: Node, runs: Mapping[Node, Run]) -> Step:
        run = runs[node] if node in runs else self.run(node)
        return Step(node, self.kernel(node).backend.name, run)

    def _input(self, backend: Backend, node: Node, i: int) -> Any:
        """Input `i` of a node: its array, or any of its type where no kernel could see it.

        An input whose bytes the op ignores is not copied to the space of the node.
        """
        v, here = node.inputs[i], backend.space.name
        there = self._locations[self._graph.ids[v]].space if self._several else here
        if i in node.op.ignores and there != here:
            return backend.view(backend.space.untouched(v.type.size_bytes), 0, v.type)
        return self._view(backend, v)

    def _view(self, backend: Backend, value: Value) -> Any:
        place = self.place(value)
        key = (backend.name, id(place.memory), place.offset, value.type)
        if key not in self._views:
            self._views[key] = backend.view(place.memory, place.offset, value.type)
        return self._views[key]


def persistent_memory(placed: Placed, spaces: Mapping[str, Space]) -> dict[str, Bytes]:
    """Allocate the persistent blocks of the kernels in each of these spaces.

    The memory is new, and zero, each time: what was prepared in the old one may hold addresses of
    an arena that has moved.
    """
    size = placed.persistent_bytes
    return {name: Bytes(s.allocate(size) if size else None, 0) for name, s in spaces.items()}


def _places(
    locations: Sequence[Location], inputs: Mapping[int, Bytes], arenas: Mapping[str, Bytes]
) -> list[Bytes]:
    """The bytes of each value, by its location."""
    only = next(iter(arenas.values())) if len(arenas) == 1 else None  # a location need not name it
    return [
        after((only or arenas[at.space]) if at.root is None else inputs[at.root], at.offset)
        for at in locations
    ]


def _block(backend: Backend, place: Bytes, size: int) -> Any:
    return backend.view(place.memory, place.offset, TensorType("u8", (size,))) if size else None
