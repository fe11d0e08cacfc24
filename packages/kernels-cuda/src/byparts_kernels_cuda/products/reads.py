"""Reads of an operand's elements into registers, 0 where there are none."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_kernels_cuda.builder import Builder, needed
from byparts_kernels_cuda.products.contraction import Index, Operand, moved
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.statement import Buffer

_KINDS = ("unroll", "vectorize")


def read(
    build: Builder,
    x: Operand,
    at: Index,
    into: tuple[Buffer, Index],
    lanes: int,
    guards: Sequence[Expr] = (),
    along: str = "",
) -> None:
    """Read neighbours.

    Args:
        build: where the statements go.
        x: the operand.
        at: (batch, outer, summed) of the first.
        into: registers, and their index but the last, which counts from 0.
        lanes: how many; one access where they are neighbours and `x.lanes` is a multiple.
        guards: what holds beside `x.inside` where there is an element.
        along: "sum" or "outer", of which index they are neighbours; as `x.along` if "".
    """
    (held, first), (b, i, r) = into, at
    along = along or x.along
    inside = needed([*x.inside(b, i, r), *guards])
    if inside:
        with build.unrolled(lane=lanes) as (lane,):
            build.store(held, (*first, lane), 0)
    neighbours = along == x.along and x.lanes % lanes == 0
    with build.when(*inside), build.loop("lane", lanes, _KINDS[neighbours]) as lane:
        if neighbours:
            index = moved(x.index(b, i, r), lane)
        else:
            index = x.index(b, i, r + lane) if along == "sum" else x.index(b, i + lane, r)
        build.store(held, (*first, lane), cast(x.buffer[index], held.dtype))


def limits(x: Operand, outer: Expr, tile: int) -> Sequence[Expr]:
    """Conditions for an outer index to be in the operand; none if the tiles divide it."""
    if x.sized is not None:
        return [outer < x.sized]
    return [outer < x.extent] if x.extent % tile else []
