"""Convolutions as contractions: which frame of images they read, and what are rows, lanes and sums.

Images are copied into a frame with their padding, a few at a time so that they stay in the second
cache; where nothing is padded they are read in place.  Strides and dilations are steps in it.  A
transposed convolution with strides is one contraction for each of the phases of its pixels, on the
taps that reach them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import gcd, prod

from byparts_graph_ir import TensorType
from byparts_kernels_native.convolution.contraction import Contraction, Level
from byparts_opset import Conv2d, Conv2dFilterGradient, Conv2dTranspose
from byparts_opset.convolution import TO_OIHW, Convolution, placed
from byparts_opset.window import TO_NCHW, Pair
from byparts_tensor_ir.expression import BYTES

ROWS_OF_IMAGES = 192  # pixels that share a pass over the packed filter
LEAST_LINE = 4  # elements of a line that is added to y as a vector of its own
CACHED = 256 << 10  # bytes of images and gradients that are worked on at a time
Steps = tuple[int, int, int, int]  # from one n, c, h, w (or o, i, u, v) to the next


@dataclass(frozen=True)
class Array:
    """Extents and steps of n, c, h, w (images) or o, i, u, v (filters)."""

    extents: Steps
    steps: Steps

    @property
    def elements(self) -> int:
        """Number of elements of the array."""
        return prod(self.extents)


def _array(type: TensorType, to: Sequence[int]) -> Array:
    strides = [prod(type.dims[axis + 1 :]) for axis in range(4)]
    e, s = ([values[a] for a in to] for values in (type.dims, strides))
    return Array((e[0], e[1], e[2], e[3]), (s[0], s[1], s[2], s[3]))


@dataclass(frozen=True)
class Frame:
    """Memory that images are read from: `x` in place, or a copy with padding.

    Attributes:
        steps: from one n, c, h, w to the next.
        start: of the first image's padded corner.
        copy: C that copies images from `x` to `frame`; empty in place.
    """

    steps: Steps
    start: int = 0
    copy: str = ""


def _frame(x: Array, corner: Pair, needed: Pair, images: int, bytes: int) -> Frame:
    """Make the frame of images of which `needed` rows and columns are read, from `-corner` on."""
    (_, c, h, w), (n_step, c_step, h_step, w_step) = x.extents, x.steps
    (top, left), (rows, columns) = corner, needed
    last = w_step == c  # NHWC, or one channel
    fits = top <= 0 and left <= 0 and rows - top <= h and columns - left <= w
    crowded = not last and c > 8 and c_step * bytes % 2048 == 0  # few lines of the first cache
    if fits and not crowded:
        return Frame(x.steps, -top * h_step - left * w_step)
    planes, wide = (1, c) if last else (c, 1)
    line = columns * wide
    plane = (-(-rows * line // 16) | 1) * 16  # an odd number of lines of the cache
    begin, end = max(0, left), max(min(columns, left + w), max(0, left))
    copy = f"""  for (int64_t i = 0; i < {images * planes}; i++) {{
    T *f = frame + i * {plane};
    const T *from = x + i / {planes} * INT64_C({n_step}) + i % {planes} * {c_step};
    memset(f, 0, {0 if fits else plane} * sizeof(T));
    for (int64_t r = {max(0, top)}; r < {min(rows, top + h)}; r++)
      memcpy(f + r * {line} + {begin * wide},
             from + (r - {top}) * {h_step} + {(begin - left) * wide},
             {(end - begin) * wide} * sizeof(T));
  }}
