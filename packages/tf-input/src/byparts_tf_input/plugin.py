"""Declares to the hub what this part provides; imports nothing else of the part."""

from byparts_graph_ir.parts.hooks import Names, hookimpl

BYPARTS_API = (1, 3)


@hookimpl
def byparts_names() -> list[Names]:
    """Names of TensorFlow: tf.data, queues and tables."""
    return [
        Names("tf", "byparts_tf_input:names.tsv", doc="tf.data, queues and tables"),
        Names("tf-kinds", "byparts_tf_input:kinds.tsv", doc="operations that files name"),
    ]
