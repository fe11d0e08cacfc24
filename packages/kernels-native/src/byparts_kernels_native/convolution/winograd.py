"""Convolutions of f32 by small square filters, with fewer multiplications: Winograd's method.

An image is cut into tiles of n by n elements that overlap, of which each gives m by m pixels of y,
m = n + 1 - r.  For each of the n^2 elements of a tile there is one product of matrices; the small
matrices A, G and B are those of `minimal_filtering.py`:

    y = A [ sum over c of (G w G^T)[k, c] * (B x B^T)[c, tile] ] A^T

A 3x3 filter takes 36 multiplications for 16 pixels instead of 144, a 5x5 filter 64 for 16 instead
of 400.  Lanes are tiles; of the gradient of the filter, which is a sum over tiles, channels.  What
the transforms make stays in the second cache: some images at a time, and some tiles of these.

Rounding differs from that of `evaluate` by a little more (see there), and an infinity or NaN in an
image reaches all pixels of the tiles that it is in.  f32, GF/s of a direct convolution on one
thread of an AVX-512 machine whose peak is 117, and how many times faster than one:

                          y            dx           dw
    100x20x12x12 * 5x5    383  3.8     159  1.7     228  2.7
    32x64x32x32 * 3x3     306  2.8     305  2.8     228  2.1
    32x128x16x16          356  3.2     347  3.2     283  2.6
    32x256x8x8            309  2.8     281  2.6     274  2.5
    32x512x4x4            150  1.4     132  1.3     177  1.7
    1x64x56x56            255  2.3     255  2.3     251  2.2
    1x256x14x14           186  1.7     186  1.8     156  1.4
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from byparts_graph_ir import TensorType
from byparts_kernels_native.convolution.contraction import TRANSPOSE
from byparts_kernels_native.convolution.minimal_filtering import POINTS, Matrix, matrices, transform
from byparts_kernels_native.convolution.winograd_text import (
    FILTERS,
    FORWARD,
    FRAMED,
    GRADIENT,
    PACK,
    PRODUCTS,
    UNFRAMED,
)
from byparts_opset import Conv2dFilterGradient, Conv2dTranspose
from byparts_opset.convolution import TO_OIHW, placed
from byparts_opset.window import TO_NCHW
from byparts_tensor_ir.emit.vectors import vector_name
from byparts_tensor_ir.target import target
from byparts_tensor_ir.threads import threads

TILES, LONG = 64, 256  # of a pass; of one over many sums
CACHED = 640 << 10  # bytes of transforms of a pass
ROWS = {16: 8, 8: 4, 4: 4}  # lanes -> rows of a tile of a product
MOST, MOST_KEPT = 17 << 20, 5 << 20  # bytes of transformed filters, and of constant ones
MOST_WORKSPACE = 48 << 20  # bytes; of large images, mostly copies with zeros around them
WORTH, LEAST = 0.85, 50_000  # of the cycles that there are otherwise; cycles that are to be saved
Steps = Sequence[int]


@dataclass(frozen=True)
class Filtering:
    """Sizes and steps of a convolution that is computed with tiles of n by n and m by m.

    Attributes:
        m, r: rows, and columns, of a tile of y, and of a filter.
        gradient: whether y is the gradient of the filter, and w that of the result.
        images: how many there are.
        channels: of an image, which products are added up over.
        filters: how many there are, which are the channels of the result.
        x, w, y: steps of n, c, h, w (images), and o, i, u, v (filters); `first` is where w begins.
        size: height and width of x.
        out: height and width of y (of w, if it is a gradient).
        corner: rows and columns before the images.
    """

    m: int
    r: int
    gradient: bool
    images: int
    channels: int
    filters: int
    size: tuple[int, int]
    out: tuple[int, int]
    corner: tuple[int, int]
    x: Steps
    w: Steps
    y: Steps
    first: int = 0

    @property
    def n(self) -> int:
        """Rows and columns of a tile of x."""
        return self.m + self.r - 1

    @property
    def tiles(self) -> int:
        """Number of tiles of all images."""
        return self.images * prod(self.grid)

    def values(self) -> dict[str, Any]:
        """For the text in C."""
        return {
            **{"n": self.n, "m": self.m, "r": self.r, "square": self.n**2},
            **{"channels": self.channels, "filters": self.filters, "first": self.first},
            **{"per": prod(self.grid), "across": self.grid[1]},
        }

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tiles of an image."""
        return -(-self.out[0] // self.m), -(-self.out[1] // self.m)


def filterings(op: Any, types: Sequence[TensorType]) -> list[Filtering]:
    """The ways to compute an op; none where the method does not apply.

    Tiles of 8 by 8 are for filters larger than 3 by 3, for which smaller tiles save less.
    """
    x, w = types[0], types[2 if isinstance(op, Conv2dFilterGradient) else 1]
    o, i, *kernel = (w.dims[axis] for axis in TO_OIHW[op.layout])
    plain = (*op.strides, *op.dilations, op.groups) == (1,) * 5 and kernel[0] == kernel[1]
    if x.dtype != "f32" or not plain:
        return []
    r = kernel[0]
    images, filter = _steps(x, TO_NCHW[op.layout]), _steps(w, TO_OIHW[op.layout])
    n, _, *size = (x.dims[axis] for axis in TO_NCHW[op.layout])
    result = types[1] if isinstance(op, Conv2dFilterGradient) else op.infer(*types)[0]
    out = [result.dims[axis] for axis in TO_NCHW[op.layout]][2:]
    y, first, (c, k) = _steps(result, TO_NCHW[op.layout]), 0, (i, o)
    if isinstance(op, Conv2dTranspose):
        corner = [r - 1 - before for before, _ in op.padding]
        (so, si, u, v), (c, k) = filter, (o, i)
        filter, first = (si, so, -u, -v), (r - 1) * (u + v)
    else:
        corner = [before for before, _ in placed(op, x, w)[1]]
    gradient = isinstance(op, Conv2dFilterGradient)
    of_w, of_y = (y, filter) if gradient else (filter, y)
    if min(corner) < 0:
        return []
    return [
        Filtering(
            *(size_n + 1 - r, r, gradient, n, c, k, (size[0], size[1]), (out[0], out[1])),
            *((corner[0], corner[1]), images, of_w, of_y, first),
        )
        for size_n in POINTS
        if 3 <= r < size_n and (size_n < 8 or r > 3)
    ]


def _steps(type: TensorType, to: Sequence[int]) -> tuple[int, ...]:
    strides = [prod(type.dims[axis + 1 :]) for axis in range(4)]
    return tuple([strides[a] for a in to])


@dataclass(frozen=True)
class Code:
    """C of a convolution.

    Attributes:
        text: of the function of (x, w, y, workspace, kept).
        shared: whether it has a loop that threads share.
        pack: of one that packs a constant filter into `kept`; "" where it is not constant.
    """

    text: str
    workspace_bytes: int
    shared: bool
    pack: str = ""
    kept_bytes: int = 0


def by_winograd(op: Any, types: Sequence[TensorType], cycles: float, constant: bool) -> Code | None:
    """The code of an op that takes so many cycles otherwise; `None` where none takes fewer.

    `BYPARTS_WINOGRAD=0` never takes it, and 1 wherever it applies.
    """
    lanes, told = target().vector_bytes // 4, os.environ.get("BYPARTS_WINOGRAD")
    if lanes not in ROWS or told == "0":
        return None
    most = MOST_KEPT if constant else MOST
    able = [f for f in filterings(op, types) if _kept_bytes(f, lanes) <= most]
    best = min(able, key=lambda f: _cycles(f, lanes, constant), default=None)
    if best is None:
        return None
    if told != "1" and _cycles(best, lanes, constant) > WORTH * cycles - LEAST:
        return None
    code = gradient(best, lanes) if best.gradient else forward(best, lanes, constant)
    return code if code.workspace_bytes <= MOST_WORKSPACE else None


def _kept_bytes(f: Filtering, lanes: int) -> int:
    """Bytes of the transformed filters, or of the sums of their gradients."""
    return f.n**2 * _apart(f.channels * _whole(f.filters, lanes)) * 4


def _apart(n: int) -> int:
    """Round n up to an odd number of lines of the cache, as `apart` in C does."""
    return (-(-n // 16) | 1) * 16


def _cycles(f: Filtering, lanes: int, constant: bool) -> float:
    """An estimate, in multiplications of vectors; its factors were fitted to times with AVX-512."""
    tiles, square = f.images * prod(f.grid), f.n**2
    c, k = (_whole(n, lanes) // lanes for n in (f.channels, f.filters))
    image, result = 16 * square, 8 * square + 6 * f.n * f.m  # to transform a vector of tiles
    if f.gradient:
        of_y = 2 * square + 20 * f.n * f.m
        added = _kept_bytes(f, lanes) / 6  # sums are written, and read
        products = square * f.channels * k
        return tiles * (c * image + k * of_y + products) + f.channels * k * result + added
    products = square * f.channels * _whole(f.filters, ROWS[lanes])
    vectors = f.images * prod(f.grid) / lanes  # of tiles
    filters = 0 if constant else f.channels * k * (f.r**2 * lanes + 3 * square)
    read = _kept_bytes(f, lanes) / 12
    return -(-vectors // 1) * (f.channels * image + f.filters * result + products) + filters + read


def _whole(n: int, unit: int) -> int:
    return -(-n // unit) * unit


@dataclass(frozen=True)
class Frame:
    """Planes of images with zeros around them, [image][channel][row][column].

    Attributes:
        rows: of a plane.
        line, plane: elements from one row, and one plane, to the next.
    """

    channels: int
    rows: int
    line: int

    @property
    def plane(self) -> int:
        """An odd number of lines of the cache."""
        return (-(-self.rows * self.line // 16) | 1) * 16

    def elements(self, images: int) -> int:
        """A row of 8 may be read from the last one on."""
        return images * self.channels * self.plane + 8

    def text(self, name: str, x: Steps, size: tuple[int, int], corner: tuple[int, int]) -> str:
        """C: `framed_NAME(x, frame, images)`, and `unframed_NAME(frame, x, images)`."""
        room = (self.rows - corner[0], self.line - corner[1])
        height, width = map(min, size, room)
        values: dict[str, Any] = {"channels": self.channels, "plane": self.plane, "line": self.line}
        values |= {"height": height, "width": width, "top": corner[0], "left": corner[1]}
        values |= {"bordered": int((height, width) != (self.rows, self.line))}
        values |= dict(zip(("xn", "xc", "xh", "xw"), x, strict=True))
        return filled((FRAMED + UNFRAMED).replace("NAME", name), values)


def filled(text: str, values: dict[str, Any]) -> str:
    """The text with @name@ replaced."""
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


class _Places:
    """Allocator of offsets in some memory, each at the begin of a line of the cache."""

    def __init__(self) -> None:
        self.bytes = 0

    def of(self, bytes: int) -> int:
        """Reserve so many more bytes; returns the offset where they begin."""
        place = self.bytes
        self.bytes += _whole(bytes, 64)
        return place


def _images_at_a_time(f: Filtering, tiles: int) -> int:
    """The least divisor of all images that has so many tiles, or all."""
    each = range(1, f.images + 1)
    return next(d for d in each if f.images % d == 0 and d * prod(f.grid) >= min(tiles, f.tiles))


def forward(f: Filtering, lanes: int, constant: bool) -> Code:
    """C of a convolution of images; threads share them.  A constant filter is transformed once."""
    group = _images_at_a_time(f, TILES)
    tiles, wide = group * prod(f.grid), _whole(f.filters, lanes)
    of_a_vector = (f.channels + f.filters) * f.n**2 * lanes * 4  # bytes of its transforms
    block = min(-(-tiles // lanes), max(2, CACHED // of_a_vector))
    x = Frame(f.channels, *(g * f.m + f.r - 1 for g in f.grid))
    y = Frame(f.filters, *(g * f.m for g in f.grid))
    planar = f.y[3] != 1 or f.out != (y.rows, y.line)
    out = (y.channels * y.plane, y.plane, y.line) if planar else f.y
    groups, results = f.images // group, _apart(f.filters * block * lanes)
    parts = min(threads(), groups)
    memory, own = _Places(), _Places()
    of_u = 0 if constant else memory.of(_kept_bytes(f, lanes))
    values = f.values() | {
        **{"wide": wide, "of_filters": _kept_bytes(f, lanes) // f.n**2 // 4},
        **{"tiles": tiles, "plane": x.plane, "line": x.line, "group": group},
        **{"block": block, "results": results, "groups": groups, "parts": parts},
        **dict(zip(("wo", "wi", "wu", "wv"), f.w, strict=True)),
        **{"on": out[0], "oc": out[1], "oh": out[2], "planar": int(planar)},
        **{"xg": group * f.x[0], "yg": group * f.y[0]},
        **{"of_frame": own.of(x.elements(group) * 4)},
        **{"of_v": own.of(f.n**2 * _apart(f.channels * block * lanes) * 4)},
        **{"of_z": own.of(f.n**2 * results * 4)},
        **{"of_planes": own.of(y.elements(group) * 4 * planar)},
        **{"of_places": memory.of((tiles + lanes) * 8), "part_bytes": own.bytes},
        **{"of_parts": memory.of(parts * own.bytes)},
        "kept": "a[4]" if constant else f"(memory + {of_u})",
        "filter": "" if constant else "  filters((const T *)a[1], u);",
        "parallel": f"in_parallel(0, {parts}, part);" if parts > 1 else "part(0, 1);",
    }
    text = _kernels(lanes, matrices(f.m, f.r)) + filled(FILTERS, values)
    frames = x.text("x", f.x, f.size, f.corner) + y.text("y", f.y, f.out, (0, 0))
    run = _named(text + frames + filled(FORWARD, values))
    if not constant:
        return Code(run, memory.bytes, parts > 1)
    return Code(run, memory.bytes, parts > 1, _named(text + PACK), _kept_bytes(f, lanes))


def gradient(f: Filtering, lanes: int) -> Code:
    """C of the gradient of a filter; threads share the tiles of a pass, and then its products."""
    wide_c, wide_k = _whole(f.channels, lanes), _whole(f.filters, lanes)
    sums = _kept_bytes(f, lanes)
    most = LONG if sums > CACHED else max(32, CACHED // ((wide_c + wide_k) * f.n**2 * 4))
    group = _images_at_a_time(f, most)
    tiles = group * prod(f.grid)
    block = -(-tiles // -(-tiles // most))
    x = Frame(f.channels, *(g * f.m + f.r - 1 for g in f.grid))
    w = Frame(f.filters, *(g * f.m for g in f.grid))
    memory, many = _Places(), threads() > 1
    values = f.values() | {
        **{"wide_c": wide_c, "wide_k": wide_k, "of_filters": sums // f.n**2 // 4},
        **{"tiles": tiles, "group": group, "block": block},
        **{"plane": x.plane, "line": x.line, "of_w_plane": w.plane, "of_w_line": w.line},
        **{"of_x": memory.of(x.elements(group) * 4), "of_w": memory.of(w.elements(group) * 4)},
        **{"of_v": memory.of(f.n**2 * _apart(wide_c * block) * 4)},
        **{"of_z": memory.of(f.n**2 * _apart(wide_k * block) * 4), "of_s": memory.of(sums)},
        **{"of_places": memory.of((2 * tiles + wide_c + wide_k) * 4)},
        **dict(zip(("wo", "wi", "wu", "wv"), f.y, strict=True)),
        **{"xg": group * f.x[0], "wg": group * f.w[0], "groups": f.images // group},
        "transforms": "in_parallel(0, depth, transforms);" if many else "transforms(0, depth);",
        "products": "in_parallel(0, SQUARE, products);" if many else "products(0, SQUARE);",
    }
    frames = x.text("x", f.x, f.size, f.corner) + w.text("w", f.w, f.out, (0, 0))
    text = _kernels(lanes, matrices(f.r, f.m)) + frames + filled(GRADIENT, values)
    return Code(_named(text), memory.bytes, many)


def _kernels(lanes: int, of: tuple[Matrix, Matrix, Matrix]) -> str:
    """C of transforms and products."""
    a, g, b = of
    sizes = {"lanes": lanes, "rows": ROWS[lanes], "square": len(b) ** 2}
    named = {"V": vector_name("f32", lanes), "transpose": TRANSPOSE}
    text = filled(PRODUCTS, {**sizes, **named})
    return f"{text}{transform('of_image', b)}{transform('of_filter', g)}{transform('of_result', a)}"


def _named(text: str) -> str:
    """In a namespace of its own, because several functions stand in one file."""
    name = f"winograd_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    call = f'extern "C" void byparts_convolution(void **a) {{ {name}::run(a); }}'
    return f"namespace {name} {{\n{text}}}\n{call}\n"
