"""Convolution as a product of matrices: the patches under windows, copied side by side (im2col).

Arrays come as views with the axes always in this order, whatever their layout in memory:

    images x [n, group, i, h, w]    filters w [group, o, i, u, v]    pixels y [n, group, o, p, q]

There are two orders of the copy, and the layout of images does not decide which is better:

    columns   patches [n, group, i u v, p q], one product for each image: W P = Y
    rows      patches [group, n p q, u v i], one product for many images: P W = Y

Columns copy along the width of an image, so they suit few channels; rows copy along the channels,
and are made from images that were turned to NHWC before, if they were not.  A kernel of 1x1 needs
no copy in the order of its layout.

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
    """Images [first, last) and rows [top, bottom) of their pixels."""

    first: int
    last: int
    top: int
    bottom: int


class Geometry(Frozen):
    """The numbers of a convolution: channels `i` and `o` of a group, `counts` of windows."""

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
        """Products for each pixel."""
        return self.i * self.kernel[0] * self.kernel[1]

    @property
    def pointwise(self) -> bool:
        """Whether the kernel is 1x1."""
        return self.kernel == (1, 1)

    @property
    def rows(self) -> bool:
        """Whether patches are rows."""
        return self.layout == "NHWC" if self.pointwise else self.i >= FEW_CHANNELS

    def chunks(self, pixel_bytes: int) -> list[Chunk]:
        """Chunks of about PATCH_BYTES, the first not smaller than any other."""
        height, width = self.counts
        fitting = max(1, PATCH_BYTES // (self.groups * pixel_bytes * width))
        if fitting >= height:
            return [Chunk(a, b, 0, height) for a, b in _cuts(self.images, fitting // height)]
        cuts = _cuts(height, fitting)
        return [Chunk(n, n + 1, top, bottom) for n in range(self.images) for top, bottom in cuts]


def geometry(op: Convolution, x: Array, w: Array) -> Geometry:
    """Of the convolution that takes x (in its layout) and the filter w."""
    counts, around = placed(op, TensorType("f32", x.shape), TensorType("f32", w.shape))
    n, _, height, width = (x.shape[axis] for axis in TO_NCHW[op.layout])
    o, i, kh, kw = (w.shape[axis] for axis in TO_OIHW[op.layout])
    return Geometry(
        n, op.groups, i, o // op.groups, (height, width), (kh, kw), counts,
        op.strides, op.dilations, around, op.layout,
    )  # fmt: skip


def split_images(op: Convolution, x: Array) -> Array:
    """A view [n, group, channel, h, w]."""
    view: Array = x.transpose(TO_NCHW[op.layout])
    n, c, h, w = view.shape
    return view.reshape(n, op.groups, c // op.groups, h, w)


def split_filter(op: Convolution, w: Array) -> Array:
    """A view [group, o, i, u, v]."""
    view: Array = w.transpose(TO_OIHW[op.layout])
    o, i, kh, kw = view.shape
    return view.reshape(op.groups, o // op.groups, i, kh, kw)


def reversed_geometry(g: Geometry) -> Geometry:
    """Of the convolution that takes pixels back to images, the filter turned round.  Stride 1."""
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
    """For each chunk, how to fill its matrix of patches, and that matrix."""
    frames = Frames(g, x, g.rows and g.layout == "NCHW", shared)
    for chunk in g.chunks(g.taps * x.itemsize):
        frame, steps = frames.load(chunk)
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
    """The pixels of a chunk as a matrix, as they stand, and as they stand in the workspace.

    The latter two are one where no copy is needed.  Rows: [group, n p q, o]; columns: [n, group, o,
    p q].
    """
    part = y[chunk.first : chunk.last, :, :, chunk.top : chunk.bottom]
    m, groups, o, p, q = part.shape
    if not g.rows:
        return part.reshape(m, groups, o, p * q), part, part
    if g.layout == "NHWC":
        matrix = part.transpose(1, 0, 3, 4, 2).reshape(groups, m * p * q, o)
        return matrix, part, part
    turned = shared.take("pixels", (m, p, q, groups, o), y.dtype)
    matrix = turned.reshape(m * p * q, groups, o).transpose(1, 0, 2)
    return matrix, part, turned.transpose(0, 3, 4, 1, 2)


class Frames:
    """Padded images, one chunk at a time: in the workspace if they must be padded or turned."""

    def __init__(self, g: Geometry, x: Array, turn: bool, shared: Shared) -> None:
        self._g, self._x, self._shared = g, x, shared
        self._copied = turn or any(p > 0 for pair in g.around for p in pair)
        self._crops = any(p < 0 for pair in g.around for p in pair)

    def load(self, chunk: Chunk) -> tuple[Array, list[Run]]:
        """The frame [n, group, i, h, w] and how to fill it, for the first rows of an image."""
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

    def store(self, chunk: Chunk) -> tuple[Array, list[Run], list[Run]]:
        """The frame to add to; how to clear it before, and what to do after the last rows."""
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
            turned: Array = memory.transpose(0, 3, 4, 1, 2)
            return turned
        return self._shared.take("frame", (m, g.groups, g.i, h, w), self._x.dtype)

    def _border(self, frame: Array) -> list[Array]:
        """What padding adds: views of the frame that together are all but its inside."""
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
        """Without the border that padding (1) or cropping (-1) gives it."""
        (top, bottom), (left, right) = (
            (max(0, sign * a), max(0, sign * b)) for a, b in self._g.around
        )
        return x[..., top : x.shape[-2] - bottom, left : x.shape[-1] - right]


def windows(g: Geometry, frame: Array) -> Array:
    """A view [n, group, i, u, v, p, q] of padded images."""
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
