"""Compiles ops with bodies: a body is a program whose memory is the workspace of its node.

An op says how its bodies run (`Op.control`).  Each body goes through the steps of `build`: lowered
and compiled for the same backends, scheduled, placed by the same planner, its constants computed.
Its inputs are outside its arena (states, slices, invariants), its constants too; the arena is part
of the workspace of the node, so the planner of the program around puts it where nothing else is
alive.
`loops.py` compiles those that loop.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from byparts_graph_ir import (
    Branches,
    Graph,
    Kernel,
    Loop,
    Op,
    ReversedLoop,
    ShapeError,
    TensorType,
    Types,
    add_note,
)
from byparts_graph_ir.model.frozen import replace
from byparts_runtime.building.body import Body
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import NodeKernel, runtime_backend
from byparts_runtime.building.load import with_constants
from byparts_runtime.building.loops import loop_kernel, reversed_loop_kernel
from byparts_runtime.building.lower import lower
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import place
from byparts_runtime.building.schedule import schedule
from byparts_runtime.building.signature import signature_of
from byparts_runtime.building.updates import Donations
from byparts_runtime.run.bodies import BranchesRun

if TYPE_CHECKING:
    from byparts_graph_ir import Control

_MOST_BODIES = 64  # of those that were made last; the bodies of a program of one size are far fewer


class Bodies:
    """Compiles the bodies of ops for the parts and the options of one program, or of a family.

    A body is in one memory space: its kernels are of the backends of that space, and so is the node
    that runs it.

    Args:
        parts: of the program.
        options: likewise.
        space: the name of the memory space.

    Attributes:
        backend: stands for the runtime, where a backend is asked for.
    """

    def __init__(self, parts: Parts, options: BuildOptions, space: str) -> None:
        here = tuple(b for b in parts.backends if b.space.name == space)
        self.parts = replace(parts, backends=here, transfer=None)
        self.options = replace(options, budget_bytes=None, max_extra_cost=None, commit="copy")
        self.backend = runtime_backend(self.parts.space)
        self._known: dict[Hashable, Body] = {}

    def compiled(
        self, op: Op, types: Types, control: Control, constants: tuple[int, ...]
    ) -> NodeKernel:
        """The kernel of an op that runs its bodies so.

        Raises:
            MissingRule, ShapeError: a node of a body cannot be compiled; says in which body.
        """
        if isinstance(control, Loop):
            kernel, bodies = loop_kernel(self, op, types, control, constants)
        elif isinstance(control, ReversedLoop):
            kernel, bodies = reversed_loop_kernel(self, op, types, control, constants)
        else:
            kernel, bodies = self._branches(op, types, control, constants)
        return NodeKernel(self.backend, kernel, constants, bodies)

    def _branches(
        self, op: Op, types: Types, control: Branches, constants: Collection[int]
    ) -> tuple[Kernel, tuple[Body, ...]]:
        first = len(control.bodies) - 1  # input of the body
        fixed = [i - first for i in constants if i >= first]
        outputs = op.infer(*types)
        places = range(len(outputs))
        bodies = tuple(
            [
                self.body(f"{name} of {op.name}", graph, outputs, fixed, results=places)
                for name, graph in zip(control.names, control.bodies, strict=True)
            ]
        )
        kernel = Kernel(
            partial(BranchesRun.bound, bodies, self.parts),
            max(body.arena_bytes for body in bodies),
            sum(body.persistent_bytes for body in bodies),
        )
        return kernel, bodies

    def body(
        self,
        name: str,
        graph: Graph,
        wanted: Sequence[TensorType],
        fixed: Collection[int],
        *,
        states: int = 0,
        results: Collection[int] = (),
    ) -> Body:
        """A body through the steps of `build`.

        Args:
            name: in messages.
            graph: of static types.
            wanted: the types that its outputs must have.
            fixed: positions of inputs that are the same at each run of the program.
            states: so many outputs are offered the bytes of the inputs at their positions.
            results: positions of outputs that are offered bytes outside the arena, in this order.
        """
        key = name, graph.digest, tuple(wanted), tuple(fixed), states, tuple(results)
        body = self._known.get(key)  # that of another size, in which this body has the same sizes
        if body is None:
            while len(self._known) >= _MOST_BODIES:
                self._known.pop(next(iter(self._known)))
            body = self._built(name, graph, wanted, fixed, states, tuple(results))
            self._known[key] = body
        return body

    def _built(
        self,
        name: str,
        graph: Graph,
        wanted: Sequence[TensorType],
        fixed: Collection[int],
        states: int,
        results: tuple[int, ...],
    ) -> Body:
        parts, options = self.parts, self.options
        try:
            graph, signature = signature_of(graph, (), (), parts.spaces)
            lowered = lower(graph, signature, parts)
            types = [v.type for v in lowered.graph.outputs]
            if types != list(wanted):
                raise ShapeError(f"{name}: gives {types}, expected {list(wanted)}")
            compiled = compile_kernels(lowered, parts, lambda _: self, fixed)
            scheduled = schedule(compiled, parts, options)
            scheduled = replace(scheduled, donate=_donations(scheduled.graph, states))
            placed = place(scheduled, parts, options, feeds_outside=True, results=results)
            return Body(name, with_constants(placed, parts, options))
        except Exception as error:
            add_note(error, f"in {name}")
            raise


def _donations(graph: Graph, states: int) -> Donations:
    """Old state -> new state that may be written over it: once nobody wants the old one."""
    inputs, wanted, taken = set(graph.inputs), set(graph.outputs), set()
    donations = {}
    for k in range(states):
        old, new = graph.inputs[k], graph.outputs[k]
        if new not in inputs and old not in wanted and new not in taken and new.type == old.type:
            donations[k] = k
            taken.add(new)
    return donations
