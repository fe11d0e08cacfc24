"""Declares to the hub what this part provides; imports nothing else of the part."""

from byparts_graph_ir.parts.hooks import Frontend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_frontends() -> list[Frontend]:
    """The API of TinyFlow, which is the one of TensorFlow 1."""
    return [Frontend("tinyflow", "byparts_tinyflow", doc="TinyFlow of 2016: import it as tf")]
