"""Pooling: along the height, then along the width, without a loop over pixels.

torch pools images of NCHW one element at a time, and those with the channels last in vectors.  So
on the CPU a maximum or a mean is taken in kh + kw calls on strided views, which also knows every
padding, and where the place of the maximum is asked for, some images at a time are turned
(`pool_indices.py`).  f32, CPU ms, one thread of an AVX-512 Xeon:

                                 torch  here    gradient: torch   here
    max  100x20x24x24, 2x2 by 2    7.3   0.5      0.6 (indices)   3.8    with indices 2.0 + 0.5
    max  32x64x32x32,  3x3 by 2   18.8   1.9      2.2 (indices)   8.7    with indices 5.2 + 1.1
    mean 100x20x24x24, 2x2 by 2    2.7   0.4      2.9             1.1
    mean 32x64x32x32,  3x3 by 2    7.0   1.4      8.7             2.7
    with the channels last
    max  100x24x24x20, 2x2 by 2    1.0   0.3      0.6 (indices)   3.1    with indices 0.9 + 0.8
    max  32x32x32x64,  3x3 by 2    1.4   0.8      2.1 (indices)   7.1    with indices 1.3 + 2.8
    mean 32x32x32x64,  3x3 by 2    0.7   0.8      2.0             1.5

The gradient of a maximum looks for it again; where both stand in one program, a pass joins them
("with indices", `ops.py`).
Other devices have torch's own kernels, where padding alike on both sides gives these windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import inf
from typing import Any

import torch
from torch._C import _nn as nn

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import filled, number
from byparts_kernels_torch.pool_indices import (
    Found,
    images,
    in_layout,
    indexed,
    like,
    pixels,
    torch_windows,
)
from byparts_kernels_torch.refuse import floats_only_on_gpu
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import kept, scratch
from byparts_opset.pool import (
    AveragePool,
    AveragePoolGradient,
    MaxPool,
    MaxPoolGradient,
    MaxPoolGradientGradient,
)
from byparts_opset.pooling import Pool, divisors, windows
from byparts_opset.window import pads, side

CHUNK_BYTES = 1 << 20

Cover = tuple[slice, slice]  # windows, and the element each of them has at some offset


@kernels.on(MaxPool, workspace=True)
@floats_only_on_gpu
def max_pool(op: MaxPool, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """Maxima along the height, then along the width."""
    x, y = images(op, inputs[0]), images(op, outputs[0])
    how = torch_windows(op, x)
    if x.device.type != "cpu" and how is not None and y.numel():
        places = like(workspace, y, torch.int64)
        return partial(nn.max_pool2d_with_indices, x, *how, out=(y, places))
    low = -inf if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
    return in_turn(list(_pooled(op, x, y, torch.maximum, low, workspace)))


@kernels.on(MaxPoolGradient, workspace=True)
@widened
@dense
def max_pool_gradient(
    op: MaxPoolGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """Each dy to the first maximum of its window, which is looked for again."""
    x, y, dy, dx = (images(op, t) for t in (*inputs, *outputs))
    if dx.numel() == 0 or dy.numel() == 0:
        return filled(dx, 0)
    steps: list[Run] = [dx.zero_]
    if not x.dtype.is_floating_point:
        shares = like(workspace, dy)
        for hit, at, seen in _hits(op, x, y, steps, workspace):
            own, target = shares[at], dx[seen]
            steps += [partial(own.copy_, hit), partial(own.mul_, dy[at])]
            steps.append(partial(target.add_, own))
        return in_turn(steps)
    for f in indexed(op, x, workspace):
        steps += [*f.find, partial(f.spare.copy_, dy[f.part]), *_only_maxima(f, y)]
        add = pixels(dx[f.part]).scatter_add_
        steps.append(partial(add, 2, pixels(f.places), pixels(f.spare)))
    return in_turn(steps)


@kernels.on(MaxPoolGradientGradient, workspace=True)
@widened
@dense
def max_pool_gradient_gradient(
    op: MaxPoolGradientGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """Give for each window the element of g that stands at the first maximum."""
    x, y, g, out = (images(op, t) for t in (*inputs, *outputs))
    if out.numel() == 0:
        return filled(out, 0)
    steps: list[Run] = []
    if not x.dtype.is_floating_point:
        steps.append(out.zero_)
        whole = like(workspace, out)
        for hit, at, seen in _hits(op, x, y, steps, workspace):
            picked = whole[at]
            steps += [partial(picked.copy_, hit), partial(picked.mul_, g[seen])]
            steps.append(partial(out[at].add_, picked))
        return in_turn(steps)
    for f in indexed(op, x, workspace):
        given, own = pixels(g[f.part]), pixels(f.spare)
        steps += [*f.find, partial(torch.gather, given, 2, pixels(f.places), out=own)]
        steps += [*_only_maxima(f, y), partial(out[f.part].copy_, f.spare)]
    return in_turn(steps)


@kernels.on(AveragePool, workspace=True)
@widened
def average_pool(op: AveragePool, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """Sums along the height, then along the width, then one product."""
    x, y = images(op, inputs[0]), images(op, outputs[0])
    how = _torch_means(op, x)
    if how is not None:
        return partial(nn.avg_pool2d, x, *how, out=y)
    share = _shares(op, x, workspace)
    return in_turn(
        [*_pooled(op, x, y, torch.add, 0, workspace), partial(torch.mul, y, share, out=y)]
    )


@kernels.on(AveragePoolGradient, workspace=True)
@widened
def average_pool_gradient(
    op: AveragePoolGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """Shares, spread along the width, then along the height."""
    dy, dx = images(op, inputs[0]), images(op, outputs[0])  # the second is never read
    how = _torch_means(op, dx)
    if how is not None:
        backward = torch.ops.aten.avg_pool2d_backward.grad_input
        return partial(backward, dy, dx, *how, None, grad_input=dx)
    share, (down, across) = _shares(op, dx, workspace), _covers(op, dx)
    parts, steps = _parts(dx), list[Run]()
    shares = like(workspace, dy[: parts[0].stop]) if parts else dy
    room = _between(shares, dx, workspace)
    for part in parts:
        own, wide = shares[: len(dy[part])], room[: len(dy[part])]
        steps.append(partial(torch.mul, dy[part], share, out=own))
        steps += [*_spread(3, own, wide, across), *_spread(2, wide, dx[part], down)]
    return in_turn(steps)


def _only_maxima(f: Found, y: Tensor) -> list[Run]:
    """0 in the spare memory where y is no maximum; so where that is nan, which equals nothing."""
    zero = number(0, f.spare)
    return [
        partial(torch.ne, f.maxima, y[f.part], out=f.marks),
        partial(f.spare.masked_fill_, f.marks, zero),
    ]


def _hits(
    op: Pool, x: Tensor, y: Tensor, steps: list[Run], workspace: Workspace
) -> Iterator[tuple[Tensor, Any, Any]]:
    """Integers, tap by tap: which windows find their maximum there first; adds how to find it."""
    free, hits = (like(workspace, y, torch.bool) for _ in range(2))
    steps.append(partial(free.fill_, True))
    for (at_h, seen_h), (at_w, seen_w) in product(*_covers(op, x)):
        at, seen = (..., at_h, at_w), (..., seen_h, seen_w)
        hit = hits[at]
        steps.append(partial(torch.eq, x[seen], y[at], out=hit))
        steps.append(partial(hit.logical_and_, free[at]))
        steps.append(partial(free[at].logical_xor_, hit))
        yield hit, at, seen


def _pooled(
    op: Pool,
    x: Tensor,
    y: Tensor,
    f: Callable[..., Any],
    identity: float,
    workspace: Workspace,
) -> Iterator[Run]:
    down, across = _covers(op, x)
    parts = _parts(x)
    room = _between(y[: parts[0].stop], x, workspace) if parts else y
    for part in parts:
        images, into = x[part], y[part]
        flat = room[: len(into)]
        yield from _reduced(2, images, flat, down, f, identity)
        yield from _reduced(3, flat, into, across, f, identity)


def _reduced(
    axis: int, x: Tensor, y: Tensor, covers: list[Cover], f: Callable[..., Any], identity: float
) -> Iterator[Run]:
    """y = the elements of x under the window along one axis, taken together."""
    everywhere = slice(0, y.shape[axis])
    whole = [seen for at, seen in covers if at == everywhere]
    if len(whole) > 1:
        yield partial(f, x[_along(axis, whole[0])], x[_along(axis, whole[1])], out=y)
    elif whole:
        yield partial(y.copy_, x[_along(axis, whole[0])])
    else:
        yield partial(y.fill_, identity)
    for at, seen in covers:
        if seen not in whole[:2]:
            part = y[_along(axis, at)]
            yield partial(f, part, x[_along(axis, seen)], out=part)


def _spread(axis: int, y: Tensor, x: Tensor, covers: list[Cover]) -> Iterator[Run]:
    """x = each element of y added to all elements of its window along one axis."""
    yield x.zero_
    for at, seen in covers:
        yield partial(x[_along(axis, seen)].add_, y[_along(axis, at)])


def _covers(op: Pool, x: Tensor) -> tuple[list[Cover], list[Cover]]:
    """For height and width, for each offset in the window: which windows have an element there."""
    counts, around = windows(op, in_layout(op, x))
    result: list[list[Cover]] = []
    for extent, count, (lower, _), kernel, s in zip(
        x.shape[2:], counts, around, op.ksize, op.strides, strict=True
    ):
        covers = []
        for u in range(kernel):
            first = max(0, -((u - lower) // s))
            last = min(count, (extent - 1 + lower - u) // s + 1)
            start = first * s + u - lower
            if first < last:
                seen = slice(start, start + (last - first - 1) * s + 1, s)
                covers.append((slice(first, last), seen))
        result.append(covers)
    return result[0], result[1]


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (part,)


def _between(rows: Tensor, columns: Tensor, workspace: Workspace) -> Tensor:
    """Scratch with the height of one and the width of the other, laid out as they are."""
    shape = (*rows.shape[:3], columns.shape[3])
    last = columns.stride(1) < columns.stride(3)
    order = torch.channels_last if last else torch.contiguous_format
    return scratch(workspace, shape, rows, None, order)


def _shares(op: AveragePool | AveragePoolGradient, x: Tensor, workspace: Workspace) -> Tensor:
    """The reciprocal of the number of elements in each window."""
    count = divisors(op, in_layout(op, x), op.count_include_pad)
    if count.size and (count == count.flat[0]).all():
        count = count[:1, :1]
    shares = torch.tensor((1 / count).tolist(), dtype=x.dtype).view(count.shape)
    return kept(workspace, count.shape, x).copy_(shares)


def _parts(x: Tensor) -> list[slice]:
    """Some images at a time."""
    image_bytes = max(1, x[:1].numel() * x.element_size())
    size = max(1, CHUNK_BYTES // image_bytes)
    return [slice(i, min(i + size, len(x))) for i in range(0, len(x), size)]


def _torch_means(op: AveragePool | AveragePoolGradient, x: Tensor) -> tuple[Any, ...] | None:
    """Torch's arguments, on a device for which it is the faster, and where it has these windows."""
    sides = [pads(side(op.padding, a), x.shape[2 + a], op.ksize[a], op.strides[a]) for a in (0, 1)]
    fits = all(
        lower == upper and 2 * lower <= k for (lower, upper), k in zip(sides, op.ksize, strict=True)
    )
    if x.device.type == "cpu" or not fits or x.numel() == 0:
        return None
    padding = (sides[0][0], sides[1][0])
    return (op.ksize, op.strides, padding, op.ceil_mode, op.count_include_pad)
