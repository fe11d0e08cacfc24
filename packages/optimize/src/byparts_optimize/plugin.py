"""What this part tells the hub; light."""

from byparts_graph_ir.hooks import Pass, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_passes() -> list[Pass]:
    """Passes from a graph to a smaller or simpler one."""
    return [
        Pass(
            "optimize",
            "byparts_optimize:optimize",
            doc="the four below, in one",
        ),
        Pass("canonical", "byparts_optimize:canonical", doc="the simplest form that types allow"),
        Pass("fold", "byparts_optimize:fold", doc="compute what depends on constants alone"),
        Pass("simplify", "byparts_optimize:simplify", doc="algebra: -(-x) = x, x * 1 = x, ..."),
        Pass("merge", "byparts_optimize:merge", doc="compute equal expressions once"),
        Pass("fuse", "byparts_optimize:fuse", doc="join what a backend wants to compute in one go"),
        Pass("legalize", "byparts_optimize:legalize", doc="decompose what a backend lacks"),
    ]
