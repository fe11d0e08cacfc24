"""Hooks by which the hub finds this backend; importing them is cheap."""

from byparts_graph_ir.parts.hooks import Backend, Ops, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """Before libraries: it generates what it can, and leaves the rest to them."""
    return [
        Backend("native", "byparts_kernels_native:make", priority=20, doc="generated C for the CPU")
    ]


@hookimpl
def byparts_ops() -> list[Ops]:
    """Name the ops that passes of this backend put into graphs; the test kit tries them too."""
    return [Ops("native", "byparts_kernels_native.panels:OPS", doc="products that share a copy")]
