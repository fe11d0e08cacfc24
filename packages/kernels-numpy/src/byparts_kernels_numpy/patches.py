"""Convolution as a product of matrices: the patches under windows, copied side by side (im2col).

Arrays come as views with the axes always in this order, whatever their layout in memory:

    images x [n, group, i, h, w]    filters w [group, o, i, u, v]    pixels y [n, group, o, p, q]

There are two orders of the copy, and the layout of images does not decide which is better:

    columns   patches [n, group, i u v, p q], one product for each image: W P = Y
    rows      patches [group, n p q, u v i], one product for many images: P W = Y

Columns copy along the width of an image, so they suit few channels; rows copy along the channels,
and are made from images in NHWC order: others are copied to that order first.  A kernel of 1x1
needs no copy in the order of its layout.

Work is cut into chunks (some images, or some rows of one) whose patches fit a second-level cache.
All chunks use the same memory of the workspace; all views are made when a kernel is bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from byparts_graph_ir import TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_kernels_numpy.workspace import Shared
from byparts_opset.convolution import TO_OIHW, Convolution, placed
from byparts_opset.dtypes import Array
from byparts_opset.window import TO_NCHW, Pair, span

PATCH_BYTES = 1 << 19
FEW_CHANNELS = 8  # below this, columns


class Chunk(NamedTuple):
    """A part of the pixels y: those of images [first, last) in rows [top, bottom)."""

    first: int
    last: int
    top: int
    bottom: int


class Geometry(Frozen):
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
        layout: "NCHW" or "NHWC".
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
        """Elements of a patch: products for each pixel of y and output channel."""
        return self.i * self.kernel[0] * self.kernel[1]

    @property
    def pointwise(self) -> bool:
        """Whether the kernel is 1x1."""
        return self.kernel == (1, 1)

    @property
    def rows(self) -> bool:
        """Whether patches become rows of the matrix, not columns."""
        return self.layout == "NHWC" if self.pointwise else self.i >= FEW_CHANNELS

    def chunks(self, pixel_bytes: int) -> list[Chunk]:
        """Chunks that together are y, each of about PATCH_BYTES; none is larger than the first.

        Args:
            pixel_bytes: of the patch of one pixel in one group.
        """
        height, width = self.counts
        fitting = max(1, PATCH_BYTES // (self.groups * pixel_bytes * width))
        if fitting >= height:
            return [Chunk(a, b, 0, height) for a, b in _cuts(self.images, fitting // height)]
        cuts = _cuts(height, fitting)
        return [Chunk(n, n + 1, top, bottom) for n in range(self.images) for top, bottom in cuts]


def geometry(op: Convolution, x: Array, w: Array) -> Geometry:
    """The geometry of the convolution of x with the filter w, both in the layout of the op."""
    counts, around = placed(op, TensorType("f32", x.shape), TensorType("f32", w.shape))
    n, _, height, width = (x.shape[axis] for axis in TO_NCHW[op.layout])
    o, i, kh, kw = (w.shape[axis] for axis in TO_OIHW[op.layout])
    return Geometry(
        n, op.groups, i, o // op.groups, (height, width), (kh, kw), counts,
        op.strides, op.dilations, around, op.layout,
    )  # fmt: skip


def split_images(op: Convolution, x: Array) -> Array:
    """A view of images x, in the layout of the op, as [n, group, channel, h, w]."""
    view: Array = x.transpose(TO_NCHW[op.layout])
    n, c, h, w = view.shape
    return view.reshape(n, op.groups, c // op.groups, h, w)


def split_filter(op: Convolution, w: Array) -> Array:
    """A view of the filter w, in the layout of the op, as [group, o, i, u, v]."""
    view: Array = w.transpose(TO_OIHW[op.layout])
    o, i, kh, kw = view.shape
    return view.reshape(op.groups, o // op.groups, i, kh, kw)


def reversed_geometry(g: Geometry) -> Geometry:
    """The geometry of the convolution of dy with the filter reversed along u and v, which gives dx.

    Only for stride 1.
    """
    reaches = [span(k, d) or 0 for k, d in zip(g.kernel, g.dilations, strict=True)]
    (top, bottom), (left, right) = g.around
    around = (
        (reaches[0] - 1 - top, reaches[0] - 1 - bottom),
        (reaches[1] - 1 - left, reaches[1] - 1 - right),
    )
    return Geometry(
        g.images, g.groups, g.o, g.i, g.counts, g.kernel, g.extents,
        g.strides, g.dilations, around, g.layout,
    )  # fmt: skip


def patches(g: Geometry, x: Array, shared: Shared) -> Iterator[tuple[Chunk, list[Run], Array]]:
    """For each chunk of y: the chunk, the runs that fill its matrix of patches, and that matrix.

    The matrix is [n, group, i u v, p q], or [group, n p q, u v i] where patches are rows.
    """
    frames = PaddedImages(g, x, g.rows and g.layout == "NCHW", shared)
    for chunk in g.chunks(g.taps * x.itemsize):
        frame, steps = frames.to_read(chunk)
        seen = windows(g, frame)[..., chunk.top : chunk.bottom, :]
        m, pixels = chunk.last - chunk.first, seen.shape[-2] * seen.shape[-1]
        if g.rows:
            seen = seen.transpose(1, 0, 5, 6, 3, 4, 2)  # [group, n, p, q, u, v, i]
            shape: tuple[int, ...] = (g.groups, m * pixels, g.taps)
        else:
            shape = (m, g.groups, g.taps, pixels)
        matrix = merged(seen, shape) if g.pointwise else None
        if matrix is None:
            matrix = shared.take("patches", shape, x.dtype)
            steps.append(partial(np.copyto, matrix.reshape(seen.shape), seen))
        yield chunk, steps, matrix


def pixel_matrix(g: Geometry, y: Array, chunk: Chunk, shared: Shared) -> tuple[Array, Array, Array]:
    """The pixels of a chunk of y, as a matrix for a product with patches.

    Returns:
        The matrix: [n, group, o, p q], or [group, n p q, o] where patches are rows.
        The view of y that the pixels are, [n, group, o, p, q].
        The elements of the matrix in that shape: another array where the matrix is in the
        workspace, and the caller copies between the two; else the same view.
    """
    part = y[chunk.first : chunk.last, :, :, chunk.top : chunk.bottom]
    m, groups, o, p, q = part.shape
    if not g.rows:
        return part.reshape(m, groups, o, p * q), part, part
    if g.layout == "NHWC":
        matrix = part.transpose(1, 0, 3, 4, 2).reshape(groups, m * p * q, o)
        return matrix, part, part
    in_rows = shared.take("pixels", (m, p, q, groups, o), y.dtype)
    matrix = in_rows.reshape(m * p * q, groups, o).transpose(1, 0, 2)
    return matrix, part, in_rows.transpose(0, 3, 4, 1, 2)


class PaddedImages:
    """The images of one chunk at a time, padded.

    Where they need a border or another order in memory they are a copy in the workspace, else a
    view of x.

    Args:
        g: the convolution.
        x: images [n, group, i, h, w].
        reorder: whether to copy them to the order that the patches want.
        shared: the memory of the step.
    """

    def __init__(self, g: Geometry, x: Array, reorder: bool, shared: Shared) -> None:
        self._g, self._x, self._shared = g, x, shared
        self._copied = reorder or any(p > 0 for pair in g.around for p in pair)
        self._crops = any(p < 0 for pair in g.around for p in pair)

    def to_read(self, chunk: Chunk) -> tuple[Array, list[Run]]:
        """The padded images of a chunk [n, group, i, h, w], and the runs that fill them.

        There are none where an earlier chunk of the same image has filled them.
        """
        source = self._inside(self._x[chunk.first : chunk.last], -1)
        if not self._copied:
            return source, []
        frame = self._take(chunk)
        steps: list[Run] = []
        if chunk.first == chunk.top == 0:  # nobody else writes to the border during this step
            steps += [partial(np.copyto, part, 0) for part in self._border(frame)]
        if chunk.top == 0:
            steps.append(partial(np.copyto, self._inside(frame, 1), source))
        return frame, steps

    def to_add_to(self, chunk: Chunk) -> tuple[Array, list[Run], list[Run]]:
        """The padded images of a chunk, to add gradients to, [n, group, i, h, w].

        Also the runs before the first addition to an image, which write zeros, and the runs after
        the last one, which copy the sums to x.
        """
        target = self._x[chunk.first : chunk.last]
        frame = self._take(chunk) if self._copied else self._inside(target, -1)
        whole = self._crops or not self._copied  # x has elements that nothing is copied to
        before: list[Run] = [partial(target.fill, 0)] if whole else []
        after: list[Run] = []
        if self._copied:
            before.append(partial(frame.fill, 0))
            inner = self._inside(target, -1)
            after = [partial(np.copyto, inner, self._inside(frame, 1))]
        last = chunk.bottom == self._g.counts[0]
        return frame, before if chunk.top == 0 else [], after if last else []

    def _take(self, chunk: Chunk) -> Array:
        g, m = self._g, chunk.last - chunk.first
        h, w = (e + sum(p) for e, p in zip(g.extents, g.around, strict=True))
        if g.rows:
            memory = self._shared.take("frame", (m, h, w, g.groups, g.i), self._x.dtype)
            images: Array = memory.transpose(0, 3, 4, 1, 2)
            return images
        return self._shared.take("frame", (m, g.groups, g.i, h, w), self._x.dtype)

    def _border(self, frame: Array) -> list[Array]:
        """Views of the padded images that together are the border that padding adds."""
        (top, bottom), (left, right) = (tuple(max(0, p) for p in pair) for pair in self._g.around)
        height, width = frame.shape[-2:]
        parts = (
            frame[..., :top, :],
            frame[..., height - bottom :, :],
            frame[..., :left],
            frame[..., width - right :],
        )
        return [part for part in parts if part.size]

    def _inside(self, x: Array, sign: int) -> Array:
        """A view of x without a border: of what padding adds (sign 1) or cropping removes (-1)."""
        (top, bottom), (left, right) = (
            (max(0, sign * a), max(0, sign * b)) for a, b in self._g.around
        )
        return x[..., top : x.shape[-2] - bottom, left : x.shape[-1] - right]


def windows(g: Geometry, frame: Array) -> Array:
    """A view of padded images as [n, group, i, u, v, p, q]: the element u, v of each window."""
    n, group, i, h, w = frame.strides
    dilated = (h * g.dilations[0], w * g.dilations[1])
    moved = (h * g.strides[0], w * g.strides[1])
    shape = (*frame.shape[:3], *g.kernel, *g.counts)
    return as_strided(frame, shape, (n, group, i, *dilated, *moved))


def merged(x: Array, shape: tuple[int, ...]) -> Array | None:
    """x with axes merged, if that needs no copy and leaves matrices that BLAS takes."""
    y = x.reshape(shape)
    rows, columns = y.strides[-2:]
    regular = min(rows, columns) == x.itemsize and max(rows, columns) > 0
    return y if regular and np.may_share_memory(x, y) else None


def _cuts(count: int, most: int) -> list[tuple[int, int]]:
    """[0, count) in even parts of at most `most`."""
    parts = -(-count // most)
    size = -(-count // max(1, parts))
    return [(a, min(a + size, count)) for a in range(0, count, max(1, size))]
