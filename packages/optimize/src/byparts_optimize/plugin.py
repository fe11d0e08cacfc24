"""The record of this part for the hub; light."""

from byparts_graph_ir.parts.hooks import Pass, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_passes() -> list[Pass]:
    """Passes from a graph to a smaller or simpler one."""
    return [
        Pass(
            "optimize",
            "byparts_optimize:optimize",
            doc="the six below, in one",
        ),
        Pass("canonical", "byparts_optimize:canonical", doc="the simplest form that types allow"),
        Pass("fold", "byparts_optimize:fold", doc="compute what depends on constants alone"),
        Pass("simplify", "byparts_optimize:simplify", doc="algebra: -(-x) = x, x * 1 = x, ..."),
        Pass("merge", "byparts_optimize:merge", doc="compute equal expressions once"),
        Pass("prune", "byparts_optimize:prune", doc="leave out what nobody reads of a loop"),
        Pass("share", "byparts_optimize:share", doc="run a loop once where a longer one does it"),
        Pass("fuse", "byparts_optimize:fuse", doc="join what a backend wants to compute in one go"),
        Pass("legalize", "byparts_optimize:legalize", doc="decompose what a backend lacks"),
        Pass(
            "transfer", "byparts_optimize:transfer", doc="copy values to the spaces that read them"
        ),
    ]
