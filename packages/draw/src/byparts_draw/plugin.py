"""The record of this part for the hub; light."""

from byparts_graph_ir.parts.hooks import Picture, hookimpl

BYPARTS_API = (1, 2)  # which added pictures


@hookimpl
def byparts_pictures() -> list[Picture]:
    """The pictures of graphs; `Graph.svg` asks for "svg"."""
    return [Picture("svg", "byparts_draw.svg:svg", doc="boxes, frames around scopes, wires")]
