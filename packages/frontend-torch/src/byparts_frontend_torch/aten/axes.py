"""Torch's axes and sizes as ours: counted from the front, known where they must be."""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_graph_ir import Value


def rank_of(x: Value) -> int:
    """The number of axes; the export knows it of everything."""
    assert x.type.shape is not None, "torch knows every rank"
    return len(x.type.shape)


def axis_of(x: Value, dim: int) -> int:
    """`dim` counted from the front; a 0-d value has axis 0, as in torch."""
    return dim % max(1, rank_of(x))


def axes_of(x: Value, dims: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """Several; none at all means all of them, as `None` does."""
    if dims is None or (not isinstance(dims, int) and not dims):
        return None
    if rank_of(x) == 0:
        return None
    return tuple(axis_of(x, d) for d in ([dims] if isinstance(dims, int) else dims))


def with_axis(x: Value) -> Value:
    """x, but a 0-d value as a row of one: torch lets those have an axis 0."""
    return x if rank_of(x) else ops.expand_dims(x, 0)


def size_at(x: Value, axis: int) -> int:
    """The size of x along an axis.

    Raises:
        UnsupportedOp: the export left it open.
    """
    assert x.type.shape is not None, "torch knows every rank"
    size = x.type.shape[axis]
    if not isinstance(size, int):
        raise UnsupportedOp(
            f"needs the size of axis {axis} of {x.type}: export it with a fixed one"
        )
    return size


def dims_of(x: Value) -> tuple[int, ...]:
    """The whole shape, in numbers; likewise."""
    return tuple(size_at(x, axis) for axis in range(rank_of(x)))
