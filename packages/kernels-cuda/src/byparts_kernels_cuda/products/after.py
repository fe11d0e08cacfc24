"""Elementwise operations on a contraction before it is written, which read other arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from byparts_graph_ir import TensorType
from byparts_kernels_cuda.builder import array
from byparts_kernels_cuda.products.contraction import Addend, Contraction, Index, decoded
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import Buffer


@dataclass(frozen=True)
class After:
    """Elementwise operations.

    Attributes:
        compute: (element, elements of the other arrays in its place) -> what is written; in the
            dtype of sums.
        types: of the other arrays, which broadcast to the result.
    """

    compute: Callable[..., Expr]
    types: tuple[TensorType, ...] = ()


def addends_of(after: After | None, y: TensorType, result: Buffer) -> tuple[Addend, ...]:
    """The other arrays, as they are read where y is `result`."""
    types = after.types if after is not None else ()
    return tuple([addend(f"E{k}", kind, y, result) for k, kind in enumerate(types)])


def followed(c: Contraction, after: After | None, more: tuple[Addend, ...]) -> Contraction:
    """The contraction with what is done after it, which reads `more`."""
    if after is None:
        return c
    own, first, compute = len(c.addends), c.finish, after.compute

    def finish(value: Expr, *elements: Expr) -> Expr:
        total = value if first is None else first(value, *elements[:own])
        return compute(total, *elements[own:])

    return replace(c, finish=finish, addends=(*c.addends, *more))


def addend(name: str, kind: TensorType, y: TensorType, result: Buffer) -> Addend:
    """An array as it is read where y, to which it broadcasts, is `result`.

    The last axis of `result` is the last one of y; or more, of which the array has none or all.
    """
    if kind.size == y.size:
        return Addend(array(name, _extents(result), kind.dtype), lambda at: at, True)
    groups = _groups(y.dims, _extents(result))

    def index(at: Index) -> Index:
        axes = [i for own, dims in zip(at, groups, strict=True) for i in decoded(own, dims)]
        axes = axes[len(axes) - len(kind.dims) :]
        return tuple([const(0) if d == 1 else i for i, d in zip(axes, kind.dims, strict=True)])

    moves = len(groups[-1]) == 1 and kind.dims[-1:] == y.dims[-1:]
    return Addend(array(name, kind.dims, kind.dtype), index, moves)


def _extents(b: Buffer) -> tuple[int, ...]:
    return tuple([int(d.attr) for d in b.shape])


def _groups(dims: Sequence[int], extents: Sequence[int]) -> list[tuple[int, ...]]:
    """The dimensions that each axis of these extents is made of."""
    groups, end = [], len(dims)
    for extent in reversed(extents):
        begin = end
        while prod(dims[begin:end]) != extent:
            begin -= 1
        groups.append(tuple(dims[begin:end]))
        end = begin
    groups[-1] = (*dims[:end], *groups[-1])  # of 1 element each
    return groups[::-1]