"""
    return Frame((planes * plane, 1 if last else plane, line, wide), 0, copy)


@dataclass(frozen=True)
class Piece:
    """A contraction, and where in s, q and y it begins."""

    c: Contraction
    s: int = 0
    q: int = 0
    y: int = 0

    def swapped(self) -> Piece:
        """The same with rows and lanes, s and q exchanged."""
        c = self.c.permuted(lambda x: Level(x.extent, x.q, x.s, x.y))
        return Piece(Contraction(c.lanes, c.rows, c.sums, c.adds), self.q, self.s, self.y)


@dataclass(frozen=True)
class Plan:
    """Contractions that one convolution consists of, and how they are repeated.

    Attributes:
        frame: of the images that are read at steps.
        pieces: with s in the frame.
        image: steps of x, q and y from one image to the next (0: all images share it).
        group: steps of s, q and y from one group of channels to the next.
        images, batch, groups: images at a time, how many times, groups of channels.
        gaps: whether elements of y belong to no piece, and are 0.
    """

    frame: Frame
    pieces: tuple[Piece, ...]
    image: tuple[int, int, int]
    group: tuple[int, int, int]
    images: int
    batch: int
    groups: int
    gaps: bool = False


def _images_at_a_time(count: int, enough: float) -> int:
    """The least divisor of `count` that is enough, or all."""
    return next(d for d in range(1, count + 1) if count % d == 0 and (d >= enough or d == count))


def _last(op: Convolution, levels: list[Level]) -> tuple[Level, ...]:
    """Sums over channels, rows and columns in the order in which they lie in memory."""
    return tuple(levels if op.layout == "NCHW" else [*levels[1:], levels[0]])


def forward(op: Conv2d, types: Sequence[TensorType]) -> Plan:
    """Rows: pixels of y.  Lanes: its channels.  Sums: channels of x, elements of the filter."""
    x, w = _array(types[0], TO_NCHW[op.layout]), _array(types[1], TO_OIHW[op.layout])
    y = _array(op.infer(*types)[0], TO_NCHW[op.layout])
    images = _images_at_a_time(y.extents[0], ROWS_OF_IMAGES / prod(y.extents[2:]))
    return _windows(op, x, w, y, placed(op, *types)[1], images, BYTES[types[0].dtype])


def filter_gradient(op: Conv2dFilterGradient, types: Sequence[TensorType]) -> Plan:
    """`forward` with sums and rows exchanged, and the filter and y.

    Rows: elements of a filter.  Lanes: filters.  Sums: images and their pixels.
    """
    x, dy = (_array(t, TO_NCHW[op.layout]) for t in types[:2])
    w, bytes = _array(types[2], TO_OIHW[op.layout]), BYTES[types[0].dtype]
    of_an_image = (x.elements + dy.elements) // x.extents[0] * bytes
    enough = max(CACHED, w.elements * bytes // 2) / of_an_image
    images = _images_at_a_time(x.extents[0], enough)
    plan = _windows(op, x, w, dy, placed(op, types[0], types[2])[1], images, bytes)
    (p,) = plan.pieces
    c = p.c.permuted(lambda x: Level(x.extent, x.s, x.y, x.q))
    piece = replace(p, c=Contraction(c.sums, c.lanes, c.rows))
    (of_x, of_w, of_y), (s, q, y) = plan.image, plan.group
    return replace(plan, pieces=(piece,), image=(of_x, of_y, of_w), group=(s, y, q))


def _windows(
    op: Convolution,
    x: Array,
    w: Array,
    y: Array,
    around: tuple[Pair, Pair],
    images: int,
    bytes: int,
) -> Plan:
    """Products of each window of x, of an element of so many bytes, with each filter.

    `around` is the padding before and behind the rows, and the columns, of x; so many `images` are
    worked on at a time.
    """
    (o, i, *kernel), (n, _, *counts) = w.extents, y.extents
    out = o // op.groups
    needed = [
        (counts[a] - 1) * op.strides[a] + (kernel[a] - 1) * op.dilations[a] + 1 for a in (0, 1)
    ]
    corner = (around[0][0], around[1][0])
    frame = _frame(x, corner, (needed[0], needed[1]), images, bytes)
    rows = [Level(images, s=frame.steps[0], y=y.steps[0])]
    sums = [Level(i, frame.steps[1], w.steps[1])]
    for axis, step in enumerate(frame.steps[2:]):
        rows.append(Level(counts[axis], s=step * op.strides[axis], y=y.steps[2 + axis]))
        sums.append(Level(kernel[axis], step * op.dilations[axis], w.steps[2 + axis]))
    lanes = (Level(out, q=w.steps[0], y=y.steps[1]),)
    piece = Piece(Contraction(tuple(rows), lanes, _last(op, sums)), s=frame.start)
    group = (i * frame.steps[1], out * w.steps[0], out * y.steps[1])
    image = (x.steps[0], 0, y.steps[0])
    return Plan(frame, (piece,), image, group, images, n // images, op.groups)


def transposed(op: Conv2dTranspose, types: Sequence[TensorType]) -> Plan:
    """A contraction for each phase of the pixels of y, as `forward` on the taps that reach them."""
    x, w = _array(types[0], TO_NCHW[op.layout]), _array(types[1], TO_OIHW[op.layout])
    y = _array(op.infer(*types)[0], TO_NCHW[op.layout])
    i, n, out = w.extents[1], x.extents[0], w.extents[0] // op.groups
    phases = [_phases(op, axis, w.extents[2 + axis], y.extents[2 + axis]) for axis in (0, 1)]
    corner, needed = _reached(phases)
    pixels = prod(y.extents[2:]) / (op.strides[0] * op.strides[1])
    at_a_time = _images_at_a_time(n, ROWS_OF_IMAGES / pixels)
    frame = _frame(x, corner, needed, at_a_time, BYTES[types[0].dtype])
    pieces = []
    for both in product(*phases):
        rows = [Level(at_a_time, s=frame.steps[0], y=y.steps[0])]
        sums, at = [Level(out, frame.steps[1], w.steps[0])], [frame.start, 0, 0]
        for axis, p in enumerate(both):
            s, q, step = (a.steps[2 + axis] for a in (frame, w, y))
            rows.append(Level(p.count, s=s, y=step * op.strides[axis]))
            sums.append(Level(p.taps, p.step * s, -p.tap_step * q))
            at[0] += (corner[axis] + p.first) * s
            at[1] += p.last_tap * q
            at[2] += p.row * step
        lanes = (Level(i, q=w.steps[1], y=y.steps[1]),)
        pieces.append(Piece(Contraction(tuple(rows), lanes, _last(op, sums)), *at))
    reached = prod(sum(p.count for p in some) for some in phases)
    return Plan(
        frame,
        tuple(pieces),
        (x.steps[0], 0, y.steps[0]),
        (out * frame.steps[1], out * w.steps[0], i * y.steps[1]),
        *(at_a_time, n // at_a_time, op.groups),
        gaps=reached < prod(y.extents[2:]),
    )


def added(op: Conv2dTranspose, types: Sequence[TensorType], width: int) -> Plan | None:
    """Products of all elements of x and of the filter, added to y; `None` where there is padding.

    `transposed` multiplies by zeros around x, too: where that is half as much again, it is dearer
    than to add up.  Lines of x are whole vectors of `width`, or a vector is some whole lines.
    """
    x, w = _array(types[0], TO_NCHW[op.layout]), _array(types[1], TO_OIHW[op.layout])
    y = _array(op.infer(*types)[0], TO_NCHW[op.layout])
    few = 2 * prod(y.extents[2:]) < 3 * prod(x.extents[2:])
    plain = op.layout == "NCHW" and op.padding == ((0, 0), (0, 0)) and op.strides == (1, 1)
    line = x.extents[3]
    whole_lines = line >= LEAST_LINE and width % line == 0 and prod(x.extents[2:]) % width == 0
    if few or not plain or not (line % width == 0 or whole_lines):
        return None
    (n, _, *counts), i, out = x.extents, w.extents[1], w.extents[0] // op.groups
    pixels = [Level(counts[a], s=x.steps[2 + a], y=y.steps[2 + a]) for a in (0, 1)]
    lanes, sums = [Level(i, q=w.steps[1], y=y.steps[1])], (Level(out, x.steps[1], w.steps[0]),)
    for axis, step in enumerate(y.steps[2:]):
        q = w.steps[2 + axis]
        lanes.append(Level(w.extents[2 + axis], q=q, y=step * op.dilations[axis]))
    piece = Piece(Contraction(tuple(pixels), tuple(lanes), sums, adds=True))
    groups = (out * x.steps[1], out * w.steps[0], i * y.steps[1])
    images = (x.steps[0], 0, y.steps[0])
    return Plan(Frame(x.steps), (piece,), images, groups, 1, n, op.groups, gaps=True)


@dataclass(frozen=True)
class _Phase:
    """The rows (or columns) row, row + stride, ... of y, and the taps that reach them.

    Tap t = 0, 1, ... is the element `last_tap - t * tap_step` of the filter, and reads for the k-th
    row that of x at `first + t * step + k`.
    """

    row: int
    count: int
    taps: int
    first: int
    step: int
    last_tap: int
    tap_step: int


def _reached(phases: Sequence[Sequence[_Phase]]) -> tuple[Pair, Pair]:
    """Rows and columns before the images that are read, and how many from there on."""
    lower = [max([0, *(-p.first for p in some)]) for some in phases]
    ends = [
        max([p.first + (p.taps - 1) * p.step + p.count for p in some], default=1) for some in phases
    ]
    return (lower[0], lower[1]), (lower[0] + ends[0], lower[1] + ends[1])


def _phases(op: Conv2dTranspose, axis: int, kernel: int, extent: int) -> list[_Phase]:
    """Phases of the rows (axis 0) or columns (axis 1) of y that some tap reaches."""
    stride, dilation, top = op.strides[axis], op.dilations[axis], op.padding[axis][0]
    phases = []
    for row in range(min(stride, extent)):
        taps = [u for u in range(kernel) if (row + top - u * dilation) % stride == 0]
        if taps:
            first = (row + top - taps[-1] * dilation) // stride
            common = gcd(stride, dilation)
            shape = (-(-(extent - row) // stride), len(taps), first, dilation // common)
            phases.append(_Phase(row, *shape, taps[-1], stride // common))
    return phases
