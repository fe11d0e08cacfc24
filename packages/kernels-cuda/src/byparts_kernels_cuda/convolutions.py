"""Convolutions of opset as contractions: an operand says which pixel or filter element it reads.

Nothing is copied beforehand (no im2col): a block reads the pixels under its window when it needs
them, and 0 where the window reaches into the padding.

    forward            y[o, (n p q)]   =  sum over (i u v)  of   w[o, (i u v)]  x[(n p q), (i u v)]
    transposed         y[i, (n h w)]   =  sum over (o u v)  of   w[i, (o u v)]  x[(n h w), (o u v)]
    filter gradient    dw[o, (i u v)]  =  sum over (n p q)  of  dy[o, (n p q)]  x[(i u v), (n p q)]

So for NCHW.  For NHWC rows and columns are exchanged, and channels come last of (i u v), so that
neighbours in memory are neighbours of the contraction.  A transposed convolution with strides is
one launch for each phase of the rows and columns of y, on the taps that reach them.  The batch of a
contraction is the groups; groups of a few channels are no contraction worth the name, and become
the plain loops of tensor-ir, mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Union

from byparts_gpu_ir.launches import Launches
from byparts_gpu_ir.mapping import mapped
from byparts_graph_ir import Refused, TensorType
from byparts_kernels_cuda.builder import array
from byparts_kernels_cuda.phases import Phase, phases
from byparts_kernels_cuda.products.after import After, addends_of, followed
from byparts_kernels_cuda.products.contraction import (
    Contraction,
    Index,
    Operand,
    decoded,
    has_kernels,
    lanes_of,
)
from byparts_kernels_cuda.products.sides import AnyTile
from byparts_kernels_cuda.products.tiled import tiled
from byparts_kernels_cuda.products.tiles import tile_of
from byparts_op_loops.function import function
from byparts_opset import Conv2d, Conv2dFilterGradient, Conv2dTranspose
from byparts_opset.convolution import TO_OIHW, placed
from byparts_opset.window import TO_NCHW
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import Buffer, Func

Op = Union[Conv2d, Conv2dTranspose, Conv2dFilterGradient]
Pair = tuple[int, int]
Choice = tuple[AnyTile, int]  # and how many blocks share a sum
_THIN = 4  # channels of a group; a tile would be nearly empty, so the loops are mapped as they are


def convolution_launches(
    op: Op,
    types: Sequence[TensorType],
    choice: Choice | None = None,
    after: After | None = None,
) -> Launches:
    """Launches for the inputs of the op, the arrays of `after`, then y.

    Args:
        op: the convolution, or one of its gradients.
        types: of its inputs.
        choice: a tile other than the one that the extents ask for.
        after: what is done with each element, if anything; not where groups are thin.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    if not has_kernels(types[0].dtype):
        operands = ", ".join(map(str, types))
        raise Refused(f"{op.name} of ({operands}): no kernels of {types[0].dtype}")
    sizes = _Sizes(op, types)
    if choice is None and sizes.groups > 1 and max(sizes.outputs, sizes.i) <= _THIN:
        return mapped(function[op](op, types).func)
    (*inputs, y), parts = _FORMS[type(op)](sizes)
    more = addends_of(after, op.infer(*types)[0], y)
    kernels: list[Func] = []
    workspace: list[Buffer] = []
    for part in parts if y.size.attr else ():
        c = followed(part, after, more)
        extents = (c.a.extent, c.b.extent, c.sums, c.batch)
        tiles, memory = tiled(c, *(choice or tile_of(*extents, c.y.dtype)))
        kernels += tiles
        workspace += memory
    parameters = (*inputs, *[x.buffer for x in more], y)
    return Launches(parameters, tuple(workspace), tuple(kernels))


