"""Picking rows or single elements, adding them back, assigning them.

Indices are checked first, in one pass, then trusted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import BLOCK_BYTES, LONGEST, in_turn, plain
from byparts_kernels_numpy.table import allocates, kernels
from byparts_kernels_numpy.workspace import empty, kept
from byparts_opset.along_axis import AddAlongAxis, TakeAlongAxis
from byparts_opset.argmax import TopK
from byparts_opset.dtypes import Array
from byparts_opset.index import Gather, InRange, Scatter, ScatterAdd, check_range

WIDE_ROW = 256  # elements from which adding row by row beats adding element by element
_SMALL = 1 << 20  # elements, of which a copy in f64 takes little memory


allocates[ScatterAdd] = "`np.add.at` buffers up to 8192 positions"
allocates[AddAlongAxis] = allocates[ScatterAdd]
allocates[Scatter] = "NumPy's assignment by indices makes an iterator"
allocates[TopK] = "NumPy's sort gives a new array"


@kernels.on(Gather, workspace=True)
def gather(
    op: Gather, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, indices), (y,) = inputs, outputs
    checked, index = _checked(op, indices, x.shape[op.axis], workspace)
    if not (x.flags.c_contiguous and y.flags.c_contiguous):
        return in_turn([checked, partial(_take, x, index, op.axis, y)])
    return in_turn([checked, partial(x.take, index, op.axis, y, "clip")])  # "raise" would buffer y


@kernels.on(ScatterAdd, workspace=True)
def scatter_add(
    op: ScatterAdd, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return _scatter_add(op, inputs[:2], outputs, workspace)  # nobody may read the third


@kernels.on(TakeAlongAxis, workspace=True)
@plain
def take_along_axis(
    op: TakeAlongAxis, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, indices), (y,) = inputs, outputs
    checked, index = _checked(op, indices, x.shape[op.axis], workspace)
    place, steps = _places(index, x.shape, op.axis, workspace)
    pick = partial(x.reshape(-1).take, place.reshape(-1), 0, y.reshape(-1), "clip")
    return in_turn([checked, *steps, pick] if y.size else [checked])


@kernels.on(AddAlongAxis, workspace=True)
def add_along_axis(
    op: AddAlongAxis, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return _add_along_axis(op, inputs[:2], outputs, workspace)  # nobody may read the third


@kernels.on(Scatter, workspace=True)
def scatter(
    op: Scatter, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """NumPy assigns in the order of one contiguous axis of indices: the last of equals stays."""
    (x, indices, updates), (y,) = inputs, outputs
    checked, index = _checked(op, indices, y.shape[op.axis], workspace)
    rows = np.moveaxis(updates, op.axis, 0)
    assign = partial(operator.setitem, np.moveaxis(y, op.axis, 0), index, rows)
    copy = [] if np.may_share_memory(x, y) else [partial(np.copyto, y, x)]
    return in_turn([checked, *copy, assign])


@kernels.on(InRange)
def in_range(op: InRange, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (indices,), (y,) = inputs, outputs
    check = partial(check_range, op.of, indices, op.size, op.axis)
    return in_turn([check, partial(np.copyto, y, indices)])


@kernels.on(TopK)
def top_k(op: TopK, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(_top_k, op, inputs[0], *outputs)


def _checked(
    op: Gather | Scatter | ScatterAdd | TakeAlongAxis | AddAlongAxis,
    indices: Array,
    size: int,
    workspace: Workspace,
) -> tuple[Run, Array]:
    """A step that checks the indices, and brings them into the array given beside it.

    Seen without a sign a negative index is a great one, so one maximum finds both kinds.
    """
    index = empty(workspace, indices.shape, np.intp)
    positive: Array = index.view(np.uintp)
    greatest: Array = np.empty((), np.uintp)

    def run() -> None:
        np.copyto(index, indices, casting="unsafe")
        if positive.size:
            np.maximum.reduce(positive, None, out=greatest)
            if greatest >= size:
                check_range(op.name, indices, size, op.axis)

    return run, index


@plain
def _scatter_add(
    op: ScatterAdd, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """Over flat positions: `np.add.at` is three times faster on one axis than on rows.

    Many numbers, which may all go to one place, are added up in f64 where y is small.
    """
    (indices, updates), (result,) = inputs, outputs
    y, finish = _sums(indices, result, workspace)
    axis = op.axis % y.ndim
    outer, size, inner = prod(y.shape[:axis]), y.shape[axis], prod(y.shape[axis + 1 :])
    checked, index = _checked(op, indices, size, workspace)
    zero = partial(np.copyto, y, 0)
    if outer == 1 and inner >= WIDE_ROW:
        rows, into = updates.reshape(-1, inner), y.reshape(size, inner)
        adds = _in_pieces(_add_rows, into, index.reshape(-1), rows, workspace)
        return in_turn([checked, zero, *adds, *finish])
    line = index.reshape(*(1,) * axis, -1, *(1,) * (y.ndim - axis - 1))
    place, steps = _places(line, y.shape, axis, workspace)
    flat = y.reshape(-1), place.reshape(-1), updates.reshape(-1)
    return in_turn([checked, zero, *steps, *_in_pieces(np.add.at, *flat, workspace), *finish])


@plain
def _add_along_axis(
    op: AddAlongAxis, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (indices, updates), (result,) = inputs, outputs
    y, finish = _sums(indices, result, workspace)
    checked, index = _checked(op, indices, y.shape[op.axis], workspace)
    place, steps = _places(index, y.shape, op.axis, workspace)
    flat = y.reshape(-1), place.reshape(-1), updates.reshape(-1)
    adds = _in_pieces(np.add.at, *flat, workspace)
    return in_turn([checked, partial(np.copyto, y, 0), *steps, *adds, *finish])


def _sums(indices: Array, result: Array, workspace: Workspace) -> tuple[Array, list[Run]]:
    """Where sums are made, and the steps that bring them into the result."""
    wide = result.itemsize == 4 and result.dtype.kind == "f" and result.size <= _SMALL
    if not wide or indices.size <= LONGEST:
        return result, []
    y = empty(workspace, result.shape, np.float64)
    return y, [partial(np.copyto, result, y, casting="same_kind")]


def _places(
    index: Array, shape: Sequence[int], axis: int, workspace: Workspace
) -> tuple[Array, list[Run]]:
    """Flat positions in an array of this shape, and the steps that make them.

    `index` has an index along `axis` for each of them, or is broadcast along the other axes.
    """
    axis %= len(shape)
    outer, size, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    before, count, behind = index.shape[:axis], index.shape[axis], index.shape[axis + 1 :]
    lines = index.reshape(prod(before), count, prod(behind))
    place = empty(workspace, (outer, count, inner), np.intp)
    start = kept(workspace, np.arange(outer)[:, None, None] * (size * inner) + np.arange(inner))
    by_rows, first = partial(np.multiply, lines, inner, place), partial(np.add, place, start, place)
    return place, [by_rows, first]


def _in_pieces(
    add: Callable[..., object], y: Array, index: Array, x: Array, workspace: Workspace
) -> list[Run]:
    """Add x to y at an index, in pieces in the dtype of y if that is not x's: that is faster."""
    if x.dtype == y.dtype:
        return [partial(add, y, index, x)]
    size = max(1, BLOCK_BYTES // y.itemsize // prod(x.shape[1:]))
    piece = empty(workspace, (min(len(x), size), *x.shape[1:]), y.dtype)
    steps: list[Run] = []
    for i in range(0, len(x), size):
        some = piece[: len(x) - i]
        steps.append(partial(np.copyto, some, x[i : i + size]))
        steps.append(partial(add, y, index[i : i + size], some))
    return steps


def _take(x: Array, index: Array, axis: int, y: Array) -> None:
    np.copyto(y, x.take(index, axis))


def _add_rows(y: Array, index: Array, rows: Array) -> None:
    for i, row in zip(index.data, rows, strict=True):  # a list would be new memory
        into = y[i]
        np.add(into, row, into)


def _top_k(op: TopK, x: Array, values: Array, indices: Array) -> None:
    results, places = op.evaluate(x)
    np.copyto(values, results)
    np.copyto(indices, places)
