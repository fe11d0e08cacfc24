"""Declares to the hub what this part provides; imports nothing else of the part."""

from byparts_graph_ir.parts.hooks import Names, hookimpl

BYPARTS_API = (1, 3)


@hookimpl
def byparts_names() -> list[Names]:
    """Names of TensorFlow: tf.keras, tf.layers and cells."""
    return [
        Names("tf", "byparts_tf_keras:names.tsv", doc="tf.keras, tf.layers and cells"),
    ]
