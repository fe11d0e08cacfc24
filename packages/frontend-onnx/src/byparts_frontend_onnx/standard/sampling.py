"""Elements of images at places that a program computes: those of a grid, those of regions.

An image [n, channels, height, width] becomes a table with a row of channels for each point.  Along
an axis a place is a few taps: a row, what it counts, and whether it lies inside.  The result joins
all combinations of the taps of the axes, a gather for each: 4 for linear, 16 for cubic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, Optional, Union

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Size, counted, size_value
from byparts_frontend_onnx.standard.elementwise import is_float, zero
from byparts_graph_ir import Value
from byparts_opset.dtypes import numpy_dtype

Length = Union[float, Value]
_AXES = 3  # of images, at most
_CUBIC = -0.75  # coefficient a of Keys 1981; GridSample has no attribute for it


@dataclass(frozen=True)
class Tap:
    """A point that counts along an axis.

    Attributes:
        row: its place along the axis: i64.
        weight: what it counts; `None` for 1.
        inside: whether it lies in the image, which is 0 elsewhere; `None` for everywhere.
    """

    row: Value
    weight: Optional[Value] = None
    inside: Optional[Value] = None


@rules.on("GridSample")
def grid_sample(node: OnnxNode, x: Value, grid: Value) -> Value:
    """x: [n, channels, sizes...] at grid: [n, places..., axes], whose last axis runs backwards.

    -1 and 1 are the borders of the image, or with `align_corners` its first and last points.
    """
    dims, places = sizes_of(node, x), as_places(grid)
    axes = len(dims) - 2
    taps = []
    for axis, size in enumerate(dims[2:]):
        column = axes - 1 - axis
        place = ops.squeeze(ops.getitem(places, (Ellipsis, slice(column, column + 1))), -1)
        taps.append(_grid_taps(node, place, length_of(size, places)))
    exact = is_float(x) or node.get("mode") == "nearest"
    image = ops.reshape(counted(dims[0]), (-1, *(1,) * axes))
    y = reduce(ops.add, terms(x if exact else ops.cast(x, "f32"), dims, image, taps))
    y = ops.transpose(y, (0, axes + 1, *range(1, axes + 1)))
    return y if exact else ops.cast(y, x.type.dtype)


def _grid_taps(node: OnnxNode, place: Value, length: Length) -> list[Tap]:
    """The taps of places from -1 to 1 along an axis."""
    padding, mode = node.get("padding_mode"), node.get("mode").removeprefix("bi")
    if padding not in ("zeros", "border", "reflection") or mode not in _WEIGHTS:
        raise node.refuse(f"mode {mode!r} with padding_mode {padding!r}")
    low, high = (0.0, length - 1.0) if node.get("align_corners") else (-0.5, length - 0.5)
    p = (place + 1.0) * 0.5 * (high - low) + low
    return taps_at(p, length, mode, padding, (low, high))


def taps_at(
    p: Value,
    length: Length,
    mode: str = "linear",
    padding: str = "zeros",
    ends: tuple[Length, Length] = (0.0, 0.0),
) -> list[Tap]:
    """The taps of places along an axis.

    Args:
        p: places; the first point of the axis is at 0.
        length: the number of points, as a float, or where it has a name a 0-d value.
        mode: "nearest", "linear" or "cubic".
        padding: "zeros", "border" or "reflection": what is outside.
        ends: where the border and the reflection begin.
    """
    low, high = ends
    if mode == "nearest":
        p = ops.round(p)
    if padding == "border":  # all of a place: cubic weights reach back into the image else
        p = ops.where(ops.logical_or(p < low, p > high), _held(p, length), p)
    first = ops.floor(p)
    taps = []
    for shift, weight in _WEIGHTS[mode](p - first):
        row = first + float(shift) if shift else first
        inside = ops.logical_and(row >= 0.0, row < length) if padding == "zeros" else None
        if padding == "reflection":
            row = _reflected(row, low, high)
        taps.append(Tap(ops.cast(_held(row, length), "i64"), weight, inside))
    return taps


def _reflected(p: Value, low: Length, high: Length) -> Value:
    """p thrown back at both ends as often as needed; anything where both are the same point."""
    reach = _number(high - low, p)
    turn = ops.maximum(reach, _number(1.0, p)) * 2.0
    away = ops.mod(ops.abs(p - low), turn)
    return ops.minimum(away, turn - away) + low


def _held(p: Value, length: Length) -> Value:
    """p between 0 and length - 1; 0 for nan, which is no place."""
    return ops.where(p >= 0.0, ops.minimum(p, _number(length - 1.0, p)), _number(0.0, p))


def _cubic(t: Value) -> list[tuple[int, Value]]:
    def near(z: Value) -> Value:
        return ((_CUBIC + 2) * z - (_CUBIC + 3)) * z * z + 1.0

    def far(z: Value) -> Value:
        return ((_CUBIC * z - 5 * _CUBIC) * z + 8 * _CUBIC) * z - 4 * _CUBIC

    return [(-1, far(t + 1.0)), (0, near(t)), (1, near(1.0 - t)), (2, far(2.0 - t))]


# Points by their distance from the one before a place, with weights by t, the part behind it.
_WEIGHTS: dict[str, Any] = {
    "nearest": lambda t: [(0, None)],
    "linear": lambda t: [(0, 1.0 - t), (1, t)],
    "cubic": _cubic,
}


@rules.on("RoiAlign")
def roi_align(node: OnnxNode, x: Value, rois: Value, images: Value) -> Value:
    """Averages or maxima of linear samples of regions (x, y, x, y): [regions, channels, h, w].

    Without a `sampling_ratio` the size of a region decides how many samples it has.
    """
    ratio = node.get("sampling_ratio")
    if ratio > 0:
        return _regions(node, x, rois, images, [ratio, ratio])
    boxes = np.asarray(node.known(1), np.float32) * np.float32(node.get("spatial_scale"))
    sides = boxes[:, [3, 2]] - boxes[:, [1, 0]]
    sides = sides if _half_pixel(node) else np.maximum(sides, 1)
    counts = np.ceil(sides / [node.get("output_height"), node.get("output_width")]).astype(int)
    if not counts.size or counts.min() < 1:
        raise node.refuse("a region of no size")
    node.limited(int(counts.max()), len(counts))
    parts = []
    for i, count in enumerate(counts.tolist()):
        box, image = (ops.getitem(v, slice(i, i + 1)) for v in (rois, images))
        parts.append(_regions(node, x, box, image, count))
    return ops.concat(parts, 0)


def _half_pixel(node: OnnxNode) -> bool:
    """Whether places are of the middles of points, as always from opset 16 on unless said."""
    return bool(node.get("coordinate_transformation_mode", "output_half_pixel") == "half_pixel")


def _regions(node: OnnxNode, x: Value, rois: Value, images: Value, samples: list[int]) -> Value:
    half, dims = _half_pixel(node), sizes_of(node, x)
    edges = as_places(rois) * node.get("spatial_scale") - (0.5 if half else 0.0)
    wanted = [node.get("output_height"), node.get("output_width")]
    taps = []
    for axis in range(2):
        first, last = (ops.getitem(edges, (slice(None), slice(c, c + 1)))
                       for c in (1 - axis, 3 - axis))  # fmt: skip
        side = last - first if half else ops.maximum(last - first, _number(1.0, edges))
        count = wanted[axis] * samples[axis]
        node.limited(count)
        parts = ((np.arange(count) + 0.5) / count).astype(numpy_dtype(edges.type.dtype))
        place = ops.expand_dims(first + side * ops.constant(parts), 2 - axis)
        taps.append(_region_taps(place, length_of(dims[2 + axis], edges)))
    image = ops.reshape(ops.cast(images, "i64"), (-1, 1, 1))
    most = node.get("mode") == "max"
    y = reduce(ops.maximum if most else ops.add, terms(x, dims, image, taps))
    shape: Any = (-1, wanted[0], samples[0], wanted[1], samples[1], dims[1])
    y = (ops.max if most else ops.mean)(ops.reshape(y, shape), (2, 4))
    return ops.transpose(y, (0, 3, 1, 2))


def _region_taps(p: Value, length: Length) -> list[Tap]:
    """Two taps of a place, which is held in the image up to one point outside, and 0 beyond."""
    inside = ops.logical_and(p >= -1.0, p <= length)
    held = _held(p, length)
    low = ops.floor(held)
    pairs = (low, 1.0 - (held - low)), (_held(low + 1.0, length), held - low)
    return [Tap(ops.cast(row, "i64"), weight, inside) for row, weight in pairs]


def terms(x: Value, dims: list[Size], image: Value, taps: list[list[Tap]]) -> list[Value]:
    """[places..., channels] for each combination of a tap of each axis.

    Args:
        x: [n, channels, sizes...].
        dims: its shape.
        image: the number of the image of each place.
        taps: the taps of each axis; they and `image` broadcast to the shape of places.
    """
    rows: Any = (-1, dims[1])
    table = ops.reshape(ops.transpose(x, (0, *range(2, len(dims)), 1)), rows)
    parts = []
    for chosen in product(*taps):
        place = image
        for size, tap in zip(dims[2:], chosen, strict=True):
            place = place * size_value(size) + tap.row
        term = ops.gather(table, place, 0)
        weights = [tap.weight for tap in chosen if tap.weight is not None]
        if weights:
            term = term * ops.cast(ops.expand_dims(reduce(ops.mul, weights), -1), x.type.dtype)
        insides = [tap.inside for tap in chosen if tap.inside is not None]
        if insides:
            inside = ops.expand_dims(reduce(ops.logical_and, insides), -1)
            term = ops.where(inside, term, zero(term))
        parts.append(term)
    return parts


def sizes_of(node: OnnxNode, x: Value) -> list[Size]:
    """The shape of x, of which every size is a number or has a name.

    Raises:
        Undetermined: one has neither.
        UnsupportedOp: x has more than three axes beside those of samples and channels.
    """
    if len(shape_of(x)) > _AXES + 2:  # 4 ** axes gathers
        raise node.refuse(f"an image of the shape {x.type}")
    dims = [d for d in shape_of(x) if d is not None]
    if len(dims) < len(shape_of(x)):
        raise node.undetermined(f"the shape {x.type}")
    return dims


def length_of(size: Size, like: Value) -> Length:
    """A size as a float, or where it has a name as a 0-d value of the dtype of another."""
    return float(size) if isinstance(size, int) else ops.cast(size_value(size), like.type.dtype)


def _number(length: Length, like: Value) -> Value:
    return ops.fill(length, like.type.dtype) if isinstance(length, float) else length


def as_places(places: Value) -> Value:
    """Places in a dtype that tells the points of an image apart."""
    return places if places.type.dtype in ("f32", "f64") else ops.cast(places, "f32")
