"""Places of a node's values on the axes of its iteration space.

    mean(x, -1)      x: [i0, i1]       y: [i0]           in a space of (rows, columns)
    x - expand(y)    x: [i0, i1]       y: [i0]
    x[:, 4:]         x: [i0, i1 + 4]   result: [i0, i1]
    concat(x, y, 1)  x: [i0, i1]       y: [i0, i2]       result: [i0, i1] and [i0, i2 + 4]

Dimensions of size 1 are left out, so a shape of (5, 1, 3) is that of (5, 3): broadcasting,
reductions with and without `keepdims`, `expand_dims` and the like all say the same then.  A place
is plain if its indices are the axes themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Refused, ShapeError, TensorType, Value
from byparts_op_loops.elementwise import element, takes
from byparts_op_loops.extents import Extent, extents, has_elements, is_known
from byparts_op_loops.movement import At, Place, movement
from byparts_op_loops.reduction import reduction

CONSTANTS = (ops.Constant, ops.Fill)
RESHAPES = (ops.Reshape, ops.Flatten, ops.ExpandDims, ops.Squeeze)


@dataclass(frozen=True)
class Part:
    """The work of a node over some of its axes: elements that it reads, and where it writes.

    Attributes:
        reads: (number of the input, where it is read); none: a constant is written.
        write: where in the output.
        value: the constant.
    """

    reads: tuple[tuple[int, Place], ...]
    write: Place
    value: Union[int, float] = 0

    def on(self, axes: Callable[[int], At]) -> Part:
        """The part over other axes: `axes(a)` is the index that stands in place of its axis a."""
        reads = tuple([(i, composed(read, axes)) for i, read in self.reads])
        return Part(reads, composed(self.write, axes), self.value)


def composed(place: Place, axes: Callable[[int], At]) -> Place:
    """The place over other axes: `axes(a)` is the index that stands in place of its axis a."""
    out = []
    for offset, steps in place:
        sum, more = offset, []
        for axis, step in steps:
            to = axes(axis)
            sum += step * to.offset
            more += [(i, step * s) for i, s in to.steps]
        out.append(At(sum, tuple(more)))
    return tuple(out)


def is_plain(v: Value, place: Place, dims: Sequence[Extent]) -> bool:
    """Whether the indices of v are axes, each over its whole dimension."""
    return all(spans(at, dims, n) for at, n in zip(place, long_dims(v.type), strict=True))


def spans(at: At, dims: Sequence[Extent], extent: Extent) -> bool:
    """Whether an index is an axis of this extent itself."""
    return at.offset == 0 and [(s, dims[a]) for a, s in at.steps] == [(1, extent)]


def kinds() -> set[type[Op]]:
    """The ops that regions may have, on some dtypes."""
    return {*element, *reduction, *movement, ops.BroadcastTo} - {*CONSTANTS}


def wanted(node: Node) -> bool:
    """Whether a region should have the node: not one whose output is its input's bytes as it is."""
    return taken(node) and not _views(node)


def _views(node: Node) -> bool:
    """Whether the output is bytes of an input; with names some ops cannot tell, and say so."""
    try:
        return bool(node.op.views(*[v.type for v in node.inputs]))
    except ShapeError:
        return False


def taken(node: Node) -> bool:
    """Whether regions may have the node: its op, and dtypes that expressions have."""
    values = (*node.inputs, *node.outputs)
    if not all(is_known(v.type) and takes(v.type.dtype) for v in values):
        return False
    if not all(has_elements(v.type) for v in (node.outputs if node.op in movement else values)):
        return False
    kind = type(node.op)
    if kind in CONSTANTS:
        return False  # it is in place before the first run
    mine = kind in element or kind in reduction or kind is ops.BroadcastTo or node.op in movement
    return mine and (all(v.type.static for v in values) or _has_parts(node))


def _has_parts(node: Node) -> bool:
    """Whether a node of named dimensions has a place on axes, whatever the sizes are."""
    try:
        parts_of(node)
    except Refused:
        return False
    return True


# -- of one node ----------------------------------------------------------------------------------