class _Sizes:
    """Extents of images x, filters w and results y of the convolution whose gradient an op may be.

    Images of one pixel under a window of one pixel have their pixels in one row.

    Attributes:
        n, c, o, i: images, channels of x and of y, and channels of x in a group.
        image, counts, kernel: (rows, columns) of x, of y, and of a filter.
        lower: (rows, columns) of padding before the image.
        strides, dilations, groups: of the op.
        last: whether channels come last in memory (NHWC, HWIO).
        pointwise: whether each pixel of y is of one pixel of x, in the same order.
    """

    def __init__(self, op: Op, types: Sequence[TensorType]) -> None:
        results = op.infer(*types)
        x, y, w = types[0], results[0], types[1]
        if isinstance(op, Conv2dTranspose):
            x, y = y, x
        elif isinstance(op, Conv2dFilterGradient):
            y, w = types[1], types[2]
        self.dtype, self.last = x.dtype, op.layout == "NHWC"
        self.n, self.c, *image = [x.dims[a] for a in TO_NCHW[op.layout]]
        counts = [y.dims[a] for a in TO_NCHW[op.layout][2:]]
        self.o, self.i, *kernel = [w.dims[a] for a in TO_OIHW[op.layout]]
        around = op.padding if isinstance(op, Conv2dTranspose) else placed(op, x, w)[1]
        lower = [a for a, _ in around]
        self.strides, self.dilations, self.groups = op.strides, op.dilations, op.groups
        self.pointwise = (
            kernel == [1, 1] and op.strides == (1, 1) and lower == [0, 0] and image == counts
        )
        if self.pointwise:
            image = counts = [1, prod(image)]
        self.image, self.counts, self.kernel, self.lower = image, counts, kernel, lower
        self.outputs = self.o // self.groups  # of a group

    def images(self, name: str, channels: int, extents: Sequence[int]) -> Buffer:
        """Images of this many channels in all, with rows and columns apart."""
        shape = (*extents, channels) if self.last else (channels, *extents)
        return array(name, (self.n, *shape), self.dtype)

    def pixels(self, name: str, channels: int, extents: Sequence[int]) -> Buffer:
        """Images whose pixels are one axis."""
        count = prod(extents)
        shape = (count, channels) if self.last else (channels, count)
        return array(name, (self.n, *shape), self.dtype)

    def at(self, n: Expr, channel: Expr, *pixel: Expr) -> Index:
        """An index of images."""
        return (n, *pixel, channel) if self.last else (n, channel, *pixel)

    def taps(self, index: Expr, channels: int, kernel: Sequence[int]) -> Index:
        """(channel, row, column) of a linear index over channels and filter elements."""
        if self.last:
            u, v, i = decoded(index, (kernel[0], kernel[1], channels))
            return i, u, v
        i, u, v = decoded(index, (channels, kernel[0], kernel[1]))
        return i, u, v

    def filters(self) -> Buffer:
        """(output channel, all others), or (all others, output channel)."""
        count = self.i * prod(self.kernel)
        return array("W", (count, self.o) if self.last else (self.o, count), self.dtype)

    def filter_lanes(self) -> int:
        """Neighbours of a filter that one access takes, along its last axis."""
        count = self.i * prod(self.kernel)
        return (
            lanes_of(self.dtype, self.outputs, self.o) if self.last else lanes_of(self.dtype, count)
        )

    def pixel_lanes(self, of_group: int, channels: int, extents: Sequence[int]) -> int:
        """Neighbours of images that one access takes, along their last axis."""
        last = (of_group, channels) if self.last else (prod(extents),)
        return lanes_of(self.dtype, *last)


def _forward(s: _Sizes) -> tuple[tuple[Buffer, ...], list[Contraction]]:
    """(x, w, y) and the contraction."""
    window, w, y = _Window(s), s.filters(), s.pixels("Y", s.o, s.counts)

    def of_filter(b: Expr, o: Expr, r: Expr) -> Index:
        o = b * s.outputs + o
        return (r, o) if s.last else (o, r)

    along = ("sum", "outer")
    filters = Operand(w, s.outputs, of_filter, along[s.last], s.filter_lanes())
    pixels = Operand(
        window.x,
        s.n * prod(s.counts),
        window.index,
        along[not s.last],
        window.lanes,
        window.inside,
    )
    lanes = s.pixel_lanes(s.outputs, s.o, s.counts)
    place = _pixel(s, s.outputs, s.counts)
    return (window.x, w, y), [_contraction(s, (filters, pixels), window.taps, (y, place, lanes))]


