"""A program: a graph, a plan and kernels, bound together; calling it runs it.

    program = build(graph, backends=("numpy",), variables=(w,), updates=(w,))
    (loss,) = program(x, labels)

Feeds are checked and copied into the arena, fetches are copied out of it, and in between runs what
`machine.py` holds.  State is values: the graph takes the old value of each variable as an input and
gives the new one as an output, so all updates are simultaneous, and a run that fails or is
interrupted before its end leaves every variable as it was.
"""

from __future__ import annotations

from _thread import allocate_lock  # `threading.Lock`, without importing `threading`
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, Optional, Union

import numpy as np

from byparts_graph_ir import (
    Backend,
    Graph,
    GraphError,
    Op,
    ShapeError,
    Space,
    Stage,
    TensorType,
    Types,
    Value,
    compatible,
)
from byparts_graph_ir.lazy_dataclass import replace
from byparts_runtime.arrays import adopted, as_array, taken
from byparts_runtime.bind import Bytes, RefusedRegions, Step
from byparts_runtime.capture import CaptureArgument
from byparts_runtime.design import COMMITS, CommitArgument, Design, with_seconds
from byparts_runtime.discover import (
    BackendsArgument,
    LegalizeArgument,
    Order,
    OrderArgument,
    PassesArgument,
    PlannerArgument,
    ResultsArgument,
    find_backends,
    find_fuse,
    find_legalize,
    find_order,
    find_passes,
    find_planner,
    find_results,
)
from byparts_runtime.in_place import Donations, Interface, updates_last
from byparts_runtime.lower import Lowered, lower, ordered
from byparts_runtime.machine import Machine, compute_constants
from byparts_runtime.plan import Plan
from byparts_runtime.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:  # for people who look, and then imported; not at the start of every program
    from byparts_runtime.profile import Profile


def build(
    graph: Graph,
    *,
    backends: BackendsArgument = ("numpy",),
    variables: Sequence[Variable] = (),
    updates: Sequence[Variable] = (),
    passes: PassesArgument = "auto",
    planner: PlannerArgument = "auto",
    legalize: LegalizeArgument = "auto",
    order: OrderArgument = "auto",
    alignment: int = 64,
    commit: CommitArgument = "auto",
    capture: CaptureArgument = "auto",
    results: ResultsArgument = "numpy",
) -> Program:
    """Lower, place and bind a graph.

    Args:
        graph: its inputs are the feeds, then the old values of `variables`; its outputs are the
            fetches, then the new values of `updates`.
        backends: names or objects; each node goes to the first that has a kernel for it.
        variables: what the last inputs read.
        updates: what the last outputs are written to, all at once, when everything has run.
        passes: names or functions `Graph -> Graph`; "auto": `optimize`, if installed.
        planner: a name, a function, or `None`: each value has its own memory; "auto": as installed.
        legalize: decomposes what no backend has; "auto": as installed.
        order: `order(graph, external=...)`: the nodes in a better order; "auto": as installed.
        alignment: of every value, in bytes.
        commit: "auto": updates that can run on the variables themselves do so when all else is
            done, the other new values are copied over the old ones; "copy": all are; "exchange":
            they are computed into a second memory of each updated variable, which then becomes its
            value: no copy, for as many bytes more.  All leave everything as it was if a run fails.
        capture: "auto": if the backend can record what it runs and replay it by one call (a CUDA
            graph), it does; `True`: or the program is not built; `False`: it does not.
        results: whose arrays the fetches are: "numpy", or a backend ("torch"), in the space of the
            program; those of a device are not waited for.

    Raises:
        GraphError, ShapeError, MissingRule, PartError: it cannot be built; nothing has changed.
    """
    found = find_backends(backends)
    interface = _interface(graph, tuple(variables), tuple(updates), found[0].space)
    ways = find_passes(passes), find_legalize(legalize), found, find_fuse(found)
    lowering = partial(lower, graph, interface.input_types(graph), *ways)
    last = {
        **{"order": find_order(order, planner), "planner": find_planner(planner)},
        **{"results": find_results(results, found[0].space, found), "capture": capture},
        **{"alignment": alignment, "commit": _known(commit)},
    }
    return _regions_taken(lowering, interface, found, last)


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
        _check_updates(lowered.graph.outputs[interface.first_update :], interface.updates)
        try:
            return _bound(lowered, interface, backends, **last)
        except RefusedRegions as error:  # each time others
            refused += error.ops


