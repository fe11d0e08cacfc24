"""Programs: a graph, a memory plan and kernels, bound together and run."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_runtime.arena import (
        Arena as Arena,
    )
    from byparts_runtime.costs import (
        Costs as Costs,
    )
    from byparts_runtime.executor import (
        Executor as Executor,
        Statistics as Statistics,
    )
    from byparts_runtime.plan import (
        Location as Location,
        Plan as Plan,
        Planner as Planner,
        separate as separate,
    )
    from byparts_runtime.profile import (
        Profile as Profile,
    )
    from byparts_runtime.program import (
        BoundProgram as BoundProgram,
        Program as Program,
        build as build,
    )
    from byparts_runtime.variable import (
        Store as Store,
        Variable as Variable,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        arena="Arena",
        costs="Costs",
        executor="Executor Statistics",
        plan="Location Plan Planner separate",
        profile="Profile",
        program="BoundProgram Program build",
        variable="Store Variable",
    )
