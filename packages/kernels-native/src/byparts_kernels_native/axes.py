"""On which axes of a common iteration space each value of a region lies.

    mean(x, -1)      x: (0, 1)   y: (0,)         in a space of (rows, columns)
    x - expand(y)    y: (0,)     z: (0, 1)

Axes of size 1 are left out, so a shape of (5, 1, 3) is that of (5, 3): broadcasting, reductions
with and without `keepdims`, `expand_dims` and the like all say the same then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import byparts_opset as ops
from byparts_graph_ir import Node, TensorType, Value
from byparts_tensor_ir.lowering.elementwise import element, takes
from byparts_tensor_ir.lowering.reduction import reduction

Axes = tuple[int, ...]
CONSTANTS = (ops.Constant, ops.Fill)
_RESHAPES = (ops.Reshape, ops.Flatten, ops.ExpandDims, ops.Squeeze)


@dataclass(frozen=True)
class Space:
    """An iteration space, and where values lie in it.

    Attributes:
        dims: extents of the axes, none of them 1.
        axes: value -> the axes of its dimensions that are not 1, ascending.
    """

    dims: tuple[int, ...]
    axes: Mapping[Value, Axes]

    def within(self, values: Iterable[Value]) -> Space:
        """The space with these values alone."""
        return Space(self.dims, {v: self.axes[v] for v in values})


def wanted(node: Node) -> bool:
    """Whether the node is elementwise, a broadcast or a reduction on dtypes that C has."""
    values = (*node.inputs, *node.outputs)
    if not all(v.type.static and takes(v.type.dtype) and v.type.size for v in values):
        return False
    kind = type(node.op)
    if kind in CONSTANTS:
        return False  # it is in place before the first run
    if kind in element:
        return _of_one_kind(node)
    if kind in reduction:
        return node.inputs[0].type.dtype in ("f32", "f64", "bool", "i32", "i64")
    return kind is ops.BroadcastTo


def _of_one_kind(node: Node) -> bool:
    """Elementwise ops on integers that C rounds or divides otherwise are left to others."""
    dtypes = {v.type.dtype for v in node.inputs}
    return type(node.op) not in (ops.Div, ops.Pow) or dtypes <= {"f32", "f64"}


def space_of(node: Node) -> Space:
    """The space of one node that `wanted` admits, or of a reshape that only adds or drops 1s."""
    (y,) = node.outputs
    if type(node.op) in reduction:
        return _reduction_space(node, y)
    dims, of_output = _numbered(y.type.dims)
    axes = {y: tuple(a for a in of_output if a is not None)}
    for x in node.inputs:
        if type(node.op) in _RESHAPES:
            axes[x] = axes[y]
            continue
        aligned = of_output[len(of_output) - len(x.type.dims) :]
        placed = zip(x.type.dims, aligned, strict=True)
        axes[x] = tuple([a for n, a in placed if n != 1 and a is not None])
    return Space(dims, axes)


def _reduction_space(node: Node, y: Value) -> Space:
    (x,) = node.inputs
    dims, of_input = _numbered(x.type.dims)
    gone = reduced(node)
    kept = [a for i, a in enumerate(of_input) if i not in gone and a is not None]
    return Space(dims, {x: tuple(a for a in of_input if a is not None), y: tuple(kept)})


def reduced(node: Node) -> set[int]:
    """The dimensions of the input that a reduction combines, counted from the front."""
    rank = len(node.inputs[0].type.dims)
    axes = node.op.axes  # type: ignore[attr-defined]  # a Reduction
    return set(range(rank)) if axes is None else {a % rank for a in axes}


def _numbered(dims: Sequence[int]) -> tuple[tuple[int, ...], list[int | None]]:
    """The dimensions that are not 1, and for each dimension its number among them."""
    places: list[int | None] = []
    kept: list[int] = []
    for n in dims:
        places.append(None if n == 1 else len(kept))
        kept += [n] if n != 1 else []
    return tuple(kept), places


def is_reshape_of_ones(node: Node) -> bool:
    """Whether a reshape only adds or drops dimensions of size 1."""
    if type(node.op) not in _RESHAPES:
        return False
    x, y = node.inputs[0].type, node.outputs[0].type
    return x.static and y.static and _without_ones(x) == _without_ones(y)


def _without_ones(t: TensorType) -> list[int]:
    return [n for n in t.dims if n != 1]


def joined(a: Space, b: Space, shared: Iterable[Value]) -> Space | None:
    """Both spaces as one, or `None` where the values that they share lie otherwise.

    Either they are the same, or all axes of one are axes of a shared value, so that it lies inside
    of the other.
    """
    pairs = [(a.axes[v], b.axes[v]) for v in shared if v.type.size > 1]
    if a.dims == b.dims and all(x == y for x, y in pairs):
        return Space(a.dims, {**a.axes, **b.axes})
    to_a: dict[int, int] = {}
    for x, y in pairs:
        if len(x) != len(y):
            return None
        for i, j in zip(x, y, strict=True):
            if to_a.setdefault(j, i) != i:
                return None
    if len(set(to_a.values())) < len(to_a):
        return None
    if len(to_a) == len(b.dims):
        return _inside(a, b, to_a)
    if len(to_a) == len(a.dims):
        return _inside(b, a, {i: j for j, i in to_a.items()})
    return None


def _inside(outer: Space, inner: Space, places: Mapping[int, int]) -> Space | None:
    """The inner space's values on the axes of the outer one."""
    order = [places[i] for i in range(len(inner.dims))]
    if order != sorted(order) or any(
        outer.dims[p] != n for p, n in zip(order, inner.dims, strict=True)
    ):
        return None
    moved = {v: tuple([places[i] for i in axes]) for v, axes in inner.axes.items()}
    return Space(outer.dims, {**moved, **outer.axes})


def whole_space(nodes: Sequence[Node]) -> Space | None:
    """The space of all nodes of a region; `None` where they have none in common."""
    spaces = {n: space_of(n) for n in nodes}
    start = max(nodes, key=lambda n: (len(spaces[n].dims), n.outputs[0].type.size))
    space, waiting = spaces[start], [n for n in nodes if n is not start]
    while waiting:
        later = []
        for n in waiting:
            shared = [v for v in spaces[n].axes if v in space.axes]
            both = joined(space, spaces[n], shared) if shared else None
            if both is None:
                later.append(n)
            else:
                space = both
        if len(later) == len(waiting):
            return None
        waiting = later
    return space


def merged(space: Space) -> Space:
    """The space with axes joined that all values and all reductions have, or lack, together."""
    together = [True] * max(0, len(space.dims) - 1)
    for axes in space.axes.values():
        for i in range(len(together)):
            if (i in axes) != (i + 1 in axes):
                together[i] = False
    groups: list[list[int]] = [[0]] if space.dims else []
    for i, same in enumerate(together):
        if same:
            groups[-1].append(i + 1)
        else:
            groups.append([i + 1])
    number = {a: g for g, members in enumerate(groups) for a in members}
    dims = []
    for members in groups:
        n = 1
        for a in members:
            n *= space.dims[a]
        dims.append(n)
    places = {
        v: tuple(k for k, _ in groupby(number[a] for a in at)) for v, at in space.axes.items()
    }
    return Space(tuple(dims), places)
