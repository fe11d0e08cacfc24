"""What this part tells the hub; light."""

from byparts_graph_ir.hooks import Pass, Planner, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_planners() -> list[Planner]:
    """Offsets in one arena."""
    return [
        Planner("greedy", "byparts_memplan:plan", doc="largest first, lowest fitting offset"),
        Planner("blocks", "byparts_memplan:plan_blocks", doc="whole blocks, as NNVM: a baseline"),
    ]


@hookimpl
def byparts_passes() -> list[Pass]:
    """Orders of the nodes."""
    return [Pass("order", "byparts_memplan:order", doc="fewer bytes alive, by list scheduling")]
