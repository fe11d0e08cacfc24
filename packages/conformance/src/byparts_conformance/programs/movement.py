"""Makers of nodes that move elements: shapes, slices, joins, indices that are computed."""

from __future__ import annotations

from typing import Optional

import numpy as np

import byparts_opset as ops
from byparts_conformance.programs.elementwise import as_dtype
from byparts_conformance.programs.growing import Growing, Maker, is_integer, is_number
from byparts_graph_ir import TensorType, Value


def reshape(g: Growing) -> None:
    """Other dimensions of the same elements."""
    x = g.value()
    if x is None:
        return
    dims = x.type.dims
    if g.chance(0.1):
        g.add(lambda: ops.flatten(x))
        return
    shapes = [(x.type.size,), (1, *dims), (*dims, 1), dims[::-1], (*dims[:-2], -1)]
    if len(dims) > 1:
        shapes += [(dims[0] * dims[1], *dims[2:]), (-1, dims[-1])]
    shape = g.any_of(shapes)
    g.add(lambda: ops.reshape(x, shape))


def expand(g: Growing) -> None:
    """Axes of size 1, added or taken away."""
    x = g.value(lambda v: len(v.type.dims) < 4)
    if x is not None:
        at = g.random.randrange(len(x.type.dims) + 1)
        g.add(lambda: ops.squeeze(x) if g.chance(0.3) else ops.expand_dims(x, at))


def transpose(g: Growing) -> None:
    """Axes in another order."""
    x = g.value(lambda v: len(v.type.dims) > 1)
    if x is not None:
        order = list(range(len(x.type.dims)))
        g.random.shuffle(order)
        g.add(lambda: ops.transpose(x, tuple(order)))


def broadcast(g: Growing) -> None:
    """Repeated along axes of size 1, or along a new one."""
    x = g.value(lambda v: len(v.type.dims) < 4)
    if x is not None:
        dims = [g.any_of(g.sizes) if d == 1 and g.chance(0.7) else d for d in x.type.dims]
        lead = [g.any_of(g.sizes)] if g.chance(0.4) else []
        g.add(lambda: ops.broadcast_to(x, (*lead, *dims)))


def cut(g: Growing) -> None:
    """A slice along each axis, by steps and backwards now and then."""
    x = g.value(lambda v: len(v.type.dims) > 0)
    if x is None:
        return
    index: list[slice | int] = []
    for d in x.type.dims:
        a, b = sorted([g.random.randrange(d + 1), g.random.randrange(d + 1)])
        plain = slice(a, b) if b > a or g.chance(0.1) else slice(None)
        index.append(g.any_of((slice(None), plain, plain, slice(None, None, 2))))
    if x.type.dims[0] and g.chance(0.25):
        index[0] = g.random.randrange(x.type.dims[0])
    g.add(lambda: ops.getitem(x, tuple(index)))


def reverse(g: Growing) -> None:
    """Backwards along an axis, or several copies."""
    x = g.value(lambda v: len(v.type.dims) > 0)
    if x is not None:
        axis = g.random.randrange(len(x.type.dims))
        repeats = tuple([g.any_of((1, 1, 2, 3)) for _ in x.type.dims])
        g.add(lambda: ops.reverse(x, (axis,)) if g.chance(0.6) else ops.tile(x, repeats))


def pad(g: Growing) -> None:
    """More elements at the ends."""
    x = g.value(lambda v: len(v.type.dims) > 0)
    if x is not None:
        pairs = [(g.random.randrange(3), g.random.randrange(3)) for _ in x.type.dims]
        mode, value = g.any_of(("constant", "constant", "reflect")), g.number(x.type.dtype)
        if mode == "constant":
            g.add(lambda: ops.pad(x, pairs, value))
        else:
            g.add(lambda: ops.pad(x, pairs, mode=mode))


def join(g: Growing) -> None:
    """Two values or three, one behind the other."""
    x = g.value(lambda v: len(v.type.dims) > 0)
    if x is None:
        return
    axis = g.random.randrange(len(x.type.dims))

    def alike(v: Value) -> bool:
        a, b = list(x.type.dims), list(v.type.dims)
        if v.type.dtype != x.type.dtype or len(a) != len(b):
            return False
        return a[:axis] + a[axis + 1 :] == b[:axis] + b[axis + 1 :]

    others = [g.value_or(x, alike) for _ in range(g.any_of((1, 1, 2)))]
    if all(v.type == x.type for v in others) and g.chance(0.2):
        g.add(lambda: ops.stack((x, *others), axis))
    else:
        g.add(lambda: ops.concat((x, *others), axis))


def split(g: Growing) -> None:
    """Two parts, both kept."""
    x = g.value(lambda v: any(d > 1 for d in v.type.dims))
    if x is not None:
        axis = g.any_of([a for a, d in enumerate(x.type.dims) if d > 1])
        first = g.random.randrange(x.type.dims[axis] + 1)
        g.add(lambda: ops.split(x, (first, x.type.dims[axis] - first), axis))


