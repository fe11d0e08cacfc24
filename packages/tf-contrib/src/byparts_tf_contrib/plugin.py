"""Declares to the hub what this part provides; imports nothing else of the part."""

from byparts_graph_ir.parts.hooks import Names, hookimpl

BYPARTS_API = (1, 3)


@hookimpl
def byparts_names() -> list[Names]:
    """Names of TensorFlow: what tf.contrib alone gives."""
    return [
        Names("tf", "byparts_tf_contrib:names.tsv", doc="what tf.contrib alone gives"),
        Names("tf-kinds", "byparts_tf_contrib:kinds.tsv", doc="operations that files name"),
    ]
