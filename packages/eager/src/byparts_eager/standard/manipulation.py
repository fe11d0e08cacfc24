"""Arrays in other shapes: joined, parted, turned, repeated."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Optional, Union

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, asarray
from byparts_eager.standard.one_dtype import of_one_dtype
from byparts_graph_ir import ShapeError, Value
from byparts_opset.broadcast import broadcast_shape

Axes = Union[int, Sequence[int]]


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """`x` repeated along axes of size 1, and along new ones in front, up to this shape."""
    return ops.broadcast_to(asarray(x), shape)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """The arrays, broadcast to one shape."""
    values = [asarray(x) for x in arrays]
    shape: Any = broadcast_shape("broadcast_arrays", *[x.type for x in values])
    return [ops.broadcast_to(x, shape) for x in values]


def concat(arrays: Any, /, *, axis: Optional[int] = 0) -> Any:
    """The arrays one behind the other along `axis`; flat ones where it is `None`."""
    values = _some(arrays)
    if axis is None:
        values, axis = [ops.reshape(x, (-1,)) for x in values], 0
    return ops.concat(values, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """The arrays, of one shape, side by side along a new axis."""
    return ops.stack(_some(arrays), axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices of `x` along `axis`, without that axis."""
    return tuple(ops.unstack(asarray(x), axis))


def expand_dims(x: Any, /, axis: int = 0) -> Any:
    """`x` with a new axis of size 1 at `axis`."""
    return ops.expand_dims(_within(x, axis, 1), axis)


def squeeze(x: Any, /, axis: Axes) -> Any:
    """`x` without these axes, which are of size 1."""
    return ops.squeeze(asarray(x), axis)


def flip(x: Any, /, *, axis: Optional[Axes] = None) -> Any:
    """`x` with its elements in reverse order along these axes, or all."""
    x = asarray(x)
    return ops.reverse(x, tuple(range(x.type.rank)) if axis is None else axis)


def permute_dims(x: Any, /, axes: Sequence[int]) -> Any:
    """`x` with its axes in this order."""
    return ops.transpose(asarray(x), tuple(axes))


def moveaxis(x: Any, source: Axes, destination: Axes, /) -> Any:
    """`x` with the axes `source` at the places `destination`; the others keep their order."""
    x = asarray(x)
    rank = x.type.rank
    sources, places = (
        [_axis(a, rank) for a in ([axes] if isinstance(axes, int) else axes)]
        for axes in (source, destination)
    )
    order = [i for i in range(rank) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return ops.transpose(x, tuple(order))


def reshape(x: Any, /, shape: Any, *, copy: Optional[bool] = None) -> Any:
    """`x` in another shape of as many elements; one size may be -1."""
    return ops.reshape(asarray(x), shape)


def repeat(x: Any, repeats: Any, /, *, axis: Optional[int] = None) -> Any:
    """`x` with each slice along `axis` repeated; flat x without one.

    Raises:
        GraphError: `repeats` is a traced value: the shape depends on its numbers.
    """
    counts = np.asarray(repeats).reshape(-1).tolist()
    return ops.repeat(asarray(x), counts[0] if len(counts) == 1 else counts, axis)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """Copies of `x` side by side, so many along each axis; the shorter of both is filled with 1."""
    x = asarray(x)
    new = len(repetitions) - x.type.rank
    if new > 0:
        x = ops.expand_dims(x, tuple(range(new)))
    return ops.tile(x, (1,) * -new + tuple(repetitions))


def roll(x: Any, /, shift: Axes, *, axis: Optional[Axes] = None) -> Any:
    """`x` with its elements moved on by `shift` along `axis`, the last ones to the front."""
    x = asarray(x)
    if axis is None:
        return ops.reshape(roll(ops.reshape(x, (-1,)), shift, axis=0), x.type.dims)
    axes = [axis] if isinstance(axis, int) else list(axis)
    shifts = [shift] * len(axes) if isinstance(shift, int) else shift
    for by, along in zip(shifts, axes, strict=True):
        size = x.shape[along]
        cut = (size - by % size) if size else 0
        if cut % (size or 1):
            x = ops.concat(ops.split(x, (cut, size - cut), along)[::-1], along)
    return x


def beside(elements: Any, x: Value) -> Array:
    """An array of NumPy on the device of `x`."""
    return Array(elements, None, x.device if isinstance(x, Array) else "numpy")


def _some(arrays: Any) -> list[Any]:
    values = list(arrays)
    if not values:
        raise ShapeError("concat, stack: there are no arrays")
    return of_one_dtype(*values)


def _within(x: Any, axis: int, new: int = 0) -> Any:
    """`x` as an array, if it has this axis.

    Raises:
        IndexError: it has not.
    """
    x = asarray(x)
    _axis(axis, x.type.rank + new)
    return x


def _axis(axis: int, rank: int) -> int:
    """The axis counted from the front.

    Raises:
        IndexError: there is none.
    """
    if not -rank <= index(axis) < rank:
        raise IndexError(f"axis {axis} of an array of {rank} axes")
    return axis % rank
