"""Decides when two regions are joined: if their values lie on axes of one iteration space.

What one makes and the other reads moved, through a slice say, is computed where it is read, if it
is elementwise and nobody else reads it, and if that does not compute what is dear more than once.
A region knows where the values lie that it shares with others, so the question costs the same for
large regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from byparts_graph_ir import Node, Region, Value
from byparts_op_loops.elementwise import cost
from byparts_op_loops.extents import Extent, extents, likely_size
from byparts_op_loops.movement import At, Place, movement
from byparts_op_loops.reduction import reduction
from byparts_op_loops.regions.axes import composed, is_plain, parts_of

_CHEAP = 8  # additions an element; what costs no more is computed again where it is read moved


def joins(a: Region, b: Region, most_inputs: int = 16) -> Region | None:
    """Both regions as one, or `None` where they are better apart.

    A joint region has at most `most_inputs`: all of them are alive at once.
    """
    first, second = (r.summary or space_of(r.nodes[0]) for r in (a, b))
    shared = [v for v in b.inputs if v in a.outputs]
    region = a.joined(b)
    if len(region.inputs) > most_inputs or any(v not in second.places for v in shared):
        return None  # what only has its shape read need not be in the region that makes it
    if all(second.has_plain(v) for v in shared):
        both = joined(first, second, shared, [v for v in b.inputs if v in a.inputs])
    else:
        alone = len(a.outputs) == 1 and a.only_read_in(b, shared[0])
        both = inlined(first, second, shared[0]) if alone else None
    if both is None:
        return None
    return a.joined(b, both.within([*region.inputs, *region.outputs]))


@dataclass(frozen=True)
class Space:
    """An iteration space, and where values lie in it.

    Attributes:
        dims: extents of the axes, none of them 1.
        places: value -> where it is read or written; more than one place where that is in parts.
        pointwise: whether an element of what is made needs one element of each value that is read,
            so that it may be computed wherever it is read.
        cost: of an element of what is made, in additions.
    """

    dims: tuple[Extent, ...]
    places: Mapping[Value, tuple[Place, ...]]
    pointwise: bool = False
    cost: int = 0

    def within(self, values: Iterable[Value]) -> Space:
        """The space with these values alone."""
        some = {v: self.places[v] for v in values if v in self.places}
        return Space(self.dims, some, self.pointwise, self.cost)

    def has_plain(self, v: Value) -> bool:
        """Whether v lies on axes, each over its whole dimension."""
        return all(is_plain(v, p, self.dims) for p in self.places[v])


def space_of(node: Node) -> Space:
    """The space of one node."""
    dims, parts = parts_of(node)
    places: dict[Value, tuple[Place, ...]] = {}
    for part in parts:
        for i, place in part.reads:
            _add(places, node.inputs[i], place)
        _add(places, node.outputs[0], part.write)
    alone = len(parts) == 1 and type(node.op) not in reduction
    pointwise = alone and is_plain(node.outputs[0], parts[0].write, dims)
    price = 0 if node.op in movement else cost(type(node.op))
    return Space(dims, places, pointwise, price)


def _add(places: dict[Value, tuple[Place, ...]], v: Value, place: Place) -> None:
    known = places.get(v, ())
    if place not in known:
        places[v] = (*known, place)


def joined(a: Space, b: Space, shared: Sequence[Value], both_read: Iterable[Value]) -> Space | None:
    """Both spaces as one, or `None` where the values that they share lie otherwise.

    Either they are the same, or all axes of one are axes of a shared value, so that it lies inside
    of the other.  `shared` is what a makes and b reads, plainly; `both_read` what both read.
    O(places).
    """
    to_a: dict[int, int] = {}
    for v in shared:
        if not a.has_plain(v) or len(a.places[v]) + len(b.places[v]) > 2:
            return None
        if not _match(to_a, a, b, a.places[v][0], b.places[v][0]):
            return None
    for v in both_read:
        for x in a.places.get(v, ()):
            for y in b.places.get(v, ()):
                if not _match(to_a, a, b, x, y) and not shared:
                    return None
    facts = a.pointwise and b.pointwise, a.cost + b.cost
    if a.dims == b.dims and all(i == j for j, i in to_a.items()):
        return Space(a.dims, _union(a.places, b.places), *facts)
    to_b = {i: j for j, i in to_a.items()}
    for outer, inner, axes in ((a, b, to_a), (b, a, to_b)):
        if len(axes) == len(inner.dims):
            index = {j: At(0, ((i, 1),)) for j, i in axes.items()}
            moved = {
                v: tuple([composed(p, index.__getitem__) for p in places])
                for v, places in inner.places.items()
            }
            return Space(outer.dims, _union(outer.places, moved), *facts)
    return None


def inlined(a: Space, b: Space, v: Value) -> Space | None:
    """The space of b, which computes v where it reads it; `None` where that costs more.

    The region of a makes v alone, for that of b alone.
    """
    if not a.pointwise:
        return None
    reads = b.places[v]
    elements = sum([likely_size([b.dims[i] for at in p for i, _ in at.steps]) for p in reads])
    size = likely_size(extents(v.type))
    if elements > size and a.cost * elements > _CHEAP * size:
        return None
    (origin,) = a.places[v]
    all_places = {x: places for x, places in b.places.items() if x is not v}
    for place in reads:
        index = {at.steps[0][0]: to for at, to in zip(origin, place, strict=True)}
        for x, places in a.places.items():
            for p in places if x is not v else ():
                _add(all_places, x, composed(p, index.__getitem__))
    return Space(b.dims, all_places, b.pointwise, b.cost + a.cost * len(reads))


def _match(to_a: dict[int, int], a: Space, b: Space, x: Place, y: Place) -> bool:
    """Add the axes along which a value lies, at x in a, at y in b, to `to_a` (axis of b -> of a).

    Returns False where an axis would be two axes of the other space.
    """
    for here, there in zip(x, y, strict=True):
        if len(here.steps) != 1 or len(there.steps) != 1:
            continue
        (i, _), (j, _) = here.steps[0], there.steps[0]
        if a.dims[i] != b.dims[j]:
            continue
        if to_a.get(j, i) != i or (j not in to_a and i in to_a.values()):
            return False
        to_a[j] = i
    return True


def _union(
    a: Mapping[Value, tuple[Place, ...]], b: Mapping[Value, tuple[Place, ...]]
) -> dict[Value, tuple[Place, ...]]:
    union = dict(a)
    for v, places in b.items():
        for place in places:
            _add(union, v, place)
    return union
