"""Divides the rounds of a shared loop among the members of a team.

Members take rounds in turn, so that members are neighbours; or four rounds at a time where these
are four neighbours in memory that begin at a multiple of four: a thread reads them as one vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from byparts_gpu_ir.mapping.independence import stores_with_paths
from byparts_gpu_ir.mapping.phases import Shared
from byparts_gpu_ir.mapping.traffic import Access, accesses
from byparts_tensor_ir.access import flat_index
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.statement import Statement, Store

_VECTOR_BYTES, _MOST_LANES = 16, 4
_UNROLLED = 8  # rounds


@dataclass(frozen=True)
class Share:
    """The rounds of one member; equal where the same member has the same rounds.

    Attributes:
        extents: of the loops that are shared, as one.
        size: of the team.
        lanes: rounds that a member takes at a time.
    """

    extents: tuple[int, ...]
    size: int
    lanes: int = 1

    @property
    def vectors(self) -> int:
        """The number of vectors, of `lanes` rounds each, that all members have together."""
        return prod(self.extents) // self.lanes

    @property
    def rounds(self) -> int:
        """The greatest number of vectors that a member takes."""
        return -(-self.vectors // self.size)

    @property
    def even(self) -> bool:
        """Whether all members take equally many."""
        return self.vectors % self.size == 0

    @property
    def elements(self) -> int:
        """Rounds of a member, at most."""
        return self.rounds * self.lanes

    @property
    def kind(self) -> str:
        """The kind of a member's loop: unrolled if it is short."""
        return "unroll" if self.rounds <= _UNROLLED else "serial"

    def indices(self, vector: Expr, lane: Expr) -> list[Expr]:
        """The value of each loop's variable, counted from 0, in a lane of a vector."""
        inner = [*self.extents[:-1], self.extents[-1] // self.lanes]
        values = []
        for n in reversed(inner[1:]):
            values.append(vector % n)
            vector = vector // n
        values.append(vector)
        values[0] = values[0] * self.lanes + lane
        return values[::-1]


def shares_of(phases: Iterable[Shared], size: int) -> dict[Shared, Share]:
    """Divide shared phases among `size` members; equal extents are divided alike."""
    phases = list(phases)
    lanes: dict[tuple[int, ...], int] = {}
    for p in phases:
        own = vector_lanes(p.loops[-1].var, p.body)
        if own:
            lanes[p.extents] = min(lanes.get(p.extents, own), own)
    return {p: Share(p.extents, size, lanes.get(p.extents, 1)) for p in phases}


def vector_lanes(var: Expr, body: Sequence[Statement]) -> int:
    """The number of rounds of a loop over `var` that touch a vector in memory together.

    1 if they are none; 0 if only memory of the row is touched, for which nothing matters.
    """
    touched = [a for s, _ in stores_with_paths(body) for a in accesses(s)]
    outside = [a for a in touched if a.buffer.scope == "global"]
    strides = {a.stride(var) for a in outside}
    if not strides - {0} and all(isinstance(s, Store) for s in body):
        return 0
    if not all(isinstance(s, Store) for s in body) or var.attr.low or not strides <= {0, 1}:
        return 1
    widest = max(BYTES[a.buffer.dtype] for a in outside if a.stride(var) == 1)
    lanes = min(_MOST_LANES, _VECTOR_BYTES // widest)
    while lanes > 1 and not _whole(lanes, var, outside):
        lanes //= 2
    return lanes


def _whole(lanes: int, var: Expr, touched: Sequence[Access]) -> bool:
    """Whether vectors begin at multiples of their lanes, and fill the loop."""
    if var.attr.extent.op != "const" or var.attr.extent.attr % lanes:
        return False
    for a in touched:
        if a.stride(var) == 1:
            coefficients, constant = terms(flat_index(a.buffer, a.at) - var)
            if any(c % lanes for c in (*coefficients.values(), constant)):
                return False
    return True
