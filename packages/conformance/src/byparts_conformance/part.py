"""What this part tells the hub; light.  `plugin.py` is for pytest."""

from byparts_graph_ir.parts.hooks import Command, hookimpl

BYPARTS_API = (1, 1)  # which added commands


@hookimpl
def byparts_commands() -> list[Command]:
    """Of `byparts`."""
    doc = "run this kit on a backend; more options go to pytest"
    return [
        Command("check", "byparts_conformance.command:check", doc=doc),
        Command(
            "fuzz",
            "byparts_conformance.fuzz.command:fuzz",
            doc="try readers of files on changed files",
        ),
    ]
