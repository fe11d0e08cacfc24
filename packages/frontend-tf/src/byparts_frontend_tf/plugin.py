"""Declares to the hub what this part provides; imports nothing else of the part."""

from byparts_graph_ir.parts.hooks import Frontend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_frontends() -> list[Frontend]:
    """The API of TensorFlow 1.15."""
    return [Frontend("tf", "byparts_frontend_tf", doc="TensorFlow 1.15: import it as tf")]
