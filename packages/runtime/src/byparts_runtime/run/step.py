"""Binds kernels to addresses: each node becomes one step, a callable of no arguments.

Backends of one space look at the same bytes, each through its own view.  Values of one type on the
same bytes share a view: NumPy sees that `out is x` and skips its search for overlap, 0.28 us a tiny
op instead of 0.46.  A node whose outputs already *are* bytes of its inputs (the op says so, the
plan placed them so) needs no step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_graph_ir import (
    Backend,
    Graph,
    GraphError,
    Node,
    TensorType,
    Value,
    add_note,
    has_effect,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.kernels import NodeKernel, describe
from byparts_runtime.memory.plan import Bytes, Location

KernelOf = Callable[[Node], NodeKernel]


class Step(Frozen):
    """One node, bound."""

    node: Node
    backend: str
    run: Run


class Binder:
    """Binds the nodes of a graph.

    Args:
        graph: whose values are at `places`.
        places: by value id.
        kernels: node -> its kernel.
        workspaces: by node, in the order of the graph; `None` where it needs none.
        persistent: by node, as `workspaces`.
        spaces: by value id, the name of the memory space; `None`: there is one.
    """

    def __init__(
        self,
        graph: Graph,
        places: Sequence[Bytes],
        kernels: KernelOf,
        workspaces: Sequence[Optional[Bytes]],
        persistent: Sequence[Optional[Bytes]],
        spaces: Optional[Sequence[str]] = None,
    ) -> None:
        self.graph, self.places, self.kernels, self.spaces = graph, list(places), kernels, spaces
        self.blocks = dict(zip(graph.nodes, zip(workspaces, persistent, strict=True), strict=True))
        self._views: dict[tuple[str, int, int, TensorType], Any] = {}

    def bound(self, nodes: Sequence[Node]) -> tuple[Step, ...]:
        """The steps of these nodes, in order.  O(nodes).

        Raises:
            Exception: what a backend raised while binding, with a note that says for which node.
        """
        return tuple(map(self._step, nodes))

    def forget_views(self) -> None:
        """Drop cached views; call it before `places` change, since their memory may be freed."""
        self._views.clear()

    def _step(self, node: Node) -> Step:
        compiled = self.kernels(node)
        backend, kernel = compiled.backend, compiled.kernel
        try:
            run = kernel.bind(*self.arguments(node))
        except Exception as error:
            add_note(error, f"while binding {describe(node)} on {backend.name!r}")
            raise
        if not callable(run):
            raise GraphError(
                f"{node.op.name}: the kernel rule of backend {backend.name!r} gave {run!r:.60}; it "
                "must return a callable of no arguments, e.g. partial(np.tanh, x, y)"
            )
        return Step(node, backend.name, run)

    def arguments(self, node: Node) -> tuple[list[Any], list[Any], Any, Any]:
        """What the kernel of a node is bound to: inputs, outputs, workspace, persistent block."""
        compiled = self.kernels(node)
        backend, kernel = compiled.backend, compiled.kernel
        workspace, persistent = self.blocks[node]
        return (
            [self._input(backend, node, i) for i in range(len(node.inputs))],
            [self._array(backend, v) for v in node.outputs],
            self._block(backend, workspace, kernel.workspace_bytes),
            self._block(backend, persistent, kernel.persistent_bytes),
        )

    def _input(self, backend: Backend, node: Node, i: int) -> Any:
        """Input `i` of a node: its array, or one of its type where no kernel could see it.

        An input whose bytes the op ignores is not copied to the space of the node.
        """
        v, here = node.inputs[i], backend.space.name
        there = here if self.spaces is None else self.spaces[self.graph.ids[v]]
        if i in node.op.ignores and there != here:
            return backend.view(backend.space.untouched(v.type.size_bytes), 0, v.type)
        return self._array(backend, v)

    def _array(self, backend: Backend, v: Value) -> Any:
        return self._view(backend, self.places[self.graph.ids[v]], v.type)

    def _view(self, backend: Backend, place: Bytes, type: TensorType) -> Any:
        key = (backend.name, id(place.memory), place.offset, type)
        if key not in self._views:
            self._views[key] = backend.view(place.memory, place.offset, type)
        return self._views[key]

    def _block(self, backend: Backend, place: Optional[Bytes], size: int) -> Any:
        if not size:
            return None
        assert place is not None, "the plan has room for each workspace"
        return backend.view(place.memory, place.offset, TensorType("u8", (size,)))


def aliased_nodes(graph: Graph, locations: Sequence[Location]) -> frozenset[Node]:
    """Nodes all of whose outputs the plan placed on the input bytes they equal."""
    return frozenset(n for n in graph.nodes if n.outputs and _is_alias(n, graph, locations))


def _is_alias(node: Node, graph: Graph, locations: Sequence[Location]) -> bool:
    if has_effect(node.op):
        return False
    same = set()
    for i, o, shift in node.op.views(*[v.type for v in node.inputs]):
        source = locations[graph.ids[node.inputs[i]]]
        target = locations[graph.ids[node.outputs[o]]]
        if source.root == target.root and source.offset + shift == target.offset:
            same.add(o)
    return len(same) == len(node.outputs)
