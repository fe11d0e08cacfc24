"""Makers of nodes of the array API standard: orders, running products, bits and signs.

Running products are of numbers between -1 and 1, which no order of multiplication overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import byparts_opset as ops
from byparts_conformance.programs.elementwise import second
from byparts_conformance.programs.growing import Growing, Maker, is_float, is_integer, is_number
from byparts_conformance.programs.movement import indices
from byparts_graph_ir import Value


def _has_rows(x: Value) -> bool:
    return is_number(x) and len(x.type.dims) > 0 and 0 < x.type.size < 3000


def order(g: Growing) -> None:
    """The elements in order, or where they stand, which picks elements of another value."""
    x = g.value(_has_rows)
    if x is None:
        return
    axis, descending = g.random.randrange(len(x.type.dims)), g.chance(0.4)
    places = g.add(lambda: ops.argsort(x, axis, descending)) if g.chance(0.6) else None
    if places is None:
        g.add(lambda: ops.sort(x, axis, descending))
    elif g.chance(0.7):
        y = g.value_or(x, lambda v: v.type.shape == x.type.shape)
        g.add(lambda: ops.take_along_axis(y, places, axis))


def picked(g: Growing) -> None:
    """Elements picked along an axis, or added there, by any indices."""
    x = g.value(_has_rows)
    if x is None:
        return
    axis, dims = g.random.randrange(len(x.type.dims)), list(x.type.dims)
    n, dims[axis] = dims[axis], g.any_of((1, 2, 3, 5))
    at = indices(g, n, tuple(dims))
    if at is None:
        return
    if g.chance(0.6):
        g.add(lambda: ops.take_along_axis(x, at, axis))
    else:
        updates = g.input(x.type.dtype, tuple(dims))
        g.add(lambda: ops.add_along_axis(at, updates, x, axis))


def searched(g: Growing) -> None:
    """Where numbers belong among others."""
    x = g.value(_has_rows)
    if x is None:
        return
    row = g.add(lambda: ops.sort(ops.reshape(x, -1), 0))
    if row is not None:
        y = g.value_or(x, lambda v: v.type.dtype == x.type.dtype and v.type.size < 1000)
        g.add(lambda: ops.searchsorted(row, y, g.any_of(("left", "right"))))


def product(g: Growing) -> None:
    """Running products, and what is linear in the element before."""
    x = g.value(_has_rows)
    if x is None:
        return
    axis, flags = g.random.randrange(len(x.type.dims)), (g.chance(0.3), g.chance(0.3))
    small = g.add(lambda: ops.clip(x, -1, 1)) if is_float(x) else x
    if small is None:
        return
    ways: tuple[Callable[[], Value], ...] = (
        lambda: ops.cumprod(small, axis, *flags),
        lambda: ops.linear_recurrence(small, x, axis, *flags),
    )
    g.add(g.any_of(ways))


def bits(g: Growing) -> None:
    """Shifts by any number of bits."""
    x = g.value(is_integer)
    if x is not None:
        y = second(g, x)
        by = g.add(lambda: ops.mod(y, 9 if x.type.dtype != "i4" else 5)) if g.chance(0.6) else y
        if by is not None:
            g.add(partial(g.any_of((ops.shift_left, ops.shift_right)), x, by))


def signs(g: Growing) -> None:
    """Signs, that of zeros too, and the next number."""
    x = g.value(is_float)
    if x is not None:
        y = second(g, x)
        ways = (
            lambda: ops.copysign(x, y),
            lambda: ops.signbit(x),
            lambda: ops.nextafter(x, y),
        )
        g.add(g.any_of(ways))


def repeated(g: Growing) -> None:
    """Each slice some times, each as often, or not."""
    x = g.value(lambda v: 0 < len(v.type.dims) < 4 and v.type.size < 500)
    if x is not None:
        axis = g.random.randrange(len(x.type.dims))
        counts = [g.random.randrange(3) for _ in range(x.type.dims[axis])]
        repeats = g.any_of((2, 3)) if g.chance(0.6) else counts
        g.add(lambda: ops.repeat(x, repeats, axis))


MAKERS: tuple[Maker, ...] = (
    *(order,) * 3,
    *(picked,) * 2,
    searched,
    *(product,) * 2,
    *(bits,) * 2,
    *(signs,) * 2,
    repeated,
)
