"""Step 5 of `build`: memory, bound kernels, constants: a program that can be called."""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Graph, GraphError, Node, Space, add_note
from byparts_runtime.building.compile import Compiled
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import describe
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import Placed
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.plan import Bytes, separate
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.program import Program
from byparts_runtime.run.step import Binder


def load(
    placed: Placed, parts: Parts, options: BuildOptions, arena: Optional[Arena] = None
) -> Program:
    """Compute the constants, take memory and bind the kernels to it.

    Raises:
        MemoryError: there is no memory for the arena.
        CaptureRefused: `capture=True`, and a backend cannot.
    """
    _check_arena(arena, parts.space)
    constants = computed_constants(placed.schedule.compiled, parts, options.alignment)
    return Program(Loaded(placed, parts, options, constants), arena)


def computed_constants(compiled: Compiled, parts: Parts, alignment: int) -> tuple[Bytes, ...]:
    """Run the nodes that depend on nothing, once; their outputs, in memory of their own."""
    nodes = compiled.constants
    if not nodes:
        return ()
    graph = Graph((), tuple(nodes), tuple(v for n in nodes for v in n.outputs))
    names = [compiled.kernels.space(node) for node in nodes]
    space = {v: name for node, name in zip(nodes, names, strict=True) for v in node.outputs}
    alignment = compiled.kernels.aligned(alignment)
    plan = separate(graph, alignment=alignment, kernels=compiled.kernels, space=space.__getitem__)
    memory = {name: parts.spaces[name].allocate(size) for name, size in plan.space_bytes}
    places = [Bytes(memory[at.space], at.offset) for at in plan.locations]
    workspaces = [Bytes(memory[n], at) for n, at in zip(names, plan.workspaces, strict=True)]
    persistent = [_persistent_of(node, compiled, parts) for node in nodes]
    with parts.context():
        for step in Binder(graph, places, compiled.kernels, workspaces, persistent).bound(nodes):
            try:
                step.run()
            except Exception as error:
                add_note(error, f"in the constant {describe(step.node)}, on {step.backend!r}")
                raise
    for name in memory:
        parts.spaces[name].synchronize()
    return tuple(places[graph.ids[v]] for v in graph.outputs)


def _persistent_of(node: Node, compiled: Compiled, parts: Parts) -> Optional[Bytes]:
    node_kernel = compiled.kernels(node)
    size = node_kernel.kernel.persistent_bytes
    return Bytes(node_kernel.backend.space.allocate(size), 0) if size else None


def _check_arena(arena: Optional[Arena], space: Space) -> None:
    if not isinstance(arena, (Arena, type(None))):
        raise GraphError(f"arena={arena!r:.60}: give an Arena, or nothing for its own")
    if arena is not None and arena.space.name != space.name:
        where = f"is in {arena.space.name}, the backends are in {space.name}"
        raise GraphError(f"the arena {where}; make it with Arena(backend.space)")
