"""Turns what a caller wrote (`"numpy"`, `"auto"`, own objects) into backends, passes and a planner.

The only file that asks the hub, and it asks only for what is named: with everything given by hand
no discovery happens.  `"auto"` takes what is installed, is content where nothing is, and warns of
what is there but cannot be loaded; what was named must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Optional, Union
from warnings import warn

from byparts_graph_ir import ArgumentError, Backend, Graph, GraphError, Node, Pass, Space
from byparts_graph_ir.errors import PartError, add_note
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.building.context import around
from byparts_runtime.memory.plan import Planner, separate

TYPE_CHECKING = False
Supports = Callable[[Node], bool]
Legalize = Callable[[Graph, Supports], Graph]
Fuse = Callable[..., Graph]  # (graph, wants, alone)
Order = Callable[..., Graph]  # (graph, *, external)
Rematerialize = Callable[..., Graph]  # (graph, *, budget_bytes | max_extra_cost, external, cost, …)
BackendsArgument = Sequence[Union[str, Backend]]
PassesArgument = Union[Literal["auto"], Sequence[Union[str, Callable[[Graph], Graph]]]]
PlannerArgument = Union[str, Planner, None]
ResultsArgument = Union[str, Backend]
LegalizeArgument = Union[str, Legalize, None]  # "auto", or the name of an installed pass
OrderArgument = Union[str, Order, None]
RematerializeArgument = Union[str, Rematerialize]

if TYPE_CHECKING:
    from byparts_runtime.building.options import BuildOptions

AUTO_PASSES = ("optimize",)  # those of them that are installed, in this order


@dataclass(frozen=True)
class Parts:
    """What the options of a build name, found."""

    backends: tuple[Backend, ...]
    passes: tuple[Pass, ...]
    legalize: Optional[Legalize]
    fuse: Optional[Fuse]
    order: Optional[Order]
    planner: Planner
    rematerialize: Optional[Rematerialize]
    results: Optional[Backend]
    transfer: Any = None  # the pass that copies values between spaces, where there are several

    @property
    def space(self) -> Space:
        """The memory space of feeds and fetches: that of the first backend."""
        return self.backends[0].space

    @property
    def spaces(self) -> dict[str, Space]:
        """All memory spaces by name, the first one first."""
        found: dict[str, Space] = {}
        for backend in self.backends:
            found.setdefault(backend.space.name, backend.space)
        return found

    @property
    def several(self) -> bool:
        """Whether there is more than one space."""
        return any(b.space.name != self.space.name for b in self.backends)

    @property
    def context(self) -> Callable[[], AbstractContextManager[object]]:
        """What is entered while anything is compiled, bound or run."""
        return around(self.backends)


def find_parts(options: BuildOptions) -> Parts:
    """The parts that these options name, and for "auto" those that are installed.

    Raises:
        PartError: one that is named is not installed or does not start.
        GraphError: a limit is given without a planner.
    """
    backends, planner = find_backends(options.backends), find_planner(options.planner)
    if options.is_limited and planner is separate:
        from byparts_graph_ir.install import install_command  # only for a message

        limits = f"budget_bytes={options.budget_bytes!r}, max_extra_cost={options.max_extra_cost!r}"
        how = f"{install_command('byparts-memplan')}, or planner=..."
        raise GraphError(f"{limits}: without a planner no two values share a byte; {how}")
    return Parts(
        backends,
        find_passes(options.passes),
        find_legalize(options.legalize),
        find_fuse(backends),
        find_order(options.order, options.planner),
        planner,
        find_rematerialize(options.rematerialize) if options.is_limited else None,
        find_results(options.results, backends[0].space, backends),
        find_transfer(backends),
    )


def find_backends(backends: BackendsArgument) -> tuple[Backend, ...]:
    """The backends, each started once.

    Raises:
        ArgumentError: none is given.
        PartError: one is not installed or does not start.
    """
    if not isinstance(backends, (tuple, list)) or not backends:
        raise ArgumentError(
            f'backends={backends!r:.60}: give a tuple of some, e.g. backends=("numpy",)'
        )
    found = tuple(_hub().backend(b) if isinstance(b, str) else b for b in backends)
    for b in found:
        if not isinstance(b, Backend):
            raise ArgumentError(f"backends: {b!r:.60} is no backend: give a Backend, or a name")
    return found


def find_transfer(backends: Sequence[Backend]) -> Any:
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
    found = results
    if isinstance(results, str):  # "torch" is "torch-cuda", where that is what runs
        named = (b for b in backends if results in (b.name, b.name.partition("-")[0]))
        found = next(named, None) or _hub().backend(results)
    if not isinstance(found, Backend):
        raise ArgumentError(f'results={results!r:.60}: give "numpy", or a backend')
    if found.space.name != space.name:
        where = f"{found.name} computes in {found.space.name}, the values are in {space.name}"
        raise GraphError(f"results={results!r:.60}: {where}; give a backend of that space")
    if found.copy is None:
        raise GraphError(f'results={results!r:.60}: {found.name} has no `copy`; use "numpy"')
    return found


def find_passes(passes: PassesArgument) -> tuple[Pass, ...]:
    """The passes, in order.

    Raises:
        PartError: one that is named is not installed.
    """
    if isinstance(passes, str) and passes == "auto":
        found = ((name, _installed("passes", name)) for name in AUTO_PASSES)
        return tuple(Pass(name, run) for name, run in found if run is not None)
    if isinstance(passes, str) or not isinstance(passes, Iterable):
        raise ArgumentError(f"passes={passes!r:.60}: give a tuple, e.g. passes=(merge,)")
    return tuple(_pass(p) for p in passes)


def find_legalize(legalize: LegalizeArgument) -> Optional[Legalize]:
    """The pass that decomposes what no backend has, or `None`."""
    if not (isinstance(legalize, str) and legalize == "auto"):
        named: Optional[Legalize] = _named(legalize)
        return named
    found: Optional[Legalize] = _installed("passes", "legalize")
    return found


def find_order(order: OrderArgument, planner: PlannerArgument) -> Optional[Order]:
    """The pass that puts nodes in a better order; without a planner no order is better."""
    if not (isinstance(order, str) and order == "auto"):
        named: Optional[Order] = _named(order)
        return named
    return None if planner is None else _installed("passes", "order")


def find_rematerialize(rematerialize: RematerializeArgument) -> Rematerialize:
    """The pass that computes values again instead of keeping them.

    Raises:
        PartError: it is not installed.
        GraphError: it is no pass.
    """
    if rematerialize is None:
        raise GraphError("rematerialize=None: budget_bytes and max_extra_cost need a pass")
    if not (isinstance(rematerialize, str) and rematerialize == "auto"):
        named: Rematerialize = _named(rematerialize)
        return named
    try:
        found: Rematerialize = _hub().get("passes", "rematerialize")
    except PartError as error:
        add_note(error, "budget_bytes and max_extra_cost need it")
        raise
    return found


def find_fuse(backends: Sequence[Backend]) -> Optional[Fuse]:
    """The pass that makes regions, if it is installed and some backend wants any."""
    wanted = any(b.wants is not None for b in backends)
    return _installed("passes", "fuse") if wanted else None


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
    found: Planner = _hub().get("planners", planner)
    return found


def _named(given: Any) -> Any:
    """A pass by its name, or what is one."""
    if isinstance(given, str):
        return _hub().get("passes", given)
    if given is not None and not callable(given):
        raise ArgumentError(f"{given!r:.60} is no pass: give a function of a graph, or a name")
    return given


def _installed(kind: str, name: str) -> Any:
    """What is provided under this name, or `None`; a broken part is no reason to stop."""
    if name not in _hub().names(kind):
        return None
    try:
        return _hub().get(kind, name)
    except RuntimeError as error:  # a PartError, whose module is imported with the hub
        warn(f"going on without it: {error}", RuntimeWarning, stacklevel=4)
        return None


def _pass(given: Union[str, Pass, Callable[[Graph], Graph]]) -> Pass:
    if isinstance(given, Pass):
        return given
    if isinstance(given, str):
        return Pass(given, _hub().get("passes", given))
    if not callable(given):
        raise ArgumentError(f"{given!r:.60} is no pass: give a function of a graph, or a name")
    return Pass(getattr(given, "__name__", type(given).__name__), given)


def _hub() -> Any:
    from byparts_graph_ir.hub import parts  # pluggy and the entry points: not if all is given

    return parts