def parts_of(node: Node) -> tuple[tuple[Extent, ...], list[Part]]:
    """Extents of the axes, and the parts, of a node that is `taken` or a reshape of ones.

    Raises:
        Refused: another reshape; or a named dimension may be 1 at one value and not at another.
    """
    (y,) = node.outputs
    if node.op in movement:
        return _moving_parts(node, y)
    if type(node.op) in reduction:
        (x,) = node.inputs
        dims, index = _numbered(extents(x.type))
        gone = reduced(node)
        kept = [at for i, at in enumerate(index) if i not in gone and at is not None]
        return dims, [Part(((0, _long(index)),), tuple(kept))]
    if type(node.op) in RESHAPES and not is_reshape_of_ones(node):
        raise Refused(f"{node.op.name} from {node.inputs[0].type} to {y.type} has no axes")
    dims, index = _numbered(whole := extents(y.type))
    reads = []
    for i, x in enumerate(node.inputs):
        aligned = index
        if type(node.op) not in RESHAPES:
            own, first = extents(x.type), len(whole) - len(extents(x.type))
            if any(n not in (1, end) for n, end in zip(own, whole[first:], strict=True)):
                raise Refused(f"{node.op.name} of {x.type} to {y.type}: broadcast if a name is 1")
            ends = zip(own, index[first:], strict=True)
            aligned = [None if n == 1 else at for n, at in ends]
        reads.append((i, _long(aligned)))
    return dims, [Part(tuple(reads), _long(index))]


def _moving_parts(node: Node, y: Value) -> tuple[tuple[Extent, ...], list[Part]]:
    """The axes and parts of an op that moves elements.

    Axes of two pieces are one axis if they have one position and one extent.
    """
    pieces = movement[node.op](node.op, *[v.type for v in node.inputs])
    pairs = {(d, n) for p in pieces for d, n in enumerate(p.dims) if n != 1}
    axes = sorted(pairs, key=_numbers_first)
    number = {key: i for i, key in enumerate(axes)}
    parts = []
    for p in pieces:

        def on(axis: int, dims: Sequence[Extent] = p.dims) -> At:
            n = dims[axis]
            return At(0, () if n == 1 else ((number[axis, n], 1),))

        source = p.source
        reads = () if source is None else ((source, _of_long(p.read, node.inputs[source])),)
        parts.append(Part(reads, _of_long(p.write, y), p.value).on(on))
    return tuple([n for _, n in axes]), parts


def _numbers_first(axis: tuple[int, Extent]) -> tuple[int, bool, int]:
    """The key of the order of axes: by dimension, then by extent; names in order of creation."""
    d, n = axis
    return (d, False, n) if isinstance(n, int) else (d, True, n.serial)


def _of_long(place: Place, v: Value) -> Place:
    """The place without the indices of dimensions of size 1."""
    return tuple([at for at, n in zip(place, extents(v.type), strict=True) if n != 1])


def reduced(node: Node) -> set[int]:
    """The dimensions of the input that a reduction combines, counted from the front."""
    rank = len(extents(node.inputs[0].type))
    axes = node.op.axes  # type: ignore[attr-defined]  # a Reduction
    return set(range(rank)) if axes is None else {a % rank for a in axes}


def _numbered(dims: Sequence[Extent]) -> tuple[tuple[Extent, ...], list[At | None]]:
    """The dimensions that are not 1, and for each dimension its index by them."""
    index: list[At | None] = []
    kept: list[Extent] = []
    for n in dims:
        index.append(None if n == 1 else At(0, ((len(kept), 1),)))
        kept += [n] if n != 1 else []
    return tuple(kept), index


def _long(index: Sequence[At | None]) -> Place:
    """The indices of the dimensions that are not 1."""
    return tuple([at for at in index if at is not None])


def is_reshape_of_ones(node: Node) -> bool:
    """Whether a reshape only adds or drops dimensions of size 1."""
    if type(node.op) not in RESHAPES:
        return False
    x, y = node.inputs[0].type, node.outputs[0].type
    return is_known(x) and is_known(y) and long_dims(x) == long_dims(y)


def long_dims(t: TensorType) -> list[Extent]:
    """The dimensions that are not 1."""
    return [n for n in extents(t) if n != 1]