def _bound(
    lowered: Lowered,
    interface: Interface,
    backends: tuple[Backend, ...],
    order: Optional[Order],
    alignment: int,
    commit: CommitArgument,
    **ways: Any,
) -> Program:
    """The program of a lowered graph; `ways` are what only the design needs."""
    in_place, last = Donations(), 0
    if commit == "auto" and interface.updates:
        graph, in_place, last = updates_last(lowered.graph, interface, backends)
        lowered = replace(lowered, graph=graph)
    if order is not None:
        lowered = ordered(lowered, last, order)
    design = Design(
        lowered.graph,
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
    return Program(with_seconds(design) if commit == "exchange" else design, lowered.stages)


class Program:
    """What `build` makes.  It may be called from several threads; they take turns."""

    def __init__(self, design: Design, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)
        self.last_profile: Optional[Profile] = None
        self._design = design
        self._own: Optional[Machine] = Machine(design)  # now, so that errors come while building
        self._called = False
        self._making = allocate_lock()

    def __call__(self, *feeds: object) -> tuple[Any, ...]:
        """Run; the fetches, as arrays of the caller's own.

        Raises:
            ShapeError: a feed is not of its type.
            Exception: what a kernel raised, with notes that say where; no variable has changed.
        """
        machine, self._called = self._machine, True
        with machine.lock:
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
        bound = BoundProgram(Machine(self._design, memory), feeds)
        if not self._called:
            self._own = None  # its memory; made again when the program itself is called
        return bound

    @property
    def _machine(self) -> Machine:
        with self._making:
            if self._own is None:
                self._own = Machine(self._design)
            return self._own

    @property
    def graph(self) -> Graph:
        """The graph that runs, after all passes; constants are its last inputs."""
        return self._design.graph

    @property
    def plan(self) -> Plan:
        """Where each of its values is."""
        return self._machine.plan

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is called, in order."""
        machine = self._machine
        with machine.lock:
            return machine.cycle().all_steps

    @property
    def feed_types(self) -> Types:
        """What it takes."""
        return tuple(v.type for v in self.graph.inputs[: self._design.feeds])

    def explain(self) -> str:
        """A table of what runs where and why, and of memory; with times after `profile`."""
        from byparts_runtime.explain import explain

        machine = self._machine
        with machine.lock:
            return explain(self.stages, machine, self.last_profile)

    def profile(self, *feeds: object, runs: int = 10) -> Profile:
        """Time each step, the median of some runs.  The variables stay as they are."""
        from byparts_runtime.profile import profile

        machine, self._called = self._machine, True
        with machine.lock:
            cycle = machine.cycle()
            with machine.unchanged():
                self.last_profile = profile(cycle, lambda: self._accept(feeds, machine), runs)
            return self.last_profile

    def trace(self, *feeds: object, path: Union[str, PathLike[str], None] = None) -> dict[str, Any]:
        """One run as a Chrome trace (for Perfetto).  The variables stay as they are."""
        from byparts_runtime.profile import chrome_trace

        machine, self._called = self._machine, True
        with machine.lock:
            self._accept(feeds, machine)
            with machine.unchanged():
                return chrome_trace(machine.cycle(), path)

    def __repr__(self) -> str:
        return f"Program({len(self.steps)} steps, arena of {self.plan.arena_bytes} bytes)"

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

    def __init__(self, machine: Machine, feeds: Sequence[Any]) -> None:
        self.feeds = tuple(feeds)  # kept alive: the steps point into them
        self._machine = machine

    def __call__(self) -> tuple[Any, ...]:
        """Run on what the arrays hold now; the fetches."""
        with self._machine.lock:
            return self._machine.cycle()()


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


def _interface(
    graph: Graph, variables: tuple[Variable, ...], updates: tuple[Variable, ...], space: Any
) -> Interface:
    """Which inputs and outputs are variables; checked."""
    _check_counts(graph, variables, updates)
    _check_variables(graph, variables, updates, space)
    first_variable, first_update = len(graph.inputs) - len(variables), len(graph.outputs)
    return Interface(first_variable, variables, first_update - len(updates), updates)


def _known(commit: CommitArgument) -> CommitArgument:
    if commit not in COMMITS:
        raise GraphError(f"commit={commit!r}: the ways to commit are {', '.join(COMMITS)}")
    return commit


def _check_counts(graph: Graph, variables: Sequence[Variable], updates: Sequence[Variable]) -> None:
    if len(variables) > len(graph.inputs):
        raise GraphError(f"{len(variables)} variables for a graph of {len(graph.inputs)} inputs")
    if len(updates) > len(graph.outputs):
        raise GraphError(f"{len(updates)} updates for a graph of {len(graph.outputs)} outputs")


def _check_variables(
    graph: Graph, variables: Sequence[Variable], updates: Sequence[Variable], space: Any
) -> None:
    first = len(graph.inputs) - len(variables)
    for value, variable in zip(graph.inputs[first:], variables, strict=True):
        if not compatible(value.type, variable.type):
            raise ShapeError(f"{variable!r} cannot be the input of type {value.type}")
    seen: set[int] = set()
    for variable in updates:
        if id(variable) in seen:
            raise GraphError(f"{variable!r} is updated twice in one step; which value should win?")
        seen.add(id(variable))
    for variable in (*variables, *updates):
        if variable.space.name != space.name:
            where = f"is in {variable.space.name}, the backends are in {space.name}"
            raise GraphError(f"{variable!r} {where}; make it with space=backend.space")


def _check_updates(values: Sequence[Value], updates: Sequence[Variable]) -> None:
    for value, variable in zip(values, updates, strict=True):
        if value.type != variable.type:
            raise ShapeError(f"{variable!r} cannot take a new value of type {value.type}")
