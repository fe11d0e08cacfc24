"""What this part tells the hub; light."""

from byparts_graph_ir.parts.hooks import Picture, hookimpl

BYPARTS_API = (1, 2)  # which added pictures


@hookimpl
def byparts_pictures() -> list[Picture]:
    """Of graphs: `Graph.svg` asks for "svg"."""
    return [Picture("svg", "byparts_draw.svg:svg", doc="boxes, frames around scopes, wires")]
