"""A hook that raises."""

from byparts_graph_ir.parts.hooks import hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends():
    raise ValueError("boom")
