"""What this part tells byparts; imports nothing else."""

from byparts_graph_ir.parts.hooks import Backend, Frontend, Ops, Pass, Planner, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """Computes in a memory space of its own."""
    load = "acme_byparts_npu.backend:make"
    return [Backend("npu", load, needs=("numpy",), priority=100, space="npu:0", doc="the ACME NPU")]


@hookimpl
def byparts_ops() -> list[Ops]:
    """What the NPU has in one instruction."""
    return [Ops("acme", "acme_byparts_npu.ops:OPS", doc="mul_add, delay")]


@hookimpl
def byparts_passes() -> list[Pass]:
    """From ops of everybody to ops of ours."""
    return [Pass("join-mul-add", "acme_byparts_npu.joins:join", doc="x * a + b in one op")]


@hookimpl
def byparts_planners() -> list[Planner]:
    """Another way to place values."""
    return [Planner("shelves", "acme_byparts_npu.shelves:plan", doc="one shelf for each size")]


@hookimpl
def byparts_frontends() -> list[Frontend]:
    """Our format of networks."""
    return [Frontend("acme-layers", "acme_byparts_npu.layers:read", doc="'dense 8 tanh'")]
