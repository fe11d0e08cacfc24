"""Ops that only move elements: which boxes of the inputs are which boxes of the output.

    y = x[:, 4:]          y[i, j] = x[i, j + 4]
    y = concat(a, b)      y[i, j] = a[i, j], and y[i, j + 4] = b[i, j]
    y = pad(x, (0, 1))    y[i, j] = x[i, j], and y[i, 4] = 0

A piece has axes of its own, and an index of each dimension is a sum over them.  The pieces of an op
cover its output, each element once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any, NamedTuple, Union

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Refused, Table, TensorType
from byparts_op_loops.extents import Extent, extents


class At(NamedTuple):
    """The index of one dimension: offset + the sum of step * axis over (axis, step) in `steps`."""

    offset: Extent = 0
    steps: tuple[tuple[int, Extent], ...] = ()


Place = tuple[At, ...]  # one for each dimension


@dataclass(frozen=True)
class Piece:
    """A box of elements.

    Attributes:
        dims: extents of its axes.
        write: where they are in the output.
        read: where they are in the input.
        source: the number of the input; `None`: they all are `value`.
        value: see `source`.
    """

    dims: tuple[Extent, ...]
    write: Place
    read: Place = ()
    source: int | None = 0
    value: Union[int, float] = 0


Rule = Callable[..., list[Piece]]
# op -> rule(op, *types of inputs); types may have names, and a rule may raise Refused then
movement: Table[Rule] = Table("movement")


class _Indices(NamedTuple):
    """The indices start, start + step, ..., `length` of them, along one dimension."""

    start: Extent
    step: int
    length: Extent

    @property
    def low(self) -> Extent:
        """The least of them; 0 if there are none."""
        if self.step > 0 or self.length == 0:
            return self.start if self.length != 0 else 0
        return self.start + (self.length - 1) * self.step

    @property
    def high(self) -> Extent:
        """Upper end of the indices, exclusive; 0 if there are none."""
        if self.step < 0 or self.length == 0:
            return self.start + 1 if self.length != 0 else 0
        return self.start + (self.length - 1) * self.step + 1


def plain(rank: int) -> Place:
    """The axes themselves."""
    return tuple([At(0, ((d, 1),)) for d in range(rank)])


@movement.on(ops.Slice)
def _slice(op: ops.Slice, x: TensorType) -> list[Piece]:
    taken = _ranges(op, x)
    dims = _counts(taken)
    return [Piece(dims, plain(len(dims)), _in_ranges(taken))]


@movement.on(ops.SliceGradient)
def _slice_gradient(op: ops.SliceGradient, dy: TensorType, like: TensorType) -> list[Piece]:
    return _amid(_ranges(op, like), extents(like), 0)


@movement.on(ops.Pad)
def _pad(op: ops.Pad, x: TensorType) -> list[Piece]:
    if op.mode != "constant":
        return _repeated(op, x)
    padded = [(n, *pair) for n, pair in zip(extents(x), op.paddings, strict=True)]
    taken = [_Indices(low, 1, n) for n, low, _ in padded]
    return _amid(taken, [low + n + high for n, low, high in padded], op.value)


def _repeated(op: ops.Pad, x: TensorType) -> list[Piece]:
    """Padding by elements of x: along each dimension, runs of its indices."""
    mode: Any = op.mode  # a name that NumPy has, too
    padded = [np.pad(np.arange(n), p, mode) for n, p in zip(x.dims, op.paddings, strict=True)]
    pieces = []
    for box in product(*[_runs(indices.tolist()) for indices in padded]):
        write = tuple([At(run.place, ((d, 1),)) for d, run in enumerate(box)])
        steps = [((d, run.step),) if run.step else () for d, run in enumerate(box)]
        read = tuple([At(run.begin, step) for run, step in zip(box, steps, strict=True)])
        pieces.append(Piece(tuple([run.length for run in box]), write, read))
    return pieces


class _Run(NamedTuple):
    """Indices from `place` on: begin, begin + step, ..., `length` of them."""

    place: int
    begin: int
    length: int
    step: int


def _runs(indices: Sequence[int]) -> list[_Run]:
    runs: list[_Run] = []
    for place, index in enumerate(indices):
        last = runs[-1] if runs else _Run(0, 0, 0, 0)
        step = index - (last.begin + (last.length - 1) * last.step)
        if last.length and abs(step) <= 1 and (last.length == 1 or step == last.step):
            runs[-1] = last._replace(length=last.length + 1, step=step)
        else:
            runs.append(_Run(place, index, 1, 1))
    return runs


@movement.on(ops.Concat)
def _concat(op: ops.Concat, *xs: TensorType) -> list[Piece]:
    dims = [extents(x) for x in xs]
    rank = len(dims[0])
    axis = op.axis % rank
    whole, pieces = plain(rank), []
    starts: list[Extent] = [0, *accumulate([own[axis] for own in dims])]
    for k, own in enumerate(dims):
        if any(n != m for a, (n, m) in enumerate(zip(own, dims[0], strict=True)) if a != axis):
            raise Refused(f"concat of {', '.join(map(str, xs))}: not equal whatever the names are")
        write = (*whole[:axis], At(starts[k], ((axis, 1),)), *whole[axis + 1 :])
        pieces.append(Piece(own, write, whole, k))
    return [p for p in pieces if 0 not in p.dims]


@movement.on(ops.Transpose)
def _transpose(op: ops.Transpose, x: TensorType) -> list[Piece]:
    dims = extents(x)
    rank = len(dims)
    order = [a % rank for a in op.permutation or reversed(range(rank))]
    read = tuple([At(0, ((order.index(a), 1),)) for a in range(rank)])
    return [Piece(tuple([dims[a] for a in order]), plain(rank), read)]


@movement.on(ops.Reverse)
def _reverse(op: ops.Reverse, x: TensorType) -> list[Piece]:
    dims = extents(x)
    gone = {a % len(dims) for a in op.axes}
    taken = [_Indices(n - 1, -1, n) if a in gone else _Indices(0, 1, n) for a, n in enumerate(dims)]
    return [Piece(dims, plain(len(dims)), _in_ranges(taken))]


@movement.on(ops.Tile)
def _tile(op: ops.Tile, x: TensorType) -> list[Piece]:
    own, dims = extents(x), list[Extent]()
    rank = len(own)
    for repeats, n in zip(op.repeats, own, strict=True):
        dims += [repeats, n]
    write = tuple([At(0, ((2 * d, n), (2 * d + 1, 1))) for d, n in enumerate(own)])
    read = tuple([At(0, ((2 * d + 1, 1),)) for d in range(rank)])
    return [Piece(tuple(dims), write, read)]


def _ranges(op: ops.Slice | ops.SliceGradient, x: TensorType) -> list[_Indices]:
    """The indices of x that are taken, for each dimension."""
    dims = extents(x)
    steps = op.steps or (1,) * len(op.starts)
    slices = list(map(slice, op.starts, op.stops, steps))
    slices += [slice(None)] * (len(dims) - len(slices))
    return [_taken(n, s) for n, s in zip(dims, slices, strict=True)]


def _taken(n: Extent, s: slice) -> _Indices:
    """The indices of a slice of a dimension."""
    if isinstance(n, int):
        indices = range(n)[s]
        return _Indices(indices.start, indices.step, len(indices))
    if s.start in (None, 0) and s.stop is None and s.step in (None, 1):
        return _Indices(0, 1, n)
    raise Refused(f"a slice {s.start}:{s.stop}:{s.step} of a dimension of {n}")


def _counts(taken: Sequence[_Indices]) -> tuple[Extent, ...]:
    return tuple([r.length for r in taken])


def _in_ranges(taken: Sequence[_Indices]) -> Place:
    return tuple([At(r.start, ((d, r.step),)) for d, r in enumerate(taken)])


def _amid(
    taken: Sequence[_Indices], dims: Sequence[Extent], value: Union[int, float]
) -> list[Piece]:
    """The input in these ranges of an output that has `value` elsewhere.

    What lies outside along a dimension is inside along those before it, and anything behind it.
    """
    rank = len(dims)
    pieces = [Piece(_counts(taken), _in_ranges(taken), plain(rank))]
    for d, (r, n) in enumerate(zip(taken, dims, strict=True)):
        before, behind = taken[:d], [_Indices(0, 1, end) for end in dims[d + 1 :]]
        for gap in (_Indices(0, 1, r.low), _Indices(r.high, 1, n - r.high)):
            box = [*before, gap, *behind]
            pieces.append(Piece(_counts(box), _in_ranges(box), (), None, value))
        if abs(r.step) > 1 and r.length > 1:  # between the elements: an axis more, at the end
            box = [*before, r, *behind]
            own = (*_counts(before), r.length - 1, *_counts(behind), abs(r.step) - 1)
            write = list(_in_ranges(box))
            write[d] = At(r.low + 1, ((d, abs(r.step)), (rank, 1)))
            pieces.append(Piece(own, tuple(write), (), None, value))
    return [p for p in pieces if 0 not in p.dims]
