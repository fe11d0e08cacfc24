"""A program: a graph, a plan and kernels, bound together; calling it runs it.

    program = build(graph, backends=("numpy",), variables=(w,), updates=(w,))
    (loss,) = program(x, labels)

Feeds are checked and copied into the arena, fetches are copied out of it, and in between runs what
`machine.py` holds.  State is values: the graph takes the old value of each variable as an input and
gives the new one as an output, so all updates are simultaneous, and a run that fails or is
interrupted before its end leaves every variable as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, Optional, Union

import numpy as np

from byparts_graph_ir import (
    ArgumentError,
    Backend,
    Graph,
    GraphError,
    Op,
    ShapeError,
    Space,
    Stage,
    TensorType,
    Types,
)
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fork import begin, end, make_lock
from byparts_runtime.arena import Arena
from byparts_runtime.arrange import Arranged, Budget, arrange, budget_of
from byparts_runtime.arrays import adopted, as_array, taken
from byparts_runtime.bind import Bytes, RefusedRegions, Step
from byparts_runtime.capture import CaptureArgument
from byparts_runtime.costs import Cost, Costs, costs_of
from byparts_runtime.design import COMMITS, CommitArgument, Design
from byparts_runtime.discover import (
    BackendsArgument,
    LegalizeArgument,
    Order,
    OrderArgument,
    PassesArgument,
    PlannerArgument,
    RematerializeArgument,
    ResultsArgument,
    find_backends,
    find_fuse,
    find_legalize,
    find_order,
    find_passes,
    find_planner,
    find_results,
)
from byparts_runtime.in_place import Donations, updates_last
from byparts_runtime.interface import Interface, VariablesArgument, interface_of
from byparts_runtime.lower import Lowered, lower
from byparts_runtime.machine import Machine, compute_constants
from byparts_runtime.pickling import stays
from byparts_runtime.plan import Plan
from byparts_runtime.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:  # for people who look, and then imported; not at the start of every program
    from byparts_runtime.profile import Profile


def build(
    graph: Graph,
    *,
    backends: BackendsArgument = ("numpy",),
    variables: VariablesArgument = (),
    updates: Sequence[Variable] = (),
    passes: PassesArgument = "auto",
    planner: PlannerArgument = "auto",
    legalize: LegalizeArgument = "auto",
    order: OrderArgument = "auto",
    alignment: int = 64,
    commit: CommitArgument = "auto",
    capture: CaptureArgument = "auto",
    results: ResultsArgument = "numpy",
    budget_bytes: Optional[int] = None,
    max_extra_cost: Optional[float] = None,
    costs: Optional[Cost] = None,
    rematerialize: RematerializeArgument = "auto",
    arena: Optional[Arena] = None,
) -> Program:
    """Lower, place and bind a graph.

    Args:
        graph: its inputs are the feeds and the old values of `variables`; its outputs are the
            fetches, then the new values of `updates`.
        backends: names or objects; each node goes to the first that has a kernel for it.
        variables: each is the value of the input of its name, in any order; those that name no
            input go to the last inputs, which have no names, in order.  Or `{input: variable}`,
            or a `Store`: those of its variables that inputs are named after.
        updates: what the last outputs are written to, in order (outputs have no names), all at
            once, when everything has run.
        passes: names or functions `Graph -> Graph`; "auto": `optimize`, if installed.
        planner: a name, a function, or `None`: each value has its own memory; "auto": as installed.
        legalize: decomposes what no backend has; "auto": as installed.
        order: `order(graph, external=...)`: the nodes in a better order; "auto": as installed.
            Like the other passes, a function or the name of an installed one; `None`: without.
        alignment: of every value, in bytes.
        commit: "auto": updates that can run on the variables themselves do so when all else is
            done, the other new values are copied over the old ones; "copy": all are; "exchange":
            they are computed into a second memory of each updated variable, which then becomes its
            value: no copy, for as many bytes more.  All leave everything as it was if a run fails.
        capture: "auto": if the backend can record what it runs and replay it by one call (a CUDA
            graph), it does; `True`: or the program is not built; `False`: it does not.
        results: whose arrays the fetches are: "numpy", or a backend ("torch"), in the space of the
            program; those of a device are not waited for.
        budget_bytes: the most that the arena may take: values are computed again instead of kept,
            for as little more work as can be found, to the same bits.
        max_extra_cost: or else, how much more work there may be, as a fraction (0.01: 1 %); the
            arena is the smallest that is found for that.
        costs: what running a node costs, as `Program.costs` measures it; by default, its flops.
        rematerialize: the pass that does it; "auto": as installed.
        arena: memory to share with other programs, which then take turns; by default its own.

    Raises:
        GraphError, ShapeError, MissingRule, PartError: it cannot be built; nothing has changed.
        MemoryError: there is no memory for its arena; likewise.
    """
    who = object()
    try:
        begin(who)
        found = find_backends(backends)
        interface = interface_of(graph, variables, updates, found[0].space)
        ways = find_passes(passes), find_legalize(legalize), found, find_fuse(found)
        lowering = partial(lower, interface.graph, interface.input_types, *ways)
        wanted = find_planner(planner)
        budget = budget_of(budget_bytes, max_extra_cost, costs, rematerialize, wanted)
        last = {
            **{"order": find_order(order, planner), "budget": budget, "planner": wanted},
            **{"results": find_results(results, found[0].space, found), "capture": capture},
            **{"alignment": _whole(alignment), "commit": _known(commit)},
            **{"arena": _suitable(arena, found[0].space)},
        }
        return _regions_taken(lowering, interface, found, last)
    finally:
        end(who)


def _regions_taken(
    lowering: Callable[[tuple[Op, ...]], Lowered],
    interface: Interface,
    backends: tuple[Backend, ...],
    last: Mapping[str, Any],
) -> Program:
    """The program, in which what a backend wanted joined and then refused is parted again."""
    refused: tuple[Op, ...] = ()
    while True:
        lowered = lowering(refused)
        interface.check_updates(lowered.graph)
        try:
            return _bound(lowered, interface, backends, **last)
        except RefusedRegions as error:  # each time others
            refused += error.ops


def _bound(
    lowered: Lowered,
    interface: Interface,
    backends: tuple[Backend, ...],
    order: Optional[Order],
    budget: Optional[Budget],
    arena: Optional[Arena],
    alignment: int,
    commit: CommitArgument,
    **ways: Any,
) -> Program:
    """The program of a lowered graph; `ways` are what only the design needs."""
    graph, in_place, last = lowered.graph, Donations(), 0
    if commit == "auto" and interface.updates:
        graph, in_place, last = updates_last(graph, interface, backends)
    design = Design(
        graph,
        interface.first_variable,
        interface.first_update,
        interface.variables,
        interface.updates,
        compute_constants(lowered.constants, backends, alignment),
        backends,
        alignment=alignment,
        in_place=tuple(in_place.items()),
        **ways,
    )
    made = arrange(design, last, order, budget, exchange=commit == "exchange")
    return Program(made, lowered.stages, arena)


class Program:
    """What `build` makes.  It may be called from several threads; they take turns."""

    @checked
    def __init__(
        self, made: Arranged, stages: Sequence[Stage], arena: Optional[Arena] = None
    ) -> None:
        self.stages = (*stages, *made.stages)
        self.last_profile: Optional[Profile] = None
        self._design, self._plan, self._arena = made.design, made.plan, arena
        self._making = make_lock()
        self._own: Optional[Machine] = None
        self._called = False
        _ = self._machine  # now, so that errors come while building

    def __call__(self, *feeds: object) -> tuple[Any, ...]:
        """Run; the fetches, as arrays of the caller's own.

        Raises:
            ShapeError: a feed is not of its type.
            Exception: what a kernel raised, with notes that say where; no variable has changed.
        """
        machine, self._called = self._own or self._machine, True
        if machine.inside():
            machine.arena.from_outside()
        with machine.lock, machine.arena.lock:
            cycle = machine.cycle()
            self._accept(feeds, machine)
            return cycle()

    def bind(self, *feeds: Any) -> BoundProgram:
        """The same program on these very arrays: refill them in place and call it, for hot loops.

        NumPy's, or those of a library that speaks DLPack (torch), in the space of the program.

        Raises:
            ShapeError: one is not of its type.
            GraphError: one is elsewhere, or not contiguous and aligned, so that it could only be
                read by copying.
        """
        self._check_count(feeds)
        types = self.feed_types
        names = [self._name(i) for i in range(len(types))]
        space = self._design.space
        memory = [_memory_of(*given, space) for given in zip(feeds, types, names, strict=True)]
        plan = self._design.plan(external_feeds=True) if memory else self._plan
        bound = BoundProgram(Machine(self._design, plan, self._arena, memory), feeds)
        if not self._called:
            self._own = None  # its memory; made again when the program itself is called
        return bound

    @property
    def _machine(self) -> Machine:
        with self._making:
            if self._own is None:
                self._own = Machine(self._design, self._plan, self._arena)
            return self._own

    @property
    def graph(self) -> Graph:
        """The graph that runs, after all passes; constants are its last inputs."""
        return self._design.graph

    @property
    def plan(self) -> Plan:
        """Where each of its values is."""
        return self._plan

    @property
    def arena(self) -> Arena:
        """The memory that they are in, maybe with those of other programs."""
        return self._machine.arena

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is called, in order."""
        machine = self._machine
        with machine.lock, machine.arena.lock:
            return machine.cycle().all_steps

    @property
    def feed_types(self) -> Types:
        """What it takes."""
        return tuple(v.type for v in self.graph.inputs[: self._design.feeds])

    def explain(self, *, width: Optional[int] = None) -> str:
        """A table of what runs where and why, and of memory; with times after `profile`.

        No line is longer than `width` letters, by default those of the terminal; where there is
        none, 100.  What has no room is shortened, so a large `width` shows everything.
        """
        from byparts_runtime.explain import explain

        machine = self._machine
        with machine.lock, machine.arena.lock:
            return explain(self.stages, machine, self.last_profile, width)

    def profile(self, *feeds: object, runs: int = 10) -> Profile:
        """Time each step, the median of some runs.  The variables stay as they are."""
        from byparts_runtime.profile import profile

        machine, self._called = self._machine, True
        turn = machine.arena.from_outside()
        with machine.lock, turn:
            cycle = machine.cycle()
            with machine.unchanged():
                self.last_profile = profile(cycle, lambda: self._accept(feeds, machine), runs)
            return self.last_profile

    def costs(self, *feeds: object, runs: int = 10) -> Costs:
        """What its nodes cost, in seconds, as `profile` measures them: for `build(..., costs=)`.

        Calling it with a node of any graph gives seconds; what is not known here is reckoned from
        its flops.
        """
        return costs_of(self.graph.nodes, self.steps, self.profile(*feeds, runs=runs).step_s)

    def trace(self, *feeds: object, path: Union[str, PathLike[str], None] = None) -> dict[str, Any]:
        """One run as a Chrome trace (for Perfetto).  The variables stay as they are."""
        from byparts_runtime.profile import chrome_trace

        machine, self._called = self._machine, True
        turn = machine.arena.from_outside()
        with machine.lock, turn:
            cycle = machine.cycle()
            self._accept(feeds, machine)
            with machine.unchanged():
                return chrome_trace(cycle, path)

    def __repr__(self) -> str:
        return f"Program({len(self.steps)} steps, arena of {self.plan.arena_bytes} bytes)"

    __reduce__ = stays("send the graph and the values of its variables, and build() it there")

    def _accept(self, feeds: Sequence[object], machine: Machine) -> None:
        if len(feeds) != self._design.feeds:
            self._check_count(feeds)
        for i, (write, dtype, shape) in enumerate(machine.doors):
            value: Any = feeds[i]
            if value.__class__ is not np.ndarray or value.dtype != dtype or value.shape != shape:
                kind = self.graph.inputs[i].type
                value = taken(value, kind, self._design.space, f"feed {self._name(i)}")
            write(value)

    def _check_count(self, feeds: Sequence[object]) -> None:
        if len(feeds) != self._design.feeds:
            takes = ", ".join(f"{self._name(i)}: {t}" for i, t in enumerate(self.feed_types))
            count = f"{self._design.feeds} feeds ({takes})"
            raise GraphError(f"the program takes {count}, got {len(feeds)}")

    def _name(self, i: int) -> str:
        return repr(getattr(self.graph.inputs[i], "name", "") or i)


