"""Reductions: adjacent axes are merged first, then one NumPy call, or a product with ones.

Sums of f32 and f64 over one axis go to BLAS: `ones @ x` where `np.add.reduce` would add row by row
([128,256] over axis 0: 2.9 us against 6.7; [8192,64]: 52 against 220) and `x @ ones` along rows
([128,256]: 3 us against 10).  Both add in turn, so the error of a sum of n grows as n: rows longer
than LONGEST keep NumPy's pairwise sum, and longer columns are summed in blocks, whose sums are
summed again.  The error is at most (LONGEST + BLOCK * log_BLOCK(n)) roundings of the sum of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import LONGEST, in_turn, plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty, ones
from byparts_opset.dtypes import Array
from byparts_opset.prod import Prod, ProdOfOthers
from byparts_opset.reduce import All, Any as AnyOp, Max, Mean, Min, Sum

BLOCK = 512  # of which a longer column is made


@kernels.on(Sum, workspace=True)
@plain
def sum(op: Sum, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return sum_along(*merged(op.axes, inputs[0], outputs[0]), workspace)


@kernels.on(Mean, workspace=True)
@plain
def mean(op: Mean, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    size = np.asarray(x.size // y.size if y.size else 1, y.dtype)
    return in_turn([sum_along(*merged(op.axes, x, y), workspace), partial(np.divide, y, size, y)])


@kernels.on(Prod, workspace=True)
@plain
def prod_(op: Prod, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.multiply.reduce, *merged(op.axes, inputs[0], outputs[0]))


@kernels.on(Max, workspace=True)
@plain
def max(op: Max, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.maximum.reduce, *merged(op.axes, inputs[0], outputs[0]))


@kernels.on(Min, workspace=True)
@plain
def min(op: Min, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.minimum.reduce, *merged(op.axes, inputs[0], outputs[0]))


@kernels.on(All, workspace=True)
@plain
def all(op: All, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.logical_and.reduce, *merged(op.axes, inputs[0], outputs[0]))


@kernels.on(AnyOp, workspace=True)
@plain
def any(op: AnyOp, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.logical_or.reduce, *merged(op.axes, inputs[0], outputs[0]))


@kernels.on(ProdOfOthers, workspace=True)
@plain
def prod_of_others(
    op: ProdOfOthers, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """Running products of what stands before each element, times those of what stands behind."""
    x, y = (np.moveaxis(a, op.axis, 0) for a in (*inputs, *outputs))
    behind = empty(workspace, x.shape, x.dtype)
    multiply = np.multiply.accumulate
    if len(x) == 0:
        return partial(np.copyto, y, x)
    return in_turn(
        [
            partial(y[0].fill, 1) if y.ndim > 1 else partial(np.copyto, y[:1], 1),
            partial(multiply, x[:-1], 0, None, y[1:]),
            partial(multiply, x[:0:-1], 0, None, behind[:0:-1]),
            partial(np.multiply, y[:-1], behind[1:], y[:-1]),
        ]
    )


def sum_along(axes: tuple[int, ...], x: Array, y: Array, workspace: Workspace) -> Run:
    """The run that sums x over `axes` into y, given what `merged` returns."""
    length = prod(x.shape[a] for a in axes)
    if x.dtype.kind != "f" or length < 2 or x.size == 0 or x.ndim == 1:
        return _reduce(np.add.reduce, axes, x, y)
    if axes == (x.ndim - 1,):
        if length > LONGEST:
            return _reduce(np.add.reduce, axes, x, y)
        return partial(np.matmul, x, ones(workspace, length, x.dtype), y)
    if len(axes) == 1:
        if length > LONGEST:
            return _sum_of_blocks(x, y, workspace)
        return partial(np.matmul, ones(workspace, length, x.dtype), x, y)
    if (axes == (0, 2) and x.ndim == 3) or length > LONGEST:  # as the bias of a convolution
        rows = empty(workspace, [d for a, d in enumerate(x.shape) if a != axes[-1]], x.dtype)
        parts = (merged(axes[-1:], x, rows), merged(axes[:-1], rows, y))
        return in_turn([sum_along(*part, workspace) for part in parts])
    return _reduce(np.add.reduce, axes, x, y)


def _sum_of_blocks(x: Array, y: Array, workspace: Workspace) -> Run:
    """[..., long, c] -> [..., c]."""
    count, rest = divmod(x.shape[-2], BLOCK)
    line, end = ones(workspace, BLOCK, x.dtype), count * BLOCK
    parts = empty(workspace, (*x.shape[:-2], count + (rest > 0), x.shape[-1]), x.dtype)
    whole = x[..., :end, :].reshape(*x.shape[:-2], count, BLOCK, x.shape[-1])
    steps: list[Run] = [partial(np.matmul, line, whole, parts[..., :count, :])]
    if rest:
        steps.append(partial(np.matmul, line[:rest], x[..., end:, :], parts[..., count, :]))
    return in_turn([*steps, sum_along((x.ndim - 2,), parts, y, workspace)])


def _reduce(f: Callable[..., Any], axes: tuple[int, ...], x: Array, y: Array) -> Run:
    if not axes or y.size == 0:
        return partial(np.copyto, y, x) if y.size else lambda: None
    return partial(f, x, axes if len(axes) > 1 else axes[0], None, y)


def merged(
    axes: tuple[int, ...] | None, x: Array, y: Array
) -> tuple[tuple[int, ...], Array, Array]:
    """The same reduction with adjacent axes merged, those of size 1 left out, none kept.

    Of contiguous arrays: [32,28,28,64] over (0, 1, 2) becomes [25088,64] over (0,).
    """
    gone = set(range(x.ndim) if axes is None else (a % x.ndim for a in axes))
    long = [(d, i in gone) for i, d in enumerate(x.shape) if d != 1]
    groups = [(prod(d for d, _ in run), goes) for goes, run in groupby(long, lambda pair: pair[1])]
    merged = tuple(i for i, (_, goes) in enumerate(groups) if goes)
    kept = tuple(d for d, goes in groups if not goes)
    return merged, x.reshape([d for d, _ in groups]), y.reshape(kept)
