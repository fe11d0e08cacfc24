"""Sizes, strides and padding along the axes of a window, as layers take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from byparts_graph_ir import ArgumentError, ShapeError, Value

Pair = tuple[int, int]
Sizes = Union[int, Sequence[int]]
Padding = Union[int, str, Sequence[Any]]


def sizes(what: str, given: Sizes, axes: int) -> tuple[int, ...]:
    """A number for each axis, of one number or as many.

    Raises:
        ArgumentError: another count.
    """
    numbers = (given,) * axes if isinstance(given, int) else tuple(given)
    if len(numbers) != axes:
        raise ArgumentError(f"{what}: {given!r:.60}; it takes a number, or {axes} of them")
    return numbers


def sides(what: str, given: Padding, axes: int) -> str | tuple[Pair, ...]:
    """(before, after) for each axis, of a number or one for each; "SAME" or "VALID" as it is."""
    if isinstance(given, str):
        return given
    each = (given,) * axes if isinstance(given, int) else tuple(given)
    if len(each) != axes:
        raise ArgumentError(f"{what}: padding {given!r:.60}; it takes a number, {axes}, or 'SAME'")
    return tuple([(p, p) if isinstance(p, int) else (p[0], p[1]) for p in each])


def side(given: str | tuple[Pair, ...], axis: int, extent: int, span: int, stride: int) -> Pair:
    """(before, after) along an axis of this extent, for windows that reach over `span` elements."""
    if given == "SAME":  # as many windows as strides begin in x; the odd one after
        more = max((-(-extent // stride) - 1) * stride + span - extent, 0)
        return more // 2, more - more // 2
    return (0, 0) if isinstance(given, str) else given[axis]


def inner(x: Value) -> tuple[int, ...]:
    """The sizes of x but the first, which may differ from call to call.

    Raises:
        ShapeError: one of them may, too.
    """
    numbers = tuple([d for d in (x.type.shape or ())[1:] if isinstance(d, int)])
    if len(numbers) != len(x.type.shape or ()) - 1:
        raise ShapeError(f"windows: the sizes of {x.type} but the first must be numbers")
    return numbers


def span(size: int, dilation: int) -> int:
    """Number of elements that a window of `size` reaches over."""
    return (size - 1) * dilation + 1


def without(given: str | tuple[Pair, ...], axis: int) -> Any:
    """The padding of the other axes."""
    return given if isinstance(given, str) else given[:axis] + given[axis + 1 :]
