"""Convolution as products of matrices: each patch of the images becomes a column.

Columns are made for a few images at a time, so that they are still in cache when they are
multiplied.  This is what integers take, which torch does not convolve, and what is faster where a
patch has few elements (`conv2d.py`).

Images are [n, c, h, w] and filters [o, i, u, v] here, whatever strides they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch

from byparts_graph_ir import TensorType
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.workspace import kept, scratch
from byparts_opset.convolution import FROM_OIHW, Convolution, placed
from byparts_opset.window import Pair, from_nchw, span

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Geometry:
    """The sizes of a convolution.

    Attributes:
        images: how many.
        groups: of channels.
        i: channels of x in a group.
        o: channels of y in a group.
        extents: height and width of x.
        kernel: height and width of the kernel.
        counts: height and width of y.
        strides: along height and width.
        dilations: along height and width.
        around: padding before and after along each; negative padding crops.
        layout: "NCHW" or "NHWC", of the images of the op.
    """

    images: int
    groups: int
    i: int
    o: int
    extents: Pair
    kernel: Pair
    counts: Pair
    strides: Pair
    dilations: Pair
    around: tuple[Pair, Pair]
    layout: str

    @property
    def taps(self) -> int:
        """Elements of a patch."""
        return self.i * self.kernel[0] * self.kernel[1]

    @property
    def pixels(self) -> int:
        """Elements of a channel of y."""
        return self.counts[0] * self.counts[1]

    @property
    def pointwise(self) -> bool:
        """Whether the kernel is 1x1, unpadded."""
        return self.kernel == (1, 1) and not self.pads

    @property
    def pads(self) -> bool:
        """Whether x is padded anywhere."""
        return max(map(max, self.around)) > 0

    @property
    def crops(self) -> bool:
        """Whether elements at the borders of x are read by no window."""
        return min(map(min, self.around)) < 0

    @property
    def padding(self) -> Pair | None:
        """The padding as torch takes it, the same on both sides, if that gives these windows."""
        sides = (self.around[0][0], self.around[1][0])
        for axis, lower in enumerate(sides):
            reach = span(self.kernel[axis], self.dilations[axis]) or 0
            room = self.extents[axis] + 2 * lower - reach
            if lower < 0 or room // self.strides[axis] + 1 != self.counts[axis]:
                return None
        return sides


def geometry(op: Convolution, x: Tensor, w: Tensor) -> Geometry:
    """The geometry of the convolution of x [n, c, h, w] with the filter w [o, i, u, v]."""
    (n, c, height, width), (o, i, *kernel) = x.shape, w.shape
    images = from_nchw("f32", (n, c, height, width), op.layout)
    filter = TensorType("f32", tuple(w.shape[axis] for axis in FROM_OIHW[op.layout]))
    counts, around = placed(op, images, filter)
    return Geometry(
        *(n, op.groups, i, o // op.groups, (height, width), (kernel[0], kernel[1])),
        *(counts, op.strides, op.dilations, around, op.layout),
    )


def forward(g: Geometry, x: Tensor, w: Tensor, y: Tensor, workspace: Workspace) -> list[Run]:
    """y = filters times patches."""
    weights, steps = contiguous(w, workspace)
    factors = weights.view(g.groups, g.o, g.taps)
    pixels, _ = contiguous(y, workspace)
    into = pixels.view(g.images, g.groups, g.o, g.pixels)
    for part, fill, columns in filled_patches(g, x, workspace):
        steps += fill
        for k in range(g.groups):
            one = factors[k].expand(len(columns), -1, -1)
            steps.append(partial(torch.bmm, one, columns[:, k], out=into[part, k]))
    return steps if pixels is y else [*steps, partial(y.copy_, pixels)]


def filter_gradient(
    g: Geometry, x: Tensor, dy: Tensor, dw: Tensor, workspace: Workspace
) -> list[Run]:
    """dw = the sum over images of pixels times patches."""
    pixels, steps = contiguous(dy, workspace)
    by_group = pixels.view(g.images, g.groups, g.o, g.pixels)
    weights, _ = contiguous(dw, workspace)
    sums = weights.view(g.groups, g.o, g.taps)
    for part, fill, columns in filled_patches(g, x, workspace):
        steps += fill
        for k in range(g.groups):
            factors = by_group[part, k], columns[:, k].transpose(1, 2)
            keep = 0 if part.start == 0 else 1
            steps.append(partial(torch.addbmm, sums[k], *factors, beta=keep, out=sums[k]))
    return steps if weights is dw else [*steps, partial(dw.copy_, weights)]


def input_gradient(
    g: Geometry, dy: Tensor, w: Tensor, dx: Tensor, workspace: Workspace
) -> list[Run]:
    """dx = transposed filters times pixels; the products are added to the images tap by tap."""
    (weights, steps), (pixels, more) = (contiguous(t, workspace) for t in (w, dy))
    factors = weights.view(g.groups, g.o, g.taps).transpose(1, 2)
    given = pixels.view(g.images, g.groups, g.o, g.pixels)
    whole = room(g, dx, workspace)
    spare = frame(g, dx, len(whole), partial(scratch, workspace))
    steps += [*more, *([dx.zero_] if g.crops else [])]
    for part in parts(g, dx):
        count = part.stop - part.start
        images, columns = spare[:count], whole[:count]
        steps.append(images.zero_)
        for k in range(g.groups):
            one = factors[k].expand(count, -1, -1)
            steps.append(partial(torch.bmm, one, given[part, k], out=columns[:, k]))
        targets = windows(g, images)
        taps = columns.view(targets.shape)
        for u, v in product(*map(range, g.kernel)):
            steps.append(partial(targets[:, :, :, u, v].add_, taps[:, :, :, u, v]))
        steps.append(partial(inner(g, dx[part], -1).copy_, inner(g, images, 1)))
    return steps


def contiguous(x: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """x, or a contiguous copy and the run that fills it."""
    if x.is_contiguous():
        return x, []
    copy = scratch(workspace, x.shape, x)
    return copy, [partial(copy.copy_, x)]


def windows(g: Geometry, frame: Tensor) -> Tensor:
    """A view [n, group, i, u, v, p, q] of padded images."""
    n, c, h, w = frame.stride()
    shape = (len(frame), g.groups, g.i, *g.kernel, *g.counts)
    dilated = (h * g.dilations[0], w * g.dilations[1])
    moved = (h * g.strides[0], w * g.strides[1])
    return frame.as_strided(shape, (n, c * g.i, c, *dilated, *moved), frame.storage_offset())


def inner(g: Geometry, x: Tensor, sign: int) -> Tensor:
    """A view of x without a border: of what padding adds (sign 1) or cropping removes (-1)."""
    (top, bottom), (left, right) = ((max(0, sign * a), max(0, sign * b)) for a, b in g.around)
    return x[..., top : x.shape[-2] - bottom, left : x.shape[-1] - right]


def frame(g: Geometry, x: Tensor, images: int, take: Callable[..., Tensor]) -> Tensor:
    """Memory for padded images of the channels of x, taken by `take(shape, like, dtype, order)`.

    What is kept is zeros, and no step writes its border.
    """
    height, width = (e + sum(a) for e, a in zip(g.extents, g.around, strict=True))
    order = torch.contiguous_format if g.layout == "NCHW" else torch.channels_last
    return take((images, x.shape[1], height, width), x, None, order)


def filled_patches(
    g: Geometry, x: Tensor, workspace: Workspace, order: Sequence[int] = range(7)
) -> Iterator[tuple[slice, list[Run], Tensor]]:
    """For each slice of images: the slice, the runs that fill their patches, and the patches.

    These are [n, group, taps, p q], or [n, group, i, u, v, p, q] with its axes in another `order`.
    """
    whole = room(g, x, workspace)
    spare = frame(g, x, len(whole), partial(kept, workspace)) if g.pads else x
    for part in parts(g, x):
        source = inner(g, x[part], -1)
        images = spare[: len(source)] if g.pads else source
        columns, seen = whole[: len(source)], windows(g, images).permute(*order)
        fill: list[Run] = [partial(inner(g, images, 1).copy_, source)] if g.pads else []
        yield part, [*fill, partial(columns.view(seen.shape).copy_, seen)], columns


def room(g: Geometry, x: Tensor, workspace: Workspace) -> Tensor:
    """Scratch memory for the patches of one slice of images."""
    shape = (_chunk(g, x), g.groups, g.taps, g.pixels)
    return scratch(workspace, shape, x)


def _chunk(g: Geometry, x: Tensor) -> int:
    """The number of images computed at a time: their patches fit in CHUNK_BYTES; at least one."""
    image_bytes = g.groups * g.taps * g.pixels * int(x.element_size())
    return max(1, min(g.images, CHUNK_BYTES // image_bytes))


def parts(g: Geometry, x: Tensor) -> list[slice]:
    """Slices that cover the images, each of `_chunk` images at most."""
    size = _chunk(g, x)
    return [slice(i, min(i + size, g.images)) for i in range(0, g.images, size)]
