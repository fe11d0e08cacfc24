"""The record of this part for the hub; light."""

from byparts_graph_ir.parts.hooks import Frontend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_frontends() -> list[Frontend]:
    """Models of PyTorch."""
    doc = "from_exported(torch.export.export(model, args)) -> graph and weights"
    load = "byparts_frontend_torch:from_exported"
    return [Frontend("torch", load, needs=("torch", "numpy"), doc=doc)]