def own_part(g: Growing) -> None:
    """A value with a row of its own: whoever writes the result over the value changes the row."""
    x = g.value(lambda v: is_number(v) and len(v.type.dims) > 0 and v.type.dims[0] > 1)
    if x is None:
        return
    moved = g.add(lambda: ops.add(x, g.constant(x.type.dtype)))
    if moved is not None:
        at = g.random.randrange(x.type.dims[0])
        row = g.add(lambda: ops.getitem(moved, slice(at, at + 1)))
        if row is not None:
            pair = g.any_of(((moved, row), (row, moved)))
            g.add(lambda: g.any_of((ops.sub, ops.maximum, ops.mul))(*pair))


def indices(g: Growing, n: int, shape: tuple[int, ...] | None = None) -> Optional[Value]:
    """Integers from 0 to n - 1, of one or more dimensions: a new input, or computed."""
    if g.chance(0.15):
        return _given_indices(g, n, shape or (g.any_of(g.sizes),))
    if shape is not None or g.chance(0.3):
        size = shape if shape is not None else (g.any_of(g.sizes),)
        drawn = np.random.default_rng(g.random.getrandbits(32)).integers(0, n, size)
        x: Optional[Value] = ops.constant(drawn.astype(g.any_of(("int64", "int32"))))
        if g.chance(0.5):
            x = g.input("i64", size)
    else:
        x = g.value(lambda v: is_integer(v) and len(v.type.dims) in (1, 2) and v.type.size < 500)
    if x is None:
        return None
    if x.type.dtype not in ("i32", "i64"):
        x = as_dtype(g, x, g.any_of(("i32", "i64")))
    if x is not None and g.chance(0.4):  # as a flat index is computed
        scaled = ops.add(ops.mul(x, 3), 1)
        squared = ops.mul(scaled, x)
        x = g.add(lambda: squared if g.chance(0.3) else scaled)
    if x is None:
        return None
    known = x
    return g.add(lambda: ops.mod(known, ops.fill(n, known.type.dtype)))


def _given_indices(g: Growing, n: int, shape: tuple[int, ...]) -> Value:
    """A new input that holds indices as they are."""
    x = g.input(g.any_of(("i64", "i32")), shape)
    dice = np.random.default_rng(g.random.getrandbits(32))
    g.known[x] = np.asarray(dice.integers(0, n, shape).astype(g.known[x].dtype))
    return x


def gather(g: Growing) -> None:
    """Slices picked by computed indices."""
    x = g.value(lambda v: len(v.type.dims) > 0 and v.type.size > 0)
    if x is None:
        return
    axis = g.random.randrange(len(x.type.dims))
    at = indices(g, x.type.dims[axis])
    if at is not None:
        g.add(lambda: ops.gather(x, at, axis))


def scatter(g: Growing) -> None:
    """Slices put in the place of others, or added: indices occur twice."""
    x = g.value(lambda v: len(v.type.dims) > 0 and 0 < v.type.size < 3000)
    if x is None:
        return
    axis = g.random.randrange(len(x.type.dims))
    k = g.any_of((1, 2, 3, 5))
    at = indices(g, x.type.dims[axis], (k,))
    dims = (*x.type.dims[:axis], k, *x.type.dims[axis + 1 :])
    kind = TensorType(x.type.dtype, dims)
    updates = g.value(lambda v: v.type == kind)
    if updates is None:
        updates = g.input(x.type.dtype, dims)
    if at is None:
        return
    known = updates
    if g.chance(0.5) and x.type.dtype != "bool":
        g.add(lambda: ops.scatter_add(at, known, x, axis))
    else:
        g.add(lambda: ops.scatter(x, at, known, axis))


def one_hot(g: Growing) -> None:
    """Rows of one element, of indices that may lie outside."""
    x = g.value(lambda v: v.type.dtype in ("i32", "i64") and 0 < v.type.size < 300)
    if x is not None and len(x.type.dims) < 4:
        depth, dtype = g.any_of((1, 3, 7, 16)), g.any_of(g.dtypes)
        g.add(lambda: ops.one_hot(x, depth, dtype))


def made_of_nothing(g: Growing) -> None:
    """A range, a unit matrix, zeros like another value."""
    n, dtype = g.any_of(g.sizes), g.any_of(g.dtypes)
    step, start = g.any_of((1, 2, -1)), g.random.randrange(4)
    stop = start + step * min(n, 6 if dtype in ("i4", "bool") else 100)
    x = g.value()
    forms = [lambda: ops.arange(start, stop, step, dtype), lambda: ops.eye(n, n + 1, dtype)]
    if x is not None:
        forms += [lambda: ops.ones_like(x), lambda: ops.zeros_like(x)]
    g.add(g.any_of(forms))


MAKERS: tuple[Maker, ...] = (
    *(reshape,) * 2,
    expand,
    *(transpose,) * 2,
    *(broadcast,) * 2,
    *(cut,) * 3,
    reverse,
    pad,
    *(own_part,) * 2,
)
MAKERS += (*(join,) * 2, split, *(gather,) * 2, scatter, one_hot, made_of_nothing)
SMOOTH = (reshape, transpose, broadcast, cut, join, gather)
