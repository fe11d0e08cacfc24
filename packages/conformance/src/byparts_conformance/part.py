"""The record of this part for the hub; light.  `plugin.py` is for pytest."""

from byparts_graph_ir.parts.hooks import Command, hookimpl

BYPARTS_API = (1, 1)  # which added commands


@hookimpl
def byparts_commands() -> list[Command]:
    """The commands of this part for `byparts`."""
    doc = "run this kit on a backend; more options go to pytest"
    return [
        Command("check", "byparts_conformance.command:check", doc=doc),
        Command(
            "fuzz",
            "byparts_conformance.fuzz.command:fuzz",
            doc="try readers of files on changed files",
        ),
    ]
