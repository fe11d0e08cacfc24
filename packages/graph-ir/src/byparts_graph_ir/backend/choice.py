"""Decides which nodes of a program stay as they are, and which are decomposed for a backend.

Each node goes to the first backend that has a kernel for it, wants it in a region, or wants all
that it decomposes into.  So a backend that computes max, sub, exp, sum and div in one loop gets
them in place of a softmax, though a backend behind it has softmax whole.
"""

from __future__ import annotations

from byparts_graph_ir.backend.backend import Backend
from byparts_graph_ir.backend.fused import lone_region
from byparts_graph_ir.errors import ShapeError
from byparts_graph_ir.model.bodies import has_effect
from byparts_graph_ir.model.value import Input, Node, producers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from byparts_graph_ir.model.op import Op

_MOST_LEVELS = 20  # of decompositions in decompositions; ends one that contains its own op


def stays_whole(
    node: Node,
    backends: Sequence[Backend],
    refused: Collection[Op] = (),
    *,
    regions: bool = True,
) -> bool:
    """Whether the node is computed as it is; if not, it is to be decomposed, where it can be.

    Args:
        node: of static types.
        backends: of the program, the preferred first.
        refused: regions (`Fused`) that did not compile; no backend wants a node that is one.
        regions: whether regions are made at all; if not, only kernels count.
    """
    for backend in backends:
        if backend.supports(node.op) or (regions and _wanted(node, backend, refused)):
            return True
        if regions and _wants_parts(node, backend, refused):
            return False
    return False


def _wanted(node: Node, backend: Backend, refused: Collection[Op]) -> bool:
    if backend.wants is None or has_effect(node.op) or not backend.wants(node):
        return False
    return not refused or lone_region(node).op not in refused


def _wants_parts(node: Node, backend: Backend, refused: Collection[Op], level: int = 0) -> bool:
    """Whether the backend wants each node that this one decomposes into, on whatever level."""
    if backend.wants is None or level == _MOST_LEVELS:
        return False
    outputs = node.op.decompose(*[Input(v.type, None, "", "") for v in node.inputs])
    parts = () if outputs is None else producers(outputs)
    return bool(parts) and all(
        _wanted(part, backend, refused)
        or _needs_no_step(part)
        or _wants_parts(part, backend, refused, level + 1)
        for part in parts
    )


def _needs_no_step(node: Node) -> bool:
    """Whether the node is a constant, which is computed once, or gives bytes of its inputs."""
    try:
        seen = {o for _, o, _ in node.op.views(*[v.type for v in node.inputs])}
    except ShapeError:  # with named dimensions some ops cannot tell
        return False
    return not has_effect(node.op) and (not node.inputs or len(seen) == len(node.outputs))
