"""Its function forgets to return the backend."""

from byparts_graph_ir.parts.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends():
    return [Backend("forgetful", "bad_none:make")]


def make():
    import byparts_graph_ir

    byparts_graph_ir.Backend("forgetful", None)
