"""Record of this part for the hub; imports no NumPy."""

from byparts_graph_ir.parts.hooks import Ops, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_ops() -> list[Ops]:
    """The standard ops."""
    return [Ops("standard", "byparts_opset:OPS", needs=("numpy",), doc="the standard ops")]