class BoundProgram:
    """A program that reads arrays of the caller, without copying.  They are never written.

    Attributes:
        feeds: those arrays.
    """

    @checked
    def __init__(self, machine: Machine, feeds: Sequence[Any]) -> None:
        self.feeds = tuple(feeds)  # kept alive: the steps point into them
        self._machine = machine

    def __call__(self) -> tuple[Any, ...]:
        """Run on what the arrays hold now; the fetches."""
        machine = self._machine
        if machine.inside():
            machine.arena.from_outside()
        with machine.lock, machine.arena.lock:
            return machine.cycle()()

    __reduce__ = Program.__reduce__


def _memory_of(given: object, kind: TensorType, name: str, space: Space) -> Bytes:
    what = f"bind: feed {name}"
    if adopted(given, space, what) is not None:
        return Bytes(taken(given, kind, space, what), 0)
    if not (isinstance(given, np.ndarray) or hasattr(given, "__dlpack__")):
        raise ShapeError(f"{what} is no array: {type(given).__name__} {given!r:.60}")
    array = as_array(given, kind, what)
    if space.name != "host":
        raise GraphError(f"{what} is in host memory, the program in {space.name}; bind one there")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise GraphError(
            f"{what} is not contiguous and aligned (strides {array.strides}), so it cannot be read "
            "in place; bind a contiguous copy and refill that"
        )
    return Bytes(array.reshape(-1).view(np.uint8).data, 0)  # no copy: it is contiguous


def _whole(alignment: int) -> int:
    shape: object = getattr(alignment, "shape", None)  # an array of several is no number
    if not hasattr(alignment, "__index__") or shape not in (None, ()):
        raise ArgumentError(f"alignment={alignment!r:.60}: give a number of bytes, as 64")
    return alignment


def _known(commit: CommitArgument) -> CommitArgument:
    if not isinstance(commit, str) or commit not in COMMITS:
        raise GraphError(f"commit={commit!r}: the ways to commit are {', '.join(COMMITS)}")
    return commit


def _suitable(arena: Optional[Arena], space: Space) -> Optional[Arena]:
    if not isinstance(arena, (Arena, type(None))):
        raise GraphError(f"arena={arena!r:.60}: give an Arena, or nothing for its own")
    if arena is not None and arena.space.name != space.name:
        where = f"is in {arena.space.name}, the backends are in {space.name}"
        raise GraphError(f"the arena {where}; make it with Arena(backend.space)")
    return arena
