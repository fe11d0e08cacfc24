"""The iteration space of a region: rows times columns, and how each value lies in it.

    F  full       one element for each row and column       x[r * C + j]
    R  by row     what a reduction of rows makes            x[r]
    C  by column  what is broadcast to all rows, as a bias  x[j]
    S  single     one number for all                        x[0]

A value's letter depends on its dimensions and those of the space alone, so that regions can be
joined without a look at their nodes.  What is reduced to C or S is known after the last row only:
no node of the same region may read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from acme_byparts_c.expressions import EXPRESSIONS, REDUCTIONS
from byparts_graph_ir import Node, Refused, Region

Dims = tuple[int, ...]
MOST_NODES = 64


@dataclass(frozen=True)
class Space:
    """Dimensions of the largest values; `plain`: all values have these, or are one number."""

    dims: Dims
    plain: bool = False

    @property
    def rows(self) -> int:
        """The elements of all axes but the last."""
        return prod(self.dims[:-1])

    @property
    def cols(self) -> int:
        """The size of the last axis."""
        return self.dims[-1]

    def letter(self, dims: Dims) -> str:
        """How a value of these dimensions lies in the space; "" if it does not."""
        made_by_reduction = dims == self.dims[:-1]  # of rows, without keepdims
        return self.broadcast(dims) or ("R" if made_by_reduction else "")

    def broadcast(self, dims: Dims) -> str:
        """The same by NumPy's rule: as an elementwise op reads it."""
        aligned = (1,) * (len(self.dims) - len(dims)) + dims
        if aligned == self.dims:
            return "F"
        if prod(dims) == 1:
            return "R" if self.rows == 1 else "S"
        if aligned == (*self.dims[:-1], 1):
            return "R"
        return "C" if aligned == (1,) * (len(self.dims) - 1) + self.dims[-1:] else ""

    def check(self, node: Node) -> None:
        """Raises Refused unless the node can be computed row by row in this space."""
        dims = [v.type.dims for v in node.inputs]
        to = node.outputs[0].type.dims
        made = self.letter(to)
        if type(node.op) in REDUCTIONS:
            right = dims[0] == self.dims and self._reduces(node, made)
        elif made == "F":
            right = all(map(self.broadcast, dims))
        else:
            right = made == "R" and all(d == to or prod(d) == 1 for d in dims)
        if not right:
            types = ", ".join(str(v.type) for v in node.inputs)
            raise Refused(f"{node.op.name} of {types} does not go by rows of {list(self.dims)}")

    def _reduces(self, node: Node, made: str) -> bool:
        """Whether it is a reduction of each row, of each column, or of all."""
        rank, axes = len(self.dims), node.op.axes  # type: ignore[attr-defined]  # all have them
        gone = set(range(rank)) if axes is None else {a % rank for a in axes}
        wide = {i for i, size in enumerate(self.dims) if size > 1}
        last = {rank - 1} & wide
        left = {"R": wide - last, "C": last, "S": set[int]()}
        return made in left and bool(wide & gone) and wide - gone == left[made]


def space_of(node: Node) -> Space:
    """The space of one node."""
    values = node.inputs if type(node.op) in REDUCTIONS else node.outputs
    dims = values[0].type.dims or (1,)
    sizes = [v.type for v in (*node.inputs, *node.outputs)]
    plain = type(node.op) not in REDUCTIONS
    return Space(dims, plain and all(t.dims == values[0].type.dims or t.size == 1 for t in sizes))


def wants(node: Node) -> bool:
    """Whether the node can be in a region; views need no step at all, so they stay."""
    if type(node.op) not in EXPRESSIONS and type(node.op) not in REDUCTIONS:
        return False
    types = [v.type for v in (*node.inputs, *node.outputs)]
    if type(node.op) in REDUCTIONS and types[0].dtype != "f32":
        return False
    if EXPRESSIONS.get(type(node.op)) == "{0}" and types[0].size == types[1].size:
        return False
    if not all(t.static and t.size and t.dtype in ("f32", "bool") for t in types):
        return False
    try:
        space_of(node).check(node)
    except Refused:
        return False
    return True


def joins(a: Region, b: Region) -> Region | None:
    """Both as one, if they are rows of one space and `b` reads nothing that is known at the end."""
    if a.size + b.size > MOST_NODES:
        return None
    first, second = (r.summary or space_of(r.nodes[0]) for r in (a, b))
    small, large = sorted((first, second), key=lambda s: (prod(s.dims), len(s.dims)))
    if small.dims != large.dims and not (small.plain and large.letter(small.dims) == "R"):
        return None
    if first is small and prod(small.dims) == 1 < prod(large.dims):
        return None  # numbers for several regions, as corrected learning rates: one of their own
    if any(v in a.outputs and large.letter(v.type.dims) in ("C", "S") for v in b.inputs):
        return None
    plain = small.plain and large.plain and small.dims == large.dims
    return a.joined(b, Space(large.dims, plain))
