"""Compiles ops with bodies: a body is a program whose memory is the workspace of its node.

An op says how its bodies run (`Op.control`).  Each body goes through the steps of `build`: lowered
and compiled for the same backends, scheduled, planned by the same planner.  Its inputs are outside
its arena (states, slices, what is given), its constants too; the arena is part of the workspace of
the node, so the planner of the program around puts it where nothing else is alive.

    workspace     [arena of one body at a time | slices of the sequences | states to be moved]
    persistent    [blocks of the kernels of the first body | of the second]

The states of a loop live in the outputs of its node.  A new state is offered the bytes of the old
one ("donate"); what the planner declines is copied at the end of the round.  Invariants are read
where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Union

from byparts_graph_ir import (
    Backend,
    Branches,
    Graph,
    Input,
    Kernel,
    Loop,
    Op,
    ShapeError,
    TensorType,
    Types,
    add_note,
)
from byparts_graph_ir.lazy_dataclass import dataclass, replace
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.load import computed_constants
from byparts_runtime.building.lower import lower
from byparts_runtime.building.options import BuildOptions, CaptureArgument
from byparts_runtime.building.place import Schedule, persistent_blocks, planned
from byparts_runtime.building.schedule import schedule
from byparts_runtime.building.signature import signature_of
from byparts_runtime.building.updates import Donations
from byparts_runtime.memory.plan import Bytes, Plan
from byparts_runtime.run.bodies import BoundBody, BranchesRun, LoopRun

ALIGNMENT = 64  # of what stands in a workspace behind an arena


@dataclass(frozen=True)
class Body:
    """A body, compiled and planned.

    Attributes:
        name: in messages: "body of while".
        schedule: what runs: its inputs, then its constants, then inputs that nobody reads, whose
            bytes its results may take.
        plan: where its values are: in its arena, or in an input.
        constants: where the constants are.
        persistent: for each node where its persistent block begins.
        persistent_bytes: of all its nodes.
    """

    name: str
    schedule: Schedule
    plan: Plan
    constants: tuple[Bytes, ...]
    persistent: tuple[int, ...]
    persistent_bytes: int
    parts: Parts
    capture: CaptureArgument

    @property
    def types(self) -> Types:
        """Of its outputs."""
        return tuple([v.type for v in self.schedule.graph.outputs])

    def moved(self, states: int) -> list[int]:
        """The new states that stand where another old one is, or another part of their own."""
        graph = self.schedule.graph
        places = [self.plan.locations[graph.ids[v]] for v in graph.outputs[:states]]
        found = enumerate((at.root, at.offset) for at in places)
        return [k for k, at in found if at[0] in range(states) and at != (k, 0)]

    def bind(
        self, given: Sequence[Bytes], results: Sequence[Bytes], arena: Bytes, persistent: Bytes
    ) -> BoundBody:
        """The body on these bytes.

        Args:
            given: its inputs.
            results: where its outputs may go, if it was compiled for that.
            arena: its memory.
            persistent: that of its kernels.
        """
        return BoundBody(self, (*given, *self.constants, *results), arena, persistent)


class Bodies:
    """Compiles the bodies of ops for the parts and the options of one program.

    Attributes:
        backend: stands for the runtime, where a backend is asked for: its arrays are addresses.
    """

    def __init__(self, parts: Parts, options: BuildOptions) -> None:
        here = tuple(b for b in parts.backends if b.space.name == parts.space.name)
        self.parts = replace(parts, backends=here, transfer=None)  # a body is in one space
        self.options = replace(options, budget_bytes=None, max_extra_cost=None, commit="copy")
        self.backend = Backend("runtime", _address, space=parts.space)

    def kernel(
        self, op: Op, types: Types, control: Union[Branches, Loop], constants: Collection[int]
    ) -> Kernel:
        """The kernel of an op that runs its bodies so.

        Raises:
            MissingRule, ShapeError: a node of a body cannot be compiled; says in which body.
        """
        if isinstance(control, Loop):
            return self._loop(op, types, control, constants)
        return self._branches(op, types, control, constants)

    def _branches(
        self, op: Op, types: Types, control: Branches, constants: Collection[int]
    ) -> Kernel:
        first = len(control.bodies) - 1  # input of the body
        fixed = [i - first for i in constants if i >= first]
        outputs = op.infer(*types)
        bodies = tuple(
            [
                self._body(f"{name} of {op.name}", graph, outputs, fixed, results=True)
                for name, graph in zip(control.names, control.bodies, strict=True)
            ]
        )
        return Kernel(
            partial(BranchesRun.bound, bodies, self.parts),
            max(body.plan.arena_bytes for body in bodies),
            sum(body.persistent_bytes for body in bodies),
        )

    def _loop(self, op: Op, types: Types, loop: Loop, constants: Collection[int]) -> Kernel:
        s, q = loop.states, loop.states + loop.sequences
        fixed = [i for i in constants if i >= q]
        rows = [TensorType(t.dtype, t.dims[1:]) for t in op.infer(*types)[s:]]
        wanted = (*types[:s], *rows)
        body = self._body(f"body of {op.name}", loop.body, wanted, fixed, states=s)
        cond = None
        if loop.cond is not None:
            answer = (TensorType("bool", ()),)
            cond = self._body(f"cond of {op.name}", loop.cond, answer, fixed)
        arena_bytes = max(b.plan.arena_bytes for b in (body, cond) if b is not None)
        slices = [v.type for v in loop.body.inputs[s:q]]
        moved = [types[k] for k in body.moved(s)]
        layout = [arena_bytes, *[t.size_bytes for t in (*slices, *moved)]]
        starts = [0]
        for size in layout:
            starts.append(starts[-1] + -(-size // ALIGNMENT) * ALIGNMENT)
        run = partial(LoopRun.bound, loop, body, cond, types, tuple(starts[1:-1]), op.name)
        persistent_bytes = body.persistent_bytes + (cond.persistent_bytes if cond else 0)
        inplace = tuple([(i, i) for i in range(s)])
        return Kernel(partial(run, self.parts), starts[-1], persistent_bytes, inplace)

    def _body(
        self,
        name: str,
        graph: Graph,
        wanted: Sequence[TensorType],
        fixed: Collection[int],
        *,
        states: int = 0,
        results: bool = False,
    ) -> Body:
        """A body through the steps of `build`.

        Args:
            name: in messages.
            graph: of static types.
            wanted: the types that its outputs must have.
            fixed: positions of inputs that are the same at each run of the program.
            states: so many outputs are offered the bytes of the inputs at their positions.
            results: whether the outputs are offered bytes of their own, outside the arena.
        """
        parts, options = self.parts, self.options
        try:
            graph, signature = signature_of(graph, (), (), parts.spaces)
            lowered = lower(graph, signature, parts)
            found = [v.type for v in lowered.graph.outputs]
            if found != list(wanted):
                raise ShapeError(f"{name}: gives {found}, expected {list(wanted)}")
            compiled = compile_kernels(lowered, parts, options, fixed, self)
            scheduled = schedule(compiled, parts, options)
        except Exception as error:
            add_note(error, f"in {name}")
            raise
        graph = scheduled.graph
        donate = _donations(graph, states)
        if results:
            places = [Input(t, None, "result", "") for t in wanted]
            first = len(graph.inputs)
            graph = Graph((*graph.inputs, *places), graph.nodes, graph.outputs)
            donate = {first + j: j for j in _donations_to_results(graph)}
        scheduled = replace(scheduled, graph=graph, donate=donate)
        plan = planned(scheduled, parts, options, frozenset(range(len(graph.inputs))))
        constants = computed_constants(compiled, parts, options.alignment)
        return Body(
            name, scheduled, plan, constants, *persistent_blocks(scheduled), parts, options.capture
        )


def _address(memory: Any, offset: int, kind: TensorType) -> Bytes:
    """What a kernel of the runtime binds in the place of an array."""
    return Bytes(memory, offset)


def _donations(graph: Graph, states: int) -> Donations:
    """Old state -> new state that may be written over it: once nobody wants the old one."""
    given, wanted, taken = set(graph.inputs), set(graph.outputs), set()
    found = {}
    for k in range(states):
        old, new = graph.inputs[k], graph.outputs[k]
        if new not in given and old not in wanted and new not in taken and new.type == old.type:
            found[k] = k
            taken.add(new)
    return found


def _donations_to_results(graph: Graph) -> list[int]:
    """The outputs that nodes make, each at its first place."""
    first = {v: j for j, v in reversed(list(enumerate(graph.outputs)))}
    return sorted([j for v, j in first.items() if v.node is not None])
