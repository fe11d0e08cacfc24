"""Types combined: equal dtypes, NumPy broadcasting over dimensions that may not be known, axes.

Two dimensions broadcast if they are equal or one is 1.  What is not known never is an error: a
symbol or `None` beside a number other than 1 must be that number (or 1), so the result is the
number; beside another unknown, only equal symbols are known to give themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from byparts_graph_ir import Dimension, Shape, ShapeError, TensorType, Value


def same_dtype(name: str, *types: TensorType) -> str:
    """The one dtype of all `types`.

    Raises:
        ShapeError: they differ; nothing is promoted silently.
    """
    for other in types[1:]:
        if other.dtype != types[0].dtype:
            raise ShapeError(
                f"{name}: dtypes differ: {types[0]} and {other}; cast one of them, "
                f"as in cast(x, {types[0].dtype!r})"
            )
    return types[0].dtype


def broadcast_types(name: str, *types: TensorType) -> TensorType:
    """The type of an elementwise op on `types`, of one dtype, by NumPy's broadcasting."""
    first = types[0]
    if types == (first,) * len(types):
        return first
    dtype, shape = same_dtype(name, *types), broadcast_shape(name, *types)
    return first if first.shape == shape else TensorType(dtype, shape)


def broadcast_shape(name: str, *types: TensorType) -> Shape:
    """The broadcast shape; `None` where some rank is unknown.

    Raises:
        ShapeError: two numbers along one axis differ and neither is 1.
    """
    result: tuple[Dimension, ...] = ()
    for t in types:
        if t.shape is None:
            return None
    for t in types:
        shape = t.shape or ()
        if not result or not shape:
            result = result or shape
        elif shape != result or None in shape:
            pairs = zip_longest(reversed(result), reversed(shape), fillvalue=1)
            result = tuple([_broadcast_dims(name, types, a, b) for a, b in pairs])[::-1]
    return result


def _broadcast_dims(
    name: str, types: Sequence[TensorType], a: Dimension, b: Dimension
) -> Dimension:
    if a == 1 or (a == b and a is not None):
        return b
    if b == 1:
        return a
    if isinstance(a, int) and isinstance(b, int):
        listed = " and ".join(map(str, types))
        raise ShapeError(f"{name}: shapes do not broadcast: {listed}, where {a} meets {b}")
    if isinstance(a, int):
        return a
    return b if isinstance(b, int) else None


def meet_dims(name: str, a: Dimension, b: Dimension, what: str) -> Dimension:
    """Combine what `a` and `b` say of one dimension: a number, else a symbol, else `None`.

    Raises:
        ShapeError: two different numbers; `what` says of what, as in "x is f32[2] and w is f32[3]".
    """
    if isinstance(a, int) and isinstance(b, int) and a != b:
        raise ShapeError(f"{name}: {what}, so {a} meets {b}")
    if isinstance(a, int) or b is None:
        return a
    return b if isinstance(b, int) or a is None else a


def meet_types(name: str, known: TensorType, other: TensorType) -> TensorType:
    """Combine the shapes of two types of one tensor; the dtype is that of `known`."""
    if known.shape is None or other.shape is None:
        return TensorType(known.dtype, other.shape if known.shape is None else known.shape)
    what = f"shapes differ: {known} and {other}"
    if len(known.shape) != len(other.shape):
        raise ShapeError(f"{name}: {what}, of rank {known.rank} and {other.rank}")
    pairs = zip(known.shape, other.shape, strict=True)
    return TensorType(known.dtype, tuple(meet_dims(name, a, b, what) for a, b in pairs))


def normal_axis(name: str, axis: int, rank: int) -> int:
    """`axis` counted from the front.

    Raises:
        ShapeError: there is no such axis.
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"{name}: axis {axis} is out of range for rank {rank}")
    return axis % rank


def given_axis(name: str, axis: int, x: Value) -> int:
    """`axis` counted from the front, if the rank of x is known yet.

    Raises:
        ShapeError: x has no such axis.
    """
    return axis if x.type.rank is None else normal_axis(name, axis, x.type.rank)


def normal_axes(name: str, axes: int | Iterable[int] | None, rank: int) -> tuple[int, ...]:
    """Axes counted from the front, ascending; `None` means all of them.

    Raises:
        ShapeError: there is no such axis, or one is named twice.
    """
    if axes is None:
        return tuple(range(rank))
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    normal = tuple(sorted(normal_axis(name, a, rank) for a in given))
    if len(set(normal)) != len(normal):
        raise ShapeError(f"{name}: axes {given} name one axis twice at rank {rank}")
    return normal


def given_axes(name: str, axes: int | Iterable[int], x: Value) -> tuple[int, ...]:
    """Axes counted from the front, ascending, if the rank of x is known yet.

    Raises:
        ShapeError: x has no such axis, or one is named twice.
    """
    if x.type.shape is not None:
        return normal_axes(name, axes, len(x.type.shape))
    return (axes,) if isinstance(axes, int) else tuple(axes)


def same_shape(a: TensorType, b: TensorType) -> bool:
    """Whether both have the same shape for all values of their symbols."""
    return a.shape is not None and a.shape == b.shape and None not in a.shape
