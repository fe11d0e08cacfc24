"""Step 5 of `build`: memory, bound kernels, constants: a program that can be called."""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import GraphError, Space, add_note
from byparts_runtime.building.compile import Compiled
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import describe
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import Placed, place_constants
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.plan import Bytes, arena_bytes
from byparts_runtime.run.bound import Bound, persistent_memory
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.program import Program


def load(
    placed: Placed, parts: Parts, options: BuildOptions, arena: Optional[Arena] = None
) -> Program:
    """Compute the constants, take memory and bind the kernels to it.

    Raises:
        MemoryError: there is no memory for the arena.
        CaptureRefused: `capture=True`, and a backend cannot.
    """
    check_arena(arena, parts.space)
    return Program(with_constants(placed, parts, options), arena)


def with_constants(placed: Placed, parts: Parts, options: BuildOptions) -> Loaded:
    """Compute the constants of a placed graph, of a program or of a body.

    Raises:
        Exception: what a kernel raised, with a note that says for which constant.
    """
    compiled = placed.schedule.compiled
    return Loaded(placed, parts, options, computed(compiled, parts, options.alignment))


def computed(compiled: Compiled, parts: Parts, alignment: int) -> tuple[Bytes, ...]:
    """Run the constants of a compiled graph; returns their outputs, in memory of their own."""
    if not compiled.constants:
        return ()
    placed = place_constants(compiled, compiled.kernels.aligned(alignment))
    spaces = {n: parts.spaces[n] for n in map(placed.kernels.space, compiled.constants)}
    arenas = {n: Bytes(s.allocate(arena_bytes(placed.plan, n)), 0) for n, s in spaces.items()}
    bound = Bound(placed, {}, arenas, persistent_memory(placed, spaces))
    with parts.context():
        for step in bound.steps():
            try:
                step.run()
            except Exception as error:
                add_note(error, f"in the constant {describe(step.node)}, on {step.backend!r}")
                raise
    for space in spaces.values():
        space.synchronize()
    return bound.outputs


def check_arena(arena: Optional[Arena], space: Space) -> None:
    """Refuse what is no arena, and one of another memory space.

    Raises:
        GraphError: says which.
    """
    if not isinstance(arena, (Arena, type(None))):
        raise GraphError(f"arena={arena!r:.60}: give an Arena, or nothing for its own")
    if arena is not None and arena.space.name != space.name:
        where = f"is in {arena.space.name}, the backends are in {space.name}"
        raise GraphError(f"the arena {where}; make it with Arena(backend.space)")
