"""Ops that only move elements: each run copies between views that were made when it was bound.

They work for every dtype, since no element is computed with.
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import Any, Union

import numpy as np
import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import filled, nothing
from byparts_kernels_torch.pick import picked, reversed_along
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn
from byparts_opset.axes import BroadcastTo, Reverse, Tile, Transpose
from byparts_opset.join import Concat, Split
from byparts_opset.pad import Pad
from byparts_opset.reshape import ExpandDims, Flatten, Reshape, Squeeze
from byparts_opset.slicing import Slice, SliceGradient, slices_of

Reshaping = Union[Reshape, Flatten, ExpandDims, Squeeze]

allocates[Transpose] = "for matrices, torch's copy has a block of 60 x 60 elements"


@kernels.on(Reshape, Flatten, ExpandDims, Squeeze)
def reshaped(op: Reshaping, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(y.view(x.shape).copy_, x)


@kernels.on(Transpose)
def transpose(op: Transpose, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    order = tuple(range(x.dim()))[::-1] if op.permutation is None else op.permutation
    return partial(y.copy_, x.permute(order))


@kernels.on(Reverse, workspace=True)
def reverse(op: Reverse, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    return reversed_along(inputs[0], op.axes, outputs[0], workspace)


@kernels.on(BroadcastTo)
def broadcast_to(op: BroadcastTo, inputs: Tensors, outputs: Tensors) -> Run:
    return partial(outputs[0].copy_, inputs[0])


@kernels.on(Tile)
def tile(op: Tile, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    copies = y.view([d for pair in zip(op.repeats, x.shape, strict=True) for d in pair])
    return partial(copies.copy_, x[(None, slice(None)) * x.dim()])


@kernels.on(Slice, workspace=True)
def slice_(op: Slice, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    part, axes = _sliced(op, x)
    return reversed_along(part, axes, y, workspace)


@kernels.on(SliceGradient, workspace=True)
def slice_gradient(
    op: SliceGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (dy, _), (y,) = inputs, outputs
    part, axes = _sliced(op, y)
    return in_turn([y.zero_, reversed_along(dy, axes, part, workspace)])


@kernels.on(Concat)
def concat(op: Concat, inputs: Tensors, outputs: Tensors) -> Run:
    """Empty inputs are left out: torch refuses one that has the address of y."""
    if outputs[0].numel() == 0:
        return nothing
    return partial(torch.cat, [x for x in inputs if x.numel()], op.axis, out=outputs[0])


@kernels.on(Split)
def split(op: Split, inputs: Tensors, outputs: Tensors) -> Run:
    starts = [0, *accumulate(op.sizes)]
    spans = zip(starts, op.sizes, strict=False)
    parts = [inputs[0].narrow(op.axis, at, size) for at, size in spans]
    return in_turn([partial(y.copy_, part) for y, part in zip(outputs, parts, strict=True)])


@kernels.on(Pad, workspace=True)
def pad(op: Pad, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if op.mode != "constant":
        return picked(x, _source_indices(op, x), y, workspace)
    pairs = zip(x.shape, op.paddings, strict=True)
    middle: Any = (*(slice(lo, lo + d) for d, (lo, _) in pairs), ...)
    return in_turn([filled(y, op.value), partial(y[middle].copy_, x)])


def _sliced(op: Union[Slice, SliceGradient], x: Tensor) -> tuple[Tensor, list[int]]:
    """A view of the elements of x that the op takes, in the order of x.

    Also the axes along which the op takes them in reverse: torch has no negative strides.
    """
    backwards, parts = [], []
    for axis, s in enumerate(slices_of(op)):
        taken = range(x.shape[axis])[s]
        if taken.step < 0:
            backwards.append(axis)
            taken = taken[::-1]
        parts.append(slice(taken[0], taken[-1] + 1, taken.step) if taken else slice(0, 0))
    return x[tuple(parts)] if parts else x, backwards


def _source_indices(op: Pad, x: Tensor) -> dict[int, list[int]]:
    """For each padded axis, the index along it in x of each element of y."""
    mode: str = op.mode
    return {
        axis: np.pad(np.arange(d), pair, mode).tolist()  # type: ignore[call-overload]
        for axis, (d, pair) in enumerate(zip(x.shape, op.paddings, strict=True))
        if pair != (0, 0)
    }
