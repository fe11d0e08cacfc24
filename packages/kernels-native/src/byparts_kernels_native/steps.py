"""What a region stores, and the loops around it, before they become statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from byparts_graph_ir import Value
from byparts_kernels_native.axes import Axes
from byparts_tensor_ir.lowering.reduction import Reduced
from byparts_tensor_ir.statement import Buffer, Store


@dataclass(eq=False)
class Step:
    """A store: `value` for all of `axes`, combining elements over `over`.

    Attributes:
        buffers: where it is stored: those of outputs, or one of its own.
        path: the loops around it, outermost first.
        kept: the axes by which its own buffer is indexed.
        place: steps between the same two loops have one place; later ones a greater.
    """

    value: Value
    axes: Axes
    over: Axes = ()
    rule: Reduced | None = None
    buffers: list[Buffer] = field(default_factory=list)
    path: list[Loop] = field(default_factory=list)
    kept: Axes = ()
    place: int = 0


@dataclass(eq=False)
class Loop:
    """A loop over one axis, and what it holds in order."""

    axis: int
    body: list[Loop | Step] = field(default_factory=list)


def as_one(stores: list[Store]) -> list[Store]:
    """Stores at one index as one store, which computes all its values before it writes any."""
    if not stores:
        return []
    first = stores[0]
    assert all(s.index == first.index for s in stores), "steps in one body have its axes"
    targets = tuple([t for s in stores for t in s.targets])
    return [Store(first.block, targets, first.index, tuple([v for s in stores for v in s.values]))]