def _filter_gradient(s: _Sizes) -> tuple[tuple[Buffer, ...], list[Contraction]]:
    """(x, dy, like, dw) and the contraction."""
    window, dw, dy = _Window(s), s.filters(), s.pixels("DY", s.o, s.counts)
    pixel = _pixel(s, s.outputs, s.counts)

    def place(b: Expr, o: Expr, tap: Expr) -> Index:
        o = b * s.outputs + o
        return (tap, o) if s.last else (o, tap)

    along = ("sum", "outer")[s.last]
    gradients = Operand(dy, s.outputs, pixel, along, s.pixel_lanes(s.outputs, s.o, s.counts))
    pixels = Operand(
        window.x,
        window.taps,
        lambda b, tap, j: window.index(b, j, tap),
        along,
        window.lanes,
        lambda b, tap, j: window.inside(b, j, tap),
    )
    sums = s.n * prod(s.counts)
    c = _contraction(s, (gradients, pixels), sums, (dw, place, s.filter_lanes()))
    return (window.x, dy, array("like", (s.o, window.taps), s.dtype), dw), [c]


class _Window:
    """Images as the window sees them: by linear pixel of y, and linear element of the filter."""

    def __init__(self, s: _Sizes) -> None:
        self.s, self.x = s, s.images("X", s.c, s.image)
        self.taps = s.i * prod(s.kernel)
        self.lanes = 1
        if s.last or s.pointwise:
            self.lanes = s.pixel_lanes(s.i, s.c, s.image)
        ends = [
            (count - 1) * stride + (k - 1) * dilation - lower
            for count, stride, k, dilation, lower in zip(
                s.counts, s.strides, s.kernel, s.dilations, s.lower, strict=True
            )
        ]
        self.whole = max(s.lower) <= 0 and all(e < x for e, x in zip(ends, s.image, strict=True))

    def index(self, b: Expr, j: Expr, tap: Expr) -> Index:
        """Index in x of an element that the window reads, in the image or around it."""
        n, channel, *at = self._at(b, j, tap)
        return self.s.at(n, channel, *at)

    def inside(self, b: Expr, j: Expr, tap: Expr) -> Index:
        """Conditions for the element to be in the image; none where all elements are."""
        if self.whole:
            return ()
        return _within(self._at(b, j, tap)[2:], self.s.image)

    def _at(self, b: Expr, j: Expr, tap: Expr) -> list[Expr]:
        s = self.s
        n, *pixel = decoded(j, (s.n, *s.counts))
        i, *element = s.taps(tap, s.i, s.kernel)
        at = [
            p * stride + u * dilation - lower
            for p, stride, u, dilation, lower in zip(
                pixel, s.strides, element, s.dilations, s.lower, strict=True
            )
        ]
        return [n, b * s.i + i, *at]


def _transposed(s: _Sizes) -> tuple[tuple[Buffer, ...], list[Contraction]]:
    """(x, w, y) and a contraction for each phase of the rows and columns of y."""
    buffers = (s.images("X", s.o, s.counts), s.filters(), s.pixels("Y", s.c, s.image))
    axes = [
        phases(extent, k, stride, dilation, lower)
        for extent, k, stride, dilation, lower in zip(
            s.image, s.kernel, s.strides, s.dilations, s.lower, strict=True
        )
    ]
    return buffers, [_phase(s, buffers, both) for both in product(*axes)]


