"""Reductions: adjacent axes are merged first, then one NumPy call, or a product with ones.

Sums of f32 and f64 over one axis go to BLAS: `ones @ x` where `np.add.reduce` would add row by row
([128,256] over axis 0: 2.9 us against 6.7; [8192,64]: 52 against 220) and `x @ ones` along rows
([128,256]: 3 us against 10).  Rows longer than LONGEST keep NumPy's pairwise sum: it rounds less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn, plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty, ones
from byparts_opset.dtypes import Array
from byparts_opset.prod import Prod, ProdOfOthers
from byparts_opset.reduce import All, Any as AnyOp, Max, Mean, Min, Sum

LONGEST = 4096  # elements summed one after the other


@kernels.on(Sum, workspace=True)
@plain
def sum(op: Sum, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _sum(*_merged(op.axes, inputs[0], outputs[0]), workspace)


@kernels.on(Mean, workspace=True)
@plain
def mean(op: Mean, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    size = np.asarray(x.size // y.size if y.size else 1, y.dtype)
    return in_turn([_sum(*_merged(op.axes, x, y), workspace), partial(np.divide, y, size, y)])


@kernels.on(Prod, workspace=True)
@plain
def prod_(op: Prod, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.multiply.reduce, *_merged(op.axes, inputs[0], outputs[0]))


@kernels.on(Max, workspace=True)
@plain
def max(op: Max, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.maximum.reduce, *_merged(op.axes, inputs[0], outputs[0]))


@kernels.on(Min, workspace=True)
@plain
def min(op: Min, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.minimum.reduce, *_merged(op.axes, inputs[0], outputs[0]))


@kernels.on(All, workspace=True)
@plain
def all(op: All, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.logical_and.reduce, *_merged(op.axes, inputs[0], outputs[0]))


@kernels.on(AnyOp, workspace=True)
@plain
def any(op: AnyOp, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return _reduce(np.logical_or.reduce, *_merged(op.axes, inputs[0], outputs[0]))


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


def _sum(axes: tuple[int, ...], x: Array, y: Array, workspace: Workspace) -> Run:
    length = prod(x.shape[a] for a in axes)
    if x.dtype.kind != "f" or length < 2 or x.size == 0 or x.ndim == 1:
        return _reduce(np.add.reduce, axes, x, y)
    if axes == (x.ndim - 1,):
        if length > LONGEST:
            return _reduce(np.add.reduce, axes, x, y)
        return partial(np.matmul, x, ones(workspace, length, x.dtype), y)
    if len(axes) == 1:
        return partial(np.matmul, ones(workspace, length, x.dtype), x, y)
    if axes == (0, 2) and x.ndim == 3:  # the bias of a convolution: images, channels, pixels
        rows = empty(workspace, x.shape[:2], x.dtype)
        return in_turn([_sum((2,), x, rows, workspace), _sum((0,), rows, y, workspace)])
    return _reduce(np.add.reduce, axes, x, y)


def _reduce(f: Callable[..., Any], axes: tuple[int, ...], x: Array, y: Array) -> Run:
    if not axes or y.size == 0:
        return partial(np.copyto, y, x) if y.size else lambda: None
    return partial(f, x, axes if len(axes) > 1 else axes[0], None, y)


def _merged(
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
