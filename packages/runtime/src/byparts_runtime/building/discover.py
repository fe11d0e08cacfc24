"""Finds the backends, passes and planner that options name (`"numpy"`, `"auto"`, own objects).

The only file that asks the hub, and it asks only for what is named: with everything given by hand
no discovery happens.  `"auto"` takes what is installed, does without what is not, and warns of what
is installed and cannot be loaded; what is named must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Optional
from warnings import warn

from byparts_graph_ir import ArgumentError, Backend, BackendError, GraphError, Pass, Space
from byparts_graph_ir.errors import PartError, add_note
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_runtime.building.context import around
from byparts_runtime.building.options import (
    BackendsArgument,
    BuildOptions,
    GraphPass,
    PassArgument,
    PassesArgument,
    PlannerArgument,
    ResultsArgument,
)
from byparts_runtime.memory.plan import Planner, separate


class Parts(Frozen):
    """The backends, passes and planner of a build.

    Attributes:
        passes: run first.
        legalize: decomposes what no backend has; this and the others are `None` if not installed.
        fuse: makes regions for backends that want some.
        order: puts nodes in a better order.
        planner: places values in an arena.
        rematerialize: computes values again instead of keeping them; only with a limit.
        results: the backend whose arrays the caller gets; `None`: NumPy's.
        transfer: copies values between spaces; `None` where there is one space.
        skipped: why backends are not used that would have been: a sentence for each.
    """

    backends: tuple[Backend, ...]
    passes: tuple[Pass, ...]
    legalize: Optional[GraphPass]
    fuse: Optional[GraphPass]
    order: Optional[GraphPass]
    planner: Planner
    rematerialize: Optional[GraphPass]
    results: Optional[Backend]
    transfer: Any = None
    skipped: tuple[str, ...] = ()

    @property
    def space(self) -> Space:
        """The memory space of feeds and fetches: that of the first backend."""
        return self.backends[0].space

    @property
    def spaces(self) -> dict[str, Space]:
        """All memory spaces by name, the first one first."""
        spaces: dict[str, Space] = {}
        for backend in self.backends:
            spaces.setdefault(backend.space.name, backend.space)
        return spaces

    @property
    def waits(self) -> tuple[Callable[[], None], ...]:
        """Runs that wait for the memory spaces, one for each object of a space.

        Backends of one memory may each bring an object for it, and know of their own work alone.
        """
        spaces = {id(b.space): b.space for b in self.backends if b.space.name != "host"}
        return tuple([space.synchronize for space in spaces.values()])

    @property
    def several(self) -> bool:
        """Whether there is more than one space."""
        return len(self.spaces) > 1

    @property
    def context(self) -> Callable[[], AbstractContextManager[object]]:
        """The context to enter while anything is compiled, bound or run."""
        return around(self.backends)


def find_parts(options: BuildOptions) -> Parts:
    """The parts that these options name, and for "auto" those that are installed.

    Raises:
        PartError: one that is named is not installed or does not start.
        GraphError: a limit is given without a planner.
    """
    backends, skipped = _backends(options.backends)
    planner = find_planner(options.planner)
    if options.is_limited and planner is separate:
        from byparts_graph_ir.parts.install import install_command  # only for a message

        limits = f"budget_bytes={options.budget_bytes!r}, max_extra_cost={options.max_extra_cost!r}"
        how = f"{install_command('byparts-memplan')}, or planner=..."
        raise GraphError(f"{limits}: without a planner no two values share a byte; {how}")
    orders = options.planner is not None or options.order != "auto"  # else all orders are equal
    return Parts(
        backends,
        find_passes(options.passes),
        find_pass("legalize", options.legalize),
        find_fuse(backends),
        find_pass("order", options.order) if orders else None,
        planner,
        _find_rematerialize(options.rematerialize) if options.is_limited else None,
        find_results(options.results, backends[0].space, backends),
        _find_transfer(backends),
        skipped,
    )


def without(parts: Parts, failed: BackendError, options: BuildOptions) -> Parts:
    """The parts with the backends that are left when one has failed; a warning says so.

    Raises:
        BackendError: this one, where none is left in the memory space of the program.
    """
    left = tuple([b for b in parts.backends if b.name != failed.backend])
    if left == parts.backends or not left or left[0].space.name != parts.space.name:
        raise failed
    warn(f"going on without it: {failed}", RuntimeWarning, stacklevel=4)
    again = find_parts(replace(options, backends=left))
    return replace(again, skipped=(*parts.skipped, str(failed)))


def find_backends(backends: BackendsArgument) -> tuple[Backend, ...]:
    """The backends, each started once; for "auto" those that start.

    Raises:
        ArgumentError: none is given.
        PartError: one is not installed or does not start.
    """
    return _backends(backends)[0]


def _backends(backends: BackendsArgument) -> tuple[tuple[Backend, ...], tuple[str, ...]]:
    """The backends, and for "auto" why others are not among them."""
    if isinstance(backends, str) and backends == "auto":
        backends = ("auto",)
    if not isinstance(backends, (tuple, list)) or not backends:
        raise ArgumentError(
            f'backends={backends!r:.60}: give "auto", or a tuple of some, e.g. ("numpy",)'
        )
    chosen: list[Backend] = []
    skipped: list[str] = []
    for b in backends:
        if isinstance(b, str) and b == "auto":
            started, why = _hub().backends()
            chosen, skipped = [*chosen, *started], [*skipped, *why]
            continue
        backend = _hub().backend(b) if isinstance(b, str) else b
        if not isinstance(backend, Backend):
            raise ArgumentError(f"backends: {b!r:.60} is no backend: give a Backend, or a name")
        chosen.append(backend)
    return tuple(chosen), tuple(skipped)


def _find_transfer(backends: Sequence[Backend]) -> Any:
    """The pass that copies values between the spaces of these backends; `None` for one space.

    Raises:
        PartError: it is not installed.
    """
    if len({b.space.name for b in backends}) == 1:
        return None
    try:
        return _hub().get("passes", "transfer")
    except PartError as error:
        where = ", ".join(f"{b.name} in {b.space.name}" for b in backends)
        raise add_note(error, f"needed since the backends are of several spaces: {where}") from None


def find_results(
    results: ResultsArgument, space: Space, backends: Sequence[Backend] = ()
) -> Optional[Backend]:
    """The backend whose arrays the caller wants, or `None`: NumPy's.

    Raises:
        GraphError: it computes in another space, or has no arrays to give.
        PartError: it is not among `backends`, and not installed.
    """
    if isinstance(results, str) and results == "numpy":
        return None
    backend = results
    if isinstance(results, str):  # "torch" is "torch-cuda", where that is what runs
        named = (b for b in backends if results in (b.name, b.name.partition("-")[0]))
        backend = next(named, None) or _hub().backend(results)
    if not isinstance(backend, Backend):
        raise ArgumentError(f'results={results!r:.60}: give "numpy", or a backend')
    if backend.space.name != space.name:
        where = f"{backend.name} computes in {backend.space.name}, the values are in {space.name}"
        raise GraphError(f"results={results!r:.60}: {where}; give a backend of that space")
    if backend.copy is None:
        raise GraphError(f'results={results!r:.60}: {backend.name} has no `copy`; use "numpy"')
    return backend


def find_passes(passes: PassesArgument) -> tuple[Pass, ...]:
    """The passes, in order.

    Raises:
        PartError: one that is named is not installed.
    """
    if isinstance(passes, str):
        passes = [name.strip() for name in passes.split("+")]
    if not isinstance(passes, Iterable):
        raise ArgumentError(f"passes={passes!r:.60}: give a tuple, e.g. passes=(merge,)")
    return tuple([p for argument in passes for p in _passes(argument)])


def _passes(argument: Any) -> tuple[Pass, ...]:
    """The pass that is asked for; for "auto" the installed passes of ours."""
    if isinstance(argument, str) and argument == "auto":
        optimize = _installed("passes", "optimize")
        return () if optimize is None else (Pass("optimize", optimize),)
    return (argument if isinstance(argument, Pass) else _named_pass(argument),)


def find_pass(name: str, argument: PassArgument) -> Optional[GraphPass]:
    """The pass that is given, or named; for "auto" the one that is installed as `name`, if any.

    Raises:
        PartError: the one that is named is not installed.
        ArgumentError: it is no pass.
    """
    if isinstance(argument, str):
        graph_pass: GraphPass = (
            _installed("passes", name) if argument == "auto" else _hub().get("passes", argument)
        )
        return graph_pass
    if argument is not None and not callable(argument):
        raise _no_pass(argument)
    return argument


def find_fuse(backends: Sequence[Backend]) -> Optional[GraphPass]:
    """The pass that makes regions, if it is installed and some backend wants any."""
    wanted = any(b.wants is not None for b in backends)
    return find_pass("fuse", "auto") if wanted else None


def find_planner(planner: PlannerArgument) -> Planner:
    """The planner: one by name, any installed ("greedy" first), or `separate`.

    Raises:
        PartError: the one that is named is not installed.
    """
    if planner is None:
        return separate
    if not isinstance(planner, str):
        if not callable(planner):
            how = "give a function planner(graph, *, external, alignment), or a name"
            raise ArgumentError(f"planner={planner!r:.60} is no planner: {how}")
        return planner
    if planner == "auto":
        names = sorted(_hub().names("planners"), key=lambda name: (name != "greedy", name))
        working = (_installed("planners", name) for name in names)
        return next((p for p in working if p is not None), separate)
    named: Planner = _hub().get("planners", planner)
    return named


def _find_rematerialize(argument: PassArgument) -> GraphPass:
    """The pass that computes values again, which a limit cannot do without.

    Raises:
        PartError: it is not installed.
        GraphError: it is no pass.
    """
    try:
        named = find_pass("", "rematerialize" if argument == "auto" else argument)
    except PartError as error:
        add_note(error, "budget_bytes and max_extra_cost need it")
        raise
    if named is None:
        raise GraphError("rematerialize=None: budget_bytes and max_extra_cost need a pass")
    return named


def _named_pass(argument: Any) -> Pass:
    if isinstance(argument, str):
        return Pass(argument, _hub().get("passes", argument))
    if not callable(argument):
        raise _no_pass(argument)
    return Pass(getattr(argument, "__name__", type(argument).__name__), argument)


def _no_pass(argument: object) -> ArgumentError:
    return ArgumentError(f"{argument!r:.60} is no pass: give a function of a graph, or a name")


def _installed(kind: str, name: str) -> Any:
    """The object provided under this name, or `None`; warns of a part that is broken."""
    if name not in _hub().names(kind):
        return None
    try:
        return _hub().get(kind, name)
    except RuntimeError as error:  # a PartError, whose module is imported with the hub
        warn(f"going on without it: {error}", RuntimeWarning, stacklevel=4)
        return None


def _hub() -> Any:
    from byparts_graph_ir.parts.hub import parts  # pluggy and the entry points: not if all is given

    return parts
