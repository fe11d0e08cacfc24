"""The pass and the command of this part, for the hub: names only, nothing heavy is imported."""

from byparts_graph_ir.parts.hooks import Command, Pass, hookimpl

BYPARTS_API = (1, 1)  # which added commands


@hookimpl
def byparts_passes() -> list[Pass]:
    """Rematerialisation."""
    return [
        Pass(
            "rematerialize",
            "byparts_recompute:rematerialize",
            doc="compute again rather than keep, within a budget",
        ),
    ]


@hookimpl
def byparts_commands() -> list[Command]:
    """The trade-off between bytes and work."""
    return [
        Command(
            "tradeoff",
            "byparts_recompute.command:command",
            doc="bytes against extra work of a graph",
        ),
    ]
