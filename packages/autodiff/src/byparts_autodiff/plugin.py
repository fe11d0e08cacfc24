"""The passes of this part, for the hub: names only, nothing heavy is imported."""

from byparts_graph_ir.parts.hooks import Pass, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_passes() -> list[Pass]:
    """Reverse and forward mode."""
    return [
        Pass("gradients", "byparts_autodiff:gradients", doc="reverse mode"),
        Pass("jvp", "byparts_autodiff:jvp", doc="forward mode"),
    ]
