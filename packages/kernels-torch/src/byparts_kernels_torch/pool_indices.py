"""Kernels of the position of the maximum of each window, as torch finds it.

Its kernel for images of NCHW takes one element at a time, that for the channels last many: on the
CPU some images at a time are turned in scratch memory, which pays at any size.  Where torch cannot
pad (it pads alike on both sides), images are framed with the smallest number, and places in the
frame become places in the plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import torch
from torch._C import _nn as nn

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import filled, number
from byparts_kernels_torch.ops import MaxPoolIndices, MaxPoolScatter
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import kept, scratch
from byparts_opset.pooling import Frame, Pool, windows
from byparts_opset.window import TO_NCHW

CHUNK_BYTES = 1 << 19


@dataclass(frozen=True)
class Found:
    """Some images: how to find the maxima [n, c, p, q] and their places; all in scratch memory."""

    part: slice
    find: tuple[Run, ...]
    maxima: Tensor
    places: Tensor
    spare: Tensor  # more of it, of the type of the maxima
    marks: Tensor  # and of bools


@kernels.on(MaxPoolIndices, workspace=True)
def max_pool_indices(
    op: MaxPoolIndices, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """Search in one call where torch is fast on this layout, else some images at a time."""
    x, y, places = (images(op, t) for t in (*inputs, *outputs))
    if y.numel() == 0:
        return filled(y, 0)
    how = torch_windows(op, x)
    if how is not None and (x.device.type != "cpu" or _last(x)):
        wide = scratch(workspace, places.shape, places, torch.int64, _order(x))
        find = partial(nn.max_pool2d_with_indices, x, *how, out=(y, wide))
        return in_turn([find, partial(places.copy_, wide)])
    steps: list[Run] = []
    for f in indexed(op, x, workspace):
        steps += [*f.find, partial(y[f.part].copy_, f.maxima)]
        steps.append(partial(places[f.part].copy_, f.places))
    return in_turn(steps)


@kernels.on(MaxPoolScatter, workspace=True)
def max_pool_scatter(
    op: MaxPoolScatter, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """The third input is never read."""
    return _scatter(op, inputs[:2], outputs, workspace)


def indexed(op: Pool, x: Tensor, workspace: Workspace) -> Iterator[Found]:
    """The maxima of images [n, c, h, w], those of some images at a time."""
    counts, around = windows(op, in_layout(op, x))
    how = torch_windows(op, x)
    size = len(x) if x.device.type != "cpu" else max(1, CHUNK_BYTES // _image_bytes(x))
    parts = [slice(i, min(i + size, len(x))) for i in range(0, len(x), size)]
    first = x[parts[0]]
    if how is None:
        room = _frame(first, around, workspace)
    else:
        room = scratch(workspace, first.shape, x, None, _order(x))
    shape = (len(room), x.shape[1], *counts)
    maxima, places, marks, spare = (
        scratch(workspace, shape, x, t, _order(x))
        for t in (x.dtype, torch.int64, torch.bool, x.dtype)
    )
    rows = places if how else like(workspace, places)
    whole = how or (op.ksize, op.strides, (0, 0), (1, 1), False)
    for part in parts:
        own = x[part]
        given, y, at = (t[: len(own)] for t in (room, maxima, places))
        inside = given if how else _inside(given, own, around)
        find: list[Run] = [partial(inside.copy_, own)]
        find.append(partial(nn.max_pool2d_with_indices, given, *whole, out=(y, at)))
        find += [] if how else _to_plane(at, rows[: len(own)], given.shape[3], own.shape, around)
        yield Found(part, tuple(find), y, at, spare[: len(own)], marks[: len(own)])


def torch_windows(op: Pool, x: Tensor) -> tuple[Any, ...] | None:
    """Torch's arguments, where padding alike on both sides gives the same windows."""
    counts, around = windows(op, in_layout(op, x))
    lower = (around[0][0], around[1][0])
    if any(2 * p > k for p, k in zip(lower, op.ksize, strict=True)):
        return None
    for ceil in (False, True):
        if all(
            _count(e, p, k, s, ceil) == n
            for e, p, k, s, n in zip(x.shape[2:], lower, op.ksize, op.strides, counts, strict=True)
        ):
            return (op.ksize, op.strides, lower, (1, 1), ceil)
    return None


