"""Declares to the hub what this part provides; imports nothing else of the part."""

from byparts_graph_ir.parts.hooks import Names, hookimpl

BYPARTS_API = (1, 3)


@hookimpl
def byparts_names() -> list[Names]:
    """Names of TensorFlow: training sessions, estimators and columns."""
    return [
        Names("tf", "byparts_tf_estimator:names.tsv", doc="training, estimators and columns"),
        Names("tf-kinds", "byparts_tf_estimator:kinds.tsv", doc="operations that files name"),
    ]
