"""Ops that only move elements: copies between views that are made once.

All of them are right for any dtype, since they never look at an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Union

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty
from byparts_opset.axes import BroadcastTo, Reverse, Transpose
from byparts_opset.dtypes import Array
from byparts_opset.join import Concat, Split
from byparts_opset.pad import Pad
from byparts_opset.reshape import ExpandDims, Flatten, Reshape, Squeeze
from byparts_opset.slicing import Slice, SliceGradient, slices_of

Renamed = Union[Reshape, Flatten, ExpandDims, Squeeze]


@kernels.on(Reshape, Flatten, ExpandDims, Squeeze, workspace=True)
def renamed(
    op: Renamed, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x,), (y,) = inputs, outputs
    if y.flags.c_contiguous:
        return partial(np.copyto, y.reshape(x.shape), x)
    line = empty(workspace, x.shape, x.dtype)  # `reshape` would copy y, and the copy would be lost
    return in_turn([partial(np.copyto, line, x), partial(np.copyto, y, line.reshape(y.shape))])


@kernels.on(Transpose)
def transpose(op: Transpose, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(np.copyto, outputs[0], np.transpose(inputs[0], op.permutation))


@kernels.on(Reverse)
def reverse(op: Reverse, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x,), (y,) = inputs, outputs
    reversed_axes = {axis % x.ndim for axis in op.axes}
    steps = (slice(None, None, -1 if axis in reversed_axes else 1) for axis in range(x.ndim))
    at: Any = (..., *steps)  # of a 0-d array a view too
    return partial(np.copyto, y, x[at])


@kernels.on(BroadcastTo)
def broadcast_to(op: BroadcastTo, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(np.copyto, outputs[0], inputs[0])


@kernels.on(Slice)
def slice_(op: Slice, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    at: Any = (*slices_of(op), ...)  # of a 0-d array a view too
    return partial(np.copyto, outputs[0], inputs[0][at])


@kernels.on(SliceGradient)
def slice_gradient(op: SliceGradient, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (dy, _), (y,) = inputs, outputs
    at: Any = (*slices_of(op), ...)
    return in_turn([partial(y.fill, 0), partial(np.copyto, y[at], dy)])


@kernels.on(Concat)
def concat(op: Concat, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    parts = _parts(outputs[0], [x.shape[op.axis] for x in inputs], op.axis)
    return in_turn([partial(np.copyto, p, x) for p, x in zip(parts, inputs, strict=True)])


@kernels.on(Split)
def split(op: Split, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    parts = _parts(inputs[0], op.sizes, op.axis)
    return in_turn([partial(np.copyto, y, p) for y, p in zip(outputs, parts, strict=True)])


@kernels.on(Pad)
def pad(op: Pad, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    """Copy x to the middle of y, then fill the padding of one axis after the other.

    The padding of an axis is copied from elements of y that are already written.
    """
    (x,), (y,) = inputs, outputs
    pairs = zip(x.shape, op.paddings, strict=True)
    middle: Any = (*(slice(lo, lo + d) for d, (lo, _) in pairs), ...)
    core = partial(np.copyto, y[middle], x)
    if op.mode == "constant":
        return in_turn([partial(np.copyto, y, np.asarray(op.value, y.dtype)), core])
    steps: list[Run] = [core]
    for axis, (lo, hi) in enumerate(op.paddings):
        later: Any = (*(slice(None),) * (axis + 1), *middle[axis + 1 :])
        lines = np.moveaxis(y[later], axis, 0)
        steps += _borders(op.mode, lines, lo, hi)
    return in_turn(steps)


def _borders(mode: str, lines: Array, lo: int, hi: int) -> list[Run]:
    """Runs that fill `lines[:lo]` and the last `hi` lines from the lines between, by `mode`."""
    skip = 1 if mode == "reflect" else 0
    inner = lines[lo : len(lines) - hi]
    before, behind = inner[skip : lo + skip][::-1], inner[::-1][skip : hi + skip]
    if mode == "edge":
        before, behind = inner[:1], inner[-1:]
    steps: list[Run] = []
    if lo:
        steps.append(partial(np.copyto, lines[:lo], before))
    if hi:
        steps.append(partial(np.copyto, lines[len(lines) - hi :], behind))
    return steps


def _parts(x: Array, sizes: Sequence[int], axis: int) -> list[Array]:
    """Views of x, one after the other along the axis."""
    moved, ends = np.moveaxis(x, axis, 0), accumulate(sizes)
    return [np.moveaxis(moved[e - s : e], 0, axis) for s, e in zip(sizes, ends, strict=True)]
