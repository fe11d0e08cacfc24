"""Bodies, compiled and placed: what is known of them before there is memory to run them in."""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import TensorType, Types
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.memory.plan import Location, padded
from byparts_runtime.run.loaded import Loaded

ALIGNMENT = 64  # of what stands in a workspace behind an arena


class Body(Frozen):
    """A body: a loaded graph without variables, that runs in the workspace of a node.

    Attributes:
        name: in messages: "body of while".
        loaded: what runs.  All inputs are outside its arena: those of the body, then its constants,
            then inputs that nobody reads, whose bytes its results may take (`Placed.offered`).
    """

    name: str
    loaded: Loaded

    @property
    def types(self) -> Types:
        """The types of its outputs."""
        return tuple([v.type for v in self.loaded.graph.outputs])

    @property
    def places(self) -> tuple[Location, ...]:
        """The location of each output."""
        graph, locations = self.loaded.graph, self.loaded.plan.locations
        return tuple([locations[graph.ids[v]] for v in graph.outputs])

    @property
    def arena_bytes(self) -> int:
        """The size of its arena."""
        return self.loaded.plan.arena_bytes

    @property
    def persistent_bytes(self) -> int:
        """The size of the persistent blocks of its kernels, all together."""
        return self.loaded.placed.persistent_bytes

    @property
    def offered(self) -> dict[int, int]:
        """Position of each input that has memory for an output -> position of that output."""
        return self.loaded.placed.offered

    def moved(self, states: int) -> list[int]:
        """The new states that stand where another old one is, or another part of their own."""
        new_states = enumerate((at.root, at.offset) for at in self.places[:states])
        return [k for k, at in new_states if at[0] in range(states) and at != (k, 0)]


class LoopBody(Frozen):
    """A body of a loop.

    Attributes:
        states: how many of its inputs and outputs are states.
        each: what each round runs; it reads the values of `once` behind its other inputs.
        once: (invariants) -> values that each round reads; `None`: there are none.
        moving: the inputs of `each` that are rows of an array of the program, where they are, as
            pairs (position, bytes of a row).
    """

    states: int
    each: Body
    once: Optional[Body] = None
    moving: tuple[tuple[int, int], ...] = ()

    @property
    def spare(self) -> Types:
        """The types of values in the workspace: those of `once`, then states to be moved."""
        types = self.each.types
        moved = tuple([types[k] for k in self.each.moved(self.states)])
        return (*self.once.types, *moved) if self.once else moved

    def slots(self, states: int, first: int) -> list[tuple[int, TensorType]]:
        """Inputs of `each` with room for one row: those from `states` to `first` and results.

        Gives positions and types, without those that move.
        """
        inputs, moving = self.each.loaded.graph.inputs, dict(self.moving)
        rows = (*range(states, first), *self.each.offered)
        return [(i, inputs[i].type) for i in rows if i not in moving]

    @property
    def arena_bytes(self) -> int:
        """The size of the larger of its two arenas, of which one is used at a time."""
        return max(self.each.arena_bytes, self.once.arena_bytes if self.once else 0)

    @property
    def persistent_bytes(self) -> int:
        """The size of the persistent blocks of the kernels of both."""
        return self.each.persistent_bytes + (self.once.persistent_bytes if self.once else 0)

    def needed_bytes(self, arena_bytes: int) -> int:
        """The memory it takes beside bodies that need an arena of so many bytes."""
        spare_bytes = sum(padded(t.size_bytes, ALIGNMENT) for t in self.spare)
        return max(arena_bytes, self.arena_bytes) + spare_bytes + self.persistent_bytes
