"""The record of this part for the hub; light."""

from byparts_graph_ir.parts.hooks import Frontend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_frontends() -> list[Frontend]:
    """Models in ONNX files."""
    load = "byparts_frontend_onnx:from_onnx"
    doc = 'from_onnx("model.onnx") -> graph and weights'
    return [Frontend("onnx", load, needs=("onnx", "numpy"), doc=doc)]
