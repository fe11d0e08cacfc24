"""Options of `build`: the one list of them, with their defaults and their meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Optional, Union

from byparts_graph_ir import ArgumentError, Backend, Graph, GraphError
from byparts_graph_ir.model.frozen import Frozen, field_names, replace
from byparts_runtime.inspect.costs import Cost
from byparts_runtime.memory.plan import Planner

GraphPass = Callable[..., Graph]  # of a graph, with keywords as each is called: `building/`
BackendsArgument = Union[Literal["auto"], Sequence[Union[str, Backend]]]
PassesArgument = Union[str, Sequence[Union[str, GraphPass]]]
PassArgument = Union[str, GraphPass, None]  # "auto", or the name of an installed pass
PlannerArgument = Union[str, Planner, None]
ResultsArgument = Union[str, Backend]
CaptureArgument = Union[bool, Literal["auto"]]
CommitArgument = Literal["auto", "copy"]
COMMITS = ("auto", "copy")


class BuildOptions(Frozen):
    """Options of `build` and `Executor`.

    Attributes:
        backends: names or objects; each node goes to the first that has a kernel for it.  Feeds and
            fetches are in the memory space of the first one.  "auto": all that start, best first,
            in the memory space of the best; `explain()` says why others do not.
        passes: names or functions `Graph -> Graph`; "auto" is `optimize`, if installed: ("auto", f)
            runs f after it.  Names may stand in one text: "auto+mine".
        planner: a name, a function, or `None`: each value has its own memory; "auto": as installed.
        legalize: decomposes what no backend has; "auto": as installed.
        order: `order(graph, external=...)`: the nodes in a better order; "auto": as installed.
            Like the other passes, a function or the name of an installed one; `None`: without.
        alignment: of every value, in bytes.
        commit: "auto": new values that can be computed on the variables themselves are, when all
            else is done, and the others are copied over the old ones; "copy": all are copied.
            Either way a run that fails leaves every variable as it was.
        capture: "auto": if a backend can make one call of what it runs (a CUDA graph, a loop of C),
            it does; `True`: or the program is not built; `False`: it does not.
        results: whose arrays the fetches are: "numpy", or a backend ("torch"), in the space of the
            program; those of a device are not waited for.
        budget_bytes: the most that the arena may take: values are computed again instead of kept,
            for as little more work as the pass finds, to the same bits.
        max_extra_cost: or else, how much more work there may be, as a fraction (0.01: 1 %); the
            arena is the smallest that is found for that.
        costs: what running a node costs, as `Program.costs` measures it; by default, its flops.
        max_stack_bytes: the most that the growing stack of a loop may take: that of the gradient of
            a `While` without `max_rounds`.
        rematerialize: the pass that computes values again; "auto": as installed.
        wait: whether a build waits for the compiler of a backend that generates code.  `False`: the
            program starts on the other backends and changes at a fixed call (`run/change.py`).
    """

    backends: BackendsArgument = ("numpy",)
    passes: PassesArgument = "auto"
    planner: PlannerArgument = "auto"
    legalize: PassArgument = "auto"
    order: PassArgument = "auto"
    alignment: int = 64
    commit: CommitArgument = "auto"
    capture: CaptureArgument = "auto"
    results: ResultsArgument = "numpy"
    budget_bytes: Optional[int] = None
    max_extra_cost: Optional[float] = None
    costs: Optional[Cost] = None
    max_stack_bytes: int = 1 << 32
    rematerialize: PassArgument = "auto"
    wait: bool = True

    def __post_init__(self) -> None:
        if not _is_whole(self.alignment):
            raise ArgumentError(f"alignment={self.alignment!r:.60}: give a number of bytes, as 64")
        if not isinstance(self.commit, str) or self.commit not in COMMITS:
            raise GraphError(f"commit={self.commit!r:.60}: expected one of {', '.join(COMMITS)}")
        if not (isinstance(self.capture, bool) or self.capture == "auto"):
            raise ArgumentError(f'capture={self.capture!r:.60}: give True, False or "auto"')
        if not isinstance(self.wait, bool):
            raise ArgumentError(f"wait={self.wait!r:.60}: give True or False")
        if not (_is_whole(self.max_stack_bytes) and self.max_stack_bytes >= 0):
            raise ArgumentError(
                f"max_stack_bytes={self.max_stack_bytes!r:.60}: give a number of bytes, as 1 << 30"
            )
        limits = f"budget_bytes={self.budget_bytes!r}, max_extra_cost={self.max_extra_cost!r}"
        if self.budget_bytes is not None and self.max_extra_cost is not None:
            raise GraphError(f"{limits}: give one of them; the other follows from it")
        if not (
            _is_size(self.budget_bytes, "__index__") and _is_size(self.max_extra_cost, "__float__")
        ):
            raise GraphError(f"{limits}: bytes are an integer, work is a fraction; both at least 0")

    @property
    def is_limited(self) -> bool:
        """Whether the arena or the work has a limit, so that values may be computed again."""
        return self.budget_bytes is not None or self.max_extra_cost is not None


def with_changes(options: object, changes: Mapping[str, Any]) -> BuildOptions:
    """The options with those of a call, which are fields of `BuildOptions` by name.

    Raises:
        ArgumentError: a name is no option; lists those that there are.
    """
    if not isinstance(options, BuildOptions):
        raise ArgumentError(f"options={options!r:.60}: give BuildOptions(...)")
    known = field_names(BuildOptions)
    for name in changes:
        if name not in known:
            raise ArgumentError(f"there is no option {name!r}; options are {', '.join(known)}")
    return replace(options, **changes) if changes else options


def _is_whole(number: Any) -> bool:
    shape = getattr(number, "shape", None)  # an array of several is no number
    return not isinstance(number, bool) and hasattr(number, "__index__") and shape in (None, ())


def _is_size(number: Any, method: str) -> bool:
    """Whether a size is a number of that kind, of 0 or more, or not given."""
    single = not getattr(number, "shape", ())
    return number is None or (hasattr(number, method) and single and bool(number >= 0))


DEFAULTS = BuildOptions()
