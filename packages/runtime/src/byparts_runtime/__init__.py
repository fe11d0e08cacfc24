"""Programs: a graph, a memory plan and kernels, bound together and run."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_runtime.building.options import (
        BuildOptions as BuildOptions,
    )
    from byparts_runtime.inspect.costs import (
        Costs as Costs,
    )
    from byparts_runtime.inspect.profile import (
        Profile as Profile,
    )
    from byparts_runtime.memory.arena import (
        Arena as Arena,
    )
    from byparts_runtime.memory.plan import (
        Location as Location,
        Plan as Plan,
        Planner as Planner,
        separate as separate,
    )
    from byparts_runtime.memory.store import (
        Store as Store,
    )
    from byparts_runtime.memory.variable import (
        Variable as Variable,
    )
    from byparts_runtime.run.build import (
        build as build,
    )
    from byparts_runtime.run.executor import (
        Executor as Executor,
        Statistics as Statistics,
    )
    from byparts_runtime.run.feed_slots import (
        FeedSlots as FeedSlots,
    )
    from byparts_runtime.run.program import (
        BoundProgram as BoundProgram,
        Program as Program,
    )
    from byparts_runtime.run.symbolic_program import (
        SymbolicProgram as SymbolicProgram,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        **{
            "building.options": "BuildOptions",
            "inspect.costs": "Costs",
            "inspect.profile": "Profile",
            "memory.arena": "Arena",
            "memory.plan": "Location Plan Planner separate",
            "memory.store": "Store",
            "memory.variable": "Variable",
            "run.build": "build",
            "run.executor": "Executor Statistics",
            "run.feed_slots": "FeedSlots",
            "run.program": "BoundProgram Program",
            "run.symbolic_program": "SymbolicProgram",
        },
    )
