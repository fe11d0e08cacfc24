"""The axes of a whole region: which axes of its nodes are one, and in which order loops nest.

Axes of two nodes are one where one node makes, plainly, what the other reads plainly.  Then axes
are taken for one that need not be, so that loops are: where both read one value, or have equal
extents.  Two axes of one node stay two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from byparts_graph_ir import Node, Refused, Value
from byparts_op_loops.extents import Extent, extents, likely_size
from byparts_op_loops.movement import At, Place
from byparts_op_loops.regions.axes import (
    Part,
    composed,
    is_plain,
    long_dims,
    parts_of,
    spans,
)

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """The axes of a region.

    Attributes:
        dims: extents of the axes, outer loops first.
        parts: of each node, on these axes.
        shape: value -> its dimensions; those that always go together are one.
        moved: values that are computed where others read them, at another place than their own.
        put_together: values that are written in parts.
    """

    dims: tuple[Extent, ...]
    parts: Mapping[Node, Sequence[Part]]
    shape: Mapping[Value, tuple[Extent, ...]]
    moved: frozenset[Value]
    put_together: frozenset[Value]

    def is_plain(self, v: Value, place: Place) -> bool:
        """Whether the indices of v are axes, each over its whole dimension."""
        ends = zip(place, self.shape[v], strict=True)
        return all(spans(at, self.dims, n) for at, n in ends)


class _Classes:
    """Axes of nodes that are taken for one (union-find); those of one node never are."""

    def __init__(self, dims: Mapping[Node, Sequence[Extent]]) -> None:
        self.first: dict[Node, int] = {}
        self.extents: list[Extent] = []
        self.nodes: list[set[Node]] = []
        for n, own in dims.items():
            self.first[n] = len(self.extents)
            self.extents += own
            self.nodes += [{n} for _ in own]
        self.parent = list(range(len(self.extents)))

    def of(self, node: Node, axis: int) -> int:
        i = self.first[node] + axis
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, a: tuple[Node, int], b: tuple[Node, int]) -> bool:
        """Whether both are one now."""
        i, j = self.of(*a), self.of(*b)
        if i == j:
            return True
        if len(self.nodes[i]) < len(self.nodes[j]):
            i, j = j, i
        if self.extents[i] != self.extents[j] or not self.nodes[i].isdisjoint(self.nodes[j]):
            return False
        self.parent[j] = i
        self.nodes[i] |= self.nodes[j]
        return True


def layout(nodes: Sequence[Node]) -> Layout:
    """The axes of a region of these nodes.  O(nodes) unions.

    Raises:
        Refused: they have no iteration space in common; what is written in parts is read.
    """
    both = {n: parts_of(n) for n in nodes}
    dims, parts = {n: d for n, (d, _) in both.items()}, {n: p for n, (_, p) in both.items()}
    makers = {v: n for n in nodes for v in n.outputs}
    plain = {v: parts[n][0].write for v, n in makers.items() if _is_plain(v, dims[n], parts[n])}
    classes = _Classes(dims)
    moved: set[Value] = set()
    readers: dict[Value, tuple[Node, Place]] = {}
    reads = [(n, n.inputs[i], place) for n in nodes for p in parts[n] for i, place in p.reads]
    for n, v, place in reads:
        if v not in makers:
            _join(classes, n, place, *readers.setdefault(v, (n, place)), needed=False)
        elif v not in plain:
            raise Refused(f"{makers[v].op.name} is written in parts and read")
        elif is_plain(v, place, dims[n]):
            _join(classes, n, place, makers[v], plain[v], needed=True)
        else:
            moved.add(v)
    like: dict[tuple[Extent, ...], Node] = {}
    for n in nodes:
        other = like.setdefault(dims[n], n)
        for axis in range(len(dims[n])):
            classes.join((n, axis), (other, axis))
    for n in reversed(nodes):
        if n.outputs[0] in moved:
            moved.update([v for v in n.inputs if v in makers])
    facts = frozenset(moved), frozenset([v for v in makers if v not in plain])
    return _merged(*_numbered(nodes, dims, parts, classes), *facts)


def _is_plain(v: Value, dims: tuple[Extent, ...], parts: Sequence[Part]) -> bool:
    return len(parts) == 1 and is_plain(v, parts[0].write, dims)


def _join(classes: _Classes, a: Node, here: Place, b: Node, there: Place, *, needed: bool) -> None:
    """Take the axes for one along which both go through a value."""
    for x, y in zip(here, there, strict=True):
        if len(x.steps) != 1 or len(y.steps) != 1:
            continue
        done = classes.join((a, x.steps[0][0]), (b, y.steps[0][0]))
        if needed and not done:
            raise Refused("the values of the region have no iteration space in common")


def _numbered(
    nodes: Sequence[Node],
    dims: Mapping[Node, tuple[Extent, ...]],
    parts: Mapping[Node, list[Part]],
    classes: _Classes,
) -> tuple[tuple[Extent, ...], dict[Node, list[Part]]]:
    """Extents of the axes, and the parts on them.

    The order of the axes is that of the node that has most, then of the others.
    """
    order: list[int] = []
    for n in sorted(nodes, key=lambda n: (-len(dims[n]), -likely_size(extents(n.outputs[0].type)))):
        mine = [classes.of(n, a) for a in range(len(dims[n]))]
        for k, c in enumerate(mine):
            if c not in order:
                behind = [order.index(d) for d in mine[k + 1 :] if d in order]
                order.insert(min(behind, default=len(order)), c)
    place = {c: i for i, c in enumerate(order)}

    def index(n: Node) -> Callable[[int], At]:
        return lambda axis: At(0, ((place[classes.of(n, axis)], 1),))

    whole = {n: [p.on(index(n)) for p in parts[n]] for n in nodes}
    return tuple([classes.extents[c] for c in order]), whole


# -- axes that always go together -----------------------------------------------------------------


def _merged(
    dims: tuple[Extent, ...],
    parts: Mapping[Node, Sequence[Part]],
    moved: frozenset[Value],
    put_together: frozenset[Value],
) -> Layout:
    """The layout in which axes are one that all values have, side by side, or lack together."""
    places: dict[Value, list[Place]] = {}
    for n, ps in parts.items():
        for p in ps:
            for v, place in ((n.outputs[0], p.write), *[(n.inputs[i], r) for i, r in p.reads]):
                places.setdefault(v, []).append(place)
    together = _together(dims, places)
    number: list[int] = []
    sizes: list[Extent] = []
    for axis, extent in enumerate(dims):
        if axis and axis - 1 in together:
            sizes[-1] *= extent
        else:
            sizes.append(extent)
        number.append(len(sizes) - 1)

    def on_fewer(place: Place) -> Place:
        left = [at for at in place if not _continues(at, together)]
        return composed(tuple(left), lambda axis: At(0, ((number[axis], 1),)))

    fewer = {
        n: [Part(tuple([(i, on_fewer(r)) for i, r in p.reads]), on_fewer(p.write), p.value)
            for p in ps]
        for n, ps in parts.items()
    }  # fmt: skip
    shape = {}
    for v, own in places.items():
        ends: list[Extent] = []
        for at, extent in zip(own[0], long_dims(v.type), strict=True):
            if _continues(at, together):
                ends[-1] *= extent
            else:
                ends.append(extent)
        shape[v] = tuple(ends)
    return Layout(tuple(sizes), fewer, shape, moved, put_together)


def _continues(at: At, together: set[int]) -> bool:
    """Whether the dimension is one with that before."""
    return len(at.steps) == 1 and at.steps[0][0] - 1 in together


def _together(dims: tuple[Extent, ...], places: Mapping[Value, Sequence[Place]]) -> set[int]:
    """The axes that are one with the next axis."""
    together = set(range(len(dims) - 1))
    while True:
        before = len(together)
        for v, own in places.items():
            long = long_dims(v.type)
            pairs = [_pairs(dims, long, place) for place in own]
            for place, mine in zip(own, pairs, strict=True):
                used = {a for at in place for a, _ in at.steps}
                together -= {a for a in together if (a in used or a + 1 in used)
                             and a not in mine.values()}  # fmt: skip
                for other in pairs:  # one value has one shape
                    together -= {a for d, a in mine.items() if other.get(d) not in together}
        if len(together) == before:
            return together


def _pairs(dims: Sequence[Extent], long: Sequence[Extent], place: Place) -> dict[int, int]:
    """Dimension -> axis where that and the next are plainly an axis and the next."""
    whole = [
        at.steps[0][0] if spans(at, dims, n) else None for at, n in zip(place, long, strict=True)
    ]
    return {d: a for d, a in enumerate(whole[:-1]) if a is not None and whole[d + 1] == a + 1}