def _phase(s: _Sizes, buffers: tuple[Buffer, ...], both: tuple[Phase, ...]) -> Contraction:
    """Some rows and columns of y: x is given, and has the channels of what `_forward` makes."""
    x, w, y = buffers
    taps, counts = [p.taps for p in both], [p.count for p in both]

    def at(b: Expr, j: Expr, r: Expr) -> list[Expr]:
        n, *pixel = decoded(j, (s.n, *counts))
        o, *element = s.taps(r, s.outputs, taps)
        of = [p.first - t * p.back + k for p, t, k in zip(both, element, pixel, strict=True)]
        return [n, b * s.outputs + o, *of]

    def index(b: Expr, j: Expr, r: Expr) -> Index:
        n, o, *pixel = at(b, j, r)
        return s.at(n, o, *pixel)

    def of_filter(b: Expr, i: Expr, r: Expr) -> Index:
        o, t, z = s.taps(r, s.outputs, taps)
        u, v = (p.tap + e * p.tap_step for p, e in zip(both, (t, z), strict=True))
        o, element = b * s.outputs + o, u * s.kernel[1] + v
        return (element * s.i + i, o) if s.last else (o, i * prod(s.kernel) + element)

    def place(b: Expr, i: Expr, j: Expr) -> Index:
        n, *pixel = decoded(j, (s.n, *counts))
        h, v = (p.row + k * stride for p, k, stride in zip(both, pixel, s.strides, strict=True))
        return s.at(n, b * s.i + i, h * s.image[1] + v)

    plain = s.strides == (1, 1)
    dense = s.last or s.pointwise
    turned = not s.last and s.kernel == [1, 1]  # rows of a filter of one element are its i
    filter_lanes = lanes_of(s.dtype, s.outputs, s.o) if s.last else lanes_of(s.dtype, s.i)
    filters = Operand(
        w,
        s.i,
        of_filter,
        "outer" if turned else "sum",
        filter_lanes if s.last or turned else 1,
    )
    pixels = Operand(
        x,
        s.n * prod(counts),
        index,
        "sum" if s.last else "outer",
        s.pixel_lanes(s.outputs, s.o, s.counts) if dense else 1,
        lambda b, j, r: () if s.pointwise else _within(at(b, j, r)[2:], s.counts),
    )
    lanes = s.pixel_lanes(s.i, s.c, s.image) if s.last or plain else 1
    return _contraction(s, (filters, pixels), s.outputs * prod(taps), (y, place, lanes))


def _within(at: Sequence[Expr], extents: Sequence[int]) -> Index:
    """Conditions for an index to be within the extents."""
    return tuple([c for i, extent in zip(at, extents, strict=True) for c in (i >= 0, i < extent)])


def _pixel(s: _Sizes, of_group: int, extents: Sequence[int]) -> Callable[[Expr, Expr, Expr], Index]:
    """(group, channel of it, linear pixel) -> index of images whose pixels are one axis."""

    def index(b: Expr, channel: Expr, j: Expr) -> Index:
        n, pixel = decoded(j, (s.n, prod(extents)))
        return s.at(n, b * of_group + channel, pixel)

    return index


Result = tuple[Buffer, Callable[[Expr, Expr, Expr], Index], int]


def _contraction(
    s: _Sizes, sides: tuple[Operand, Operand], sums: int, result: Result
) -> Contraction:
    """The contraction of (channels, places): channels are rows where they come first in memory.

    Args:
        s: the sizes.
        sides: the operands; the outer index of the first is a channel.
        sums: extent of the summed index.
        result: y, (group, channel, place) -> index of y, and its lanes.
    """
    channels, places = sides
    y, place, lanes = result
    if s.last:
        turned = lambda b, i, j: place(b, j, i)  # noqa: E731
        return Contraction(s.groups, places, channels, sums, y, turned, lanes)
    return Contraction(s.groups, channels, places, sums, y, place, lanes)


_FORMS = {
    Conv2d: _forward,
    Conv2dTranspose: _transposed,
    Conv2dFilterGradient: _filter_gradient,
}
