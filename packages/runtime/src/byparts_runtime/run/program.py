"""A program: a graph, a plan and kernels, bound together; calling it runs it.

    program = build(graph, backends=("numpy",), variables=(w,), updates=(w,))
    (loss,) = program(x, labels)

Feeds are checked and copied into the arena, fetches are copied out of it, and in between runs what
`machine.py` holds.  State is values: the graph takes the old value of each variable as an input and
gives the new one as an output, so all updates are simultaneous, and a run that fails or is
interrupted before its end leaves every variable as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Optional, Union

import numpy as np

from byparts_graph_ir import Graph, GraphError, ShapeError, Space, Stage, TensorType, Types
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fork import make_lock
from byparts_graph_ir.model.frozen import replace
from byparts_runtime.arrays.accept import accepted, as_array, resident
from byparts_runtime.building.kernels import Kernels
from byparts_runtime.building.place import place
from byparts_runtime.inspect.costs import Costs, costs_of
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.pickling import stays
from byparts_runtime.memory.plan import Bytes, Plan
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.machine import Machine
from byparts_runtime.run.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:  # for people who look, and then imported; not at the start of every program
    from byparts_runtime.inspect.profile import Profile
    from byparts_runtime.run.change import Change


NUMBERS = "compiled for its types, which are numbers"


class Program:
    """The program that `build` makes.  Several threads may call it; one call runs at a time.

    Attributes:
        why: for which sizes it was compiled, and why for no others.
        last_profile: the result of the last call of `profile`.
        change: when it changes to generated code, or did, if it started without (`wait=False`).
    """

    @checked
    def __init__(self, loaded: Loaded, arena: Optional[Arena] = None, why: str = NUMBERS) -> None:
        self.why = why
        self.last_profile: Optional[Profile] = None
        self.change: Optional[Change] = None
        self._counts: Optional[Change] = None  # the same, until it has changed
        self._loaded, self._arena = loaded, arena
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
        self._called = True
        counts = self._counts
        if counts is not None and counts.next_call():
            self._change_now()
        return (self._own or self._machine).run(feeds)

    def change_at(self, change: Change) -> None:
        """Let the program change to other kernels when `change` says so."""
        self.change = self._counts = change

    def _change_now(self) -> None:
        """Go on with what the change built; as before where it built nothing."""
        with self._making:  # several threads may come here; the first one changes
            change = self._counts
            if change is None:
                return
            loaded = change.take()
            self._counts = None
            if loaded is None:
                change.warn()
            else:  # a call that runs meanwhile ends on the machine that it has
                self._loaded, self._own = loaded, None

    def bind(self, *feeds: Any) -> BoundProgram:
        """The same program on these very arrays: refill them in place and call it, for hot loops.

        NumPy's, or those of a library that speaks DLPack (torch), in the space of the program.

        Raises:
            ShapeError: one is not of its type.
            GraphError: one is elsewhere, or not contiguous and aligned, so that it could only be
                read by copying.

        A program that is to change to generated code does so now: who binds calls it often.
        """
        if self._counts is not None:
            self._change_now()
        loaded = self._loaded
        loaded.check_count(feeds)
        types = self.feed_types
        names = [loaded.feed_name(i) for i in range(len(types))]
        memory = [_memory_of(*each, loaded.space) for each in zip(feeds, types, names, strict=True)]
        if memory:
            known = loaded.placed.schedule, loaded.parts, loaded.options
            loaded = replace(loaded, placed=place(*known, feeds_outside=True))
        bound = BoundProgram(Machine(loaded, self._arena, memory), feeds)
        if not self._called:
            self._own = None  # its memory; made again when the program itself is called
        return bound

    @property
    def _machine(self) -> Machine:
        with self._making:
            if self._own is None:
                self._own = Machine(self._loaded, self._arena)
            return self._own

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages from the graph as given to the graph that runs."""
        return self._loaded.placed.schedule.stages

    @property
    def graph(self) -> Graph:
        """The graph that runs, after all passes; constants are its last inputs."""
        return self._loaded.graph

    @property
    def kernels(self) -> Kernels:
        """Node of `graph` -> its kernel: workspace, what it may compute in place, backend."""
        return self._loaded.kernels

    @property
    def plan(self) -> Plan:
        """The plan: where each value of `graph` is."""
        return self._loaded.plan

    @property
    def arena(self) -> Arena:
        """The memory of the values, maybe shared with other programs."""
        return self._machine.arena

    @property
    def steps(self) -> tuple[Step, ...]:
        """The bound kernels, in the order in which they run."""
        machine = self._machine
        with machine.lock, machine.arena.lock:
            return machine.cycle().all_steps

    @property
    def feed_types(self) -> Types:
        """The types of the feeds."""
        return tuple(v.type for v in self.graph.inputs[: self._loaded.signature.feeds])

    def explain(
        self, *, width: Optional[int] = None, source: bool = False, stages: bool = False
    ) -> str:
        """A table of what runs where and why, and of memory; with times after `profile`.

        With `source`, the code that was generated for its steps, too; with `stages`, how that code
        came about: of a region its axes, stores, loops, and what may be in place.

        No line is longer than `width` letters, by default those of the terminal; where there is
        none, 100.  What has no room is shortened, so a large `width` shows everything.
        """
        from byparts_runtime.inspect.explain import explain

        machine = self._machine
        with machine.lock, machine.arena.lock:
            history, times = self.stages, self.last_profile
            change = "" if self.change is None else str(self.change)
            return explain(history, machine, times, width, change, source=source, stages=stages)

    def profile(self, *feeds: object, runs: int = 10) -> Profile:
        """Time each step, the median of some runs.  The variables stay as they are."""
        from byparts_runtime.inspect.profile import profile

        machine, self._called = self._machine, True
        arena_lock = machine.arena.from_outside()
        with machine.lock, arena_lock:
            cycle = machine.cycle()
            with machine.unchanged():
                self.last_profile = profile(cycle, lambda: machine.prepare(feeds), runs)
            return self.last_profile

    def costs(self, *feeds: object, runs: int = 10) -> Costs:
        """The seconds that each node takes, as `profile` measures them: for `build(..., costs=)`.

        The result is a function of a node of any graph; for nodes that were not measured it
        computes the time from their flops.
        """
        return costs_of(self.graph.nodes, self.steps, self.profile(*feeds, runs=runs).step_s)

    def trace(self, *feeds: object, path: Union[str, PathLike[str], None] = None) -> dict[str, Any]:
        """Run once, timed, for a Chrome trace (Perfetto).  The variables stay as they are."""
        from byparts_runtime.inspect.profile import chrome_trace

        machine, self._called = self._machine, True
        arena_lock = machine.arena.from_outside()
        with machine.lock, arena_lock:
            cycle = machine.cycle()
            machine.prepare(feeds)
            with machine.unchanged():
                return chrome_trace(cycle, path)

    def __repr__(self) -> str:
        return f"Program({len(self.steps)} steps, arena of {self.plan.arena_bytes} bytes)"

    __reduce__ = stays("send the graph and the values of its variables, and build() it there")


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
        return self._machine.run(())

    __reduce__ = Program.__reduce__


def _memory_of(feed: object, kind: TensorType, name: str, space: Space) -> Bytes:
    what = f"bind: feed {name}"
    if resident(feed, space, what) is not None:
        return Bytes(accepted(feed, kind, space, what), 0)
    known = isinstance(feed, np.ndarray) or hasattr(feed, "__dlpack__")
    if not known or hasattr(feed, "carried"):  # a variable
        raise ShapeError(f"{what} is no array: {type(feed).__name__} {feed!r:.60}")
    array = as_array(feed, kind, what)
    if space.name != "host":
        raise GraphError(f"{what} is in host memory, the program in {space.name}; bind one there")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise GraphError(
            f"{what} is not contiguous and aligned (strides {array.strides}), so it cannot be read "
            "in place; bind a contiguous copy and refill that"
        )
    return Bytes(array.reshape(-1).view(np.uint8).data, 0)  # no copy: it is contiguous
