"""Rules for static shapes, for `Kind(shape=...)`: (inputs, **attributes) -> shape.

A rule raises ValueError where the inputs are known not to fit, in TensorFlow's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_tf_files.shape import Dims, merged, shown


def like_first(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """The shape of the first input."""
    return inputs[0].dims


def scalar(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """No axis."""
    return ()


def unknown(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """Nothing is known."""
    return None


def named_by(position: int) -> Any:
    """The shape that input `position` names."""
    return lambda inputs, **_: static_dims(inputs[position])


def broadcast(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """The shape that all inputs are repeated into."""
    dims = inputs[0].dims
    for t in inputs[1:]:
        dims = broadcast_dims(dims, t.dims)
    return dims


def broadcast_dims(a: Dims, b: Dims) -> Dims:
    """The shape that two shapes are repeated into.

    Raises:
        ValueError: two sizes differ and neither is 1.
    """
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    short = len(a) - len(b)
    rest = [_met(x, y, a, b) for x, y in zip(a[short:], b, strict=True)]
    return (*a[:short], *rest)


def _met(x: Optional[int], y: Optional[int], a: Dims, b: Dims) -> Optional[int]:
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x is None or y is None:
        return y if x is None else x
    raise ValueError(
        f"Dimensions must be equal, but are {x} and {y}: shapes {shown(a)} and {shown(b)} "
        "cannot be broadcast"
    )


def same(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """The shape of all inputs, which are equal.

    Raises:
        ValueError: they are not.
    """
    dims: Dims = None
    for t in inputs:
        dims = merged(dims, t.dims)
    return dims


def axis_of(axis: int, rank: Optional[int], what: str = "axis") -> int:
    """An axis counted from the front; negative ones stay where the rank is not known.

    Raises:
        ValueError: there is no such axis.
    """
    if rank is None:
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"Invalid {what} {axis}: it must be in the range [{-rank}, {rank})")
    return axis % rank if rank else 0


def reduced(inputs: Sequence[Tensor], *, axes: Any, keepdims: bool, **_: Any) -> Dims:
    """The shape without `axes`, or with 1 there; `axes` of `None`: all."""
    return reduced_dims(inputs[0].dims, axes, keepdims)


def reduced_dims(dims: Dims, axes: Any, keepdims: bool) -> Dims:
    """A shape without `axes`, or with 1 there; `axes` of `None`: all."""
    if dims is None:
        return () if axes is None and not keepdims else None
    gone = set(range(len(dims))) if axes is None else {axis_of(a, len(dims)) for a in axes}
    if keepdims:
        return tuple([1 if i in gone else d for i, d in enumerate(dims)])
    return tuple([d for i, d in enumerate(dims) if i not in gone])
