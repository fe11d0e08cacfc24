"""Declares to the hub which names this part adds."""

from byparts_graph_ir.parts.hooks import Names, hookimpl

BYPARTS_API = (1, 3)  # which added names


@hookimpl
def byparts_names() -> list[Names]:
    """`tf.contrib.acme`, and the operations of it that a graph in a file may name."""
    return [
        Names("tf", "acme_byparts_tf:names.tsv"),
        Names("tf-kinds", "acme_byparts_tf:kinds.tsv"),
    ]
