"""What this part tells the hub; light."""

from byparts_graph_ir.parts.hooks import Frontend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_frontends() -> list[Frontend]:
    """The API of TinyFlow, which is the one of TensorFlow 1."""
    return [Frontend("tinyflow", "byparts_frontend_tf.tinyflow", doc="import it as tf")]
