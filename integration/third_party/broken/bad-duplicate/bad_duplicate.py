"""A backend called as another part's is: fine until somebody uses it."""

from byparts_graph_ir.parts.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends():
    return [Backend("numpy", "nowhere:make")]