def like(workspace: Workspace, x: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Scratch laid out as images x are."""
    order = torch.channels_last if _last(x) else torch.contiguous_format
    return scratch(workspace, x.shape, x, dtype, order)


def pixels(x: Tensor) -> Tensor:
    """A view [n, c, h w]."""
    return x.view(*x.shape[:2], -1)


def images(op: Pool, x: Tensor) -> Tensor:
    """A view [n, c, h, w]."""
    return x.permute(TO_NCHW[op.layout])


def in_layout(op: Pool, x: Tensor) -> tuple[int, ...]:
    """The shape of images [n, c, h, w] in the layout of the op."""
    n, c, h, w = x.shape
    return (n, c, h, w) if op.layout == "NCHW" else (n, h, w, c)


@widened
def _scatter(op: MaxPoolScatter, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    dy, places, dx = (images(op, t) for t in (*inputs, *outputs))
    if dx.numel() == 0 or dy.numel() == 0:
        return filled(dx, 0)
    (dy, places), steps = _viewable(workspace, dy, places)
    steps.append(dx.zero_)
    size = max(1, CHUNK_BYTES // (8 * int(places[:1].numel())))
    room = scratch(workspace, pixels(places)[:size].shape, places, torch.int64)
    for i in range(0, len(dy), size):
        narrow, rows = pixels(places)[i : i + size], pixels(dy)[i : i + size]
        at = room[: len(narrow)]
        steps.append(partial(at.copy_, narrow))
        steps.append(partial(pixels(dx)[i : i + size].scatter_add_, 2, at, rows))
    return in_turn(steps)


def _viewable(workspace: Workspace, *given: Tensor) -> tuple[list[Tensor], list[Run]]:
    """Stand-ins for what has gaps, and how to fill them."""
    copies: list[Tensor] = []
    steps: list[Run] = []
    for x in given:
        gaps = not x.is_contiguous() and not _last(x)
        copies.append(scratch(workspace, x.shape, x) if gaps else x)
        steps += [partial(copies[-1].copy_, x)] if gaps else []
    return copies, steps


def _frame(x: Tensor, around: Frame, workspace: Workspace) -> Tensor:
    """Room for padded images; a step never writes the border."""
    height, width = (e + sum(a) for e, a in zip(x.shape[2:], around, strict=True))
    low = -inf if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
    return kept(workspace, (*x.shape[:2], height, width), x, None, _order(x)).fill_(low)


def _inside(frame: Tensor, x: Tensor, around: Frame) -> Tensor:
    (top, _), (left, _) = around
    return frame[..., top : top + x.shape[2], left : left + x.shape[3]]


def _to_plane(
    places: Tensor, rows: Tensor, width: int, shape: Sequence[int], around: Frame
) -> list[Run]:
    """Frame to plane; a window of nothing but the smallest number points at its first element.

    `rows` is scratch memory like `places`.
    """
    lower = (around[0][0], around[1][0])
    stride = number(width, places)
    top, left, plane_stride = (number(n, places) for n in (*lower, shape[3]))
    return [
        partial(torch.div, places, stride, rounding_mode="floor", out=rows),
        partial(places.addcmul_, rows, stride, value=-1),
        partial(places.sub_, left),
        partial(places.clamp_, 0, shape[3] - 1),
        partial(rows.sub_, top),
        partial(rows.clamp_, 0, shape[2] - 1),
        partial(places.addcmul_, rows, plane_stride),
    ]


def _count(extent: int, padding: int, kernel: int, stride: int, ceil: bool) -> int:
    """The number of windows of torch."""
    room = extent + 2 * padding - kernel
    if not ceil:
        return room // stride + 1
    last = -(-room // stride)
    return last + 1 if last * stride < extent + padding else last


def _order(x: Tensor) -> torch.memory_format:
    return torch.channels_last if x.device.type == "cpu" else torch.contiguous_format


def _image_bytes(x: Tensor) -> int:
    return max(1, int(x[:1].numel() * x.element_size()))


def _last(x: Tensor) -> bool:
    return bool(x.is_contiguous(memory_format=torch.channels_last))
