"""The record of this part for the hub; light."""

from byparts_graph_ir.parts.hooks import Command, Pass, Planner, hookimpl

BYPARTS_API = (1, 1)  # which added commands


@hookimpl
def byparts_planners() -> list[Planner]:
    """Offsets in one arena."""
    return [Planner("greedy", "byparts_memplan:plan", doc="largest first, lowest fitting offset")]


@hookimpl
def byparts_passes() -> list[Pass]:
    """Other orders of the nodes."""
    return [
        Pass("order", "byparts_memplan:order", doc="fewer bytes alive at the worst step"),
    ]


@hookimpl
def byparts_commands() -> list[Command]:
    """Commands of `byparts`."""
    return [
        Command("plan", "byparts_memplan.commands.plan:command", doc="the memory plan of a graph"),
        Command("place", "byparts_memplan.commands.place:command", doc="buffers of a CSV file"),
    ]
