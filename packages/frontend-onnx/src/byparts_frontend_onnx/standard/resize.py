"""Images, and other arrays, brought to another size along each axis.

Along one axis the result is a product with a matrix of weights that NumPy works out when the model
is read, or a gather for the nearest element.  Where a size has a name, nearest and linear resizing
compute the same from counted places when the program runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known, Size, counted, size_value
from byparts_frontend_onnx.standard.elementwise import is_float
from byparts_graph_ir import Value, dimension
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]


@dataclass(frozen=True)
class Way:
    """A way to resize.

    Attributes:
        mode: "nearest", "linear" or "cubic".
        places: how places of the result are places of x, as ONNX calls it.
        nearest: how a place is rounded.
        cubic: the coefficient of the cubic kernel.
        outside: whether weights outside of x count.
        smooth: whether the kernel grows where the result is smaller.
    """

    mode: str
    places: str
    nearest: str
    cubic: float = -0.75
    outside: bool = True
    smooth: bool = False


@dataclass(frozen=True)
class Axis:
    """An axis: the size of x and of the result, the scale, and the part of x that counts."""

    size: Size
    result: Size
    scale: float | None
    part: tuple[float, float] = (0.0, 1.0)


@rules.on("Upsample", known=(1,))
def upsample(node: OnnxNode, x: Value, scales: Known | None = None) -> Value:
    """The forerunner of Resize: factors of at least 1."""
    factors: Any = node.get("scales") if scales is None else np.asarray(scales).tolist()
    if factors is None:
        factors = [1.0, 1.0, node.get("height_scale"), node.get("width_scale")]
    way = Way(node.get("mode").replace("bilinear", "linear"), "asymmetric", "floor")
    axes = [_by_scale(d, f) for d, f in zip(shape_of(x), factors, strict=True)]
    return _resized(node, x, dict(enumerate(axes)), way)


@rules.on("Resize", known=(1, 2, 3))
def resize(node: OnnxNode, x: Value, *parameters: Known | None) -> Value:
    """Another size by scales or sizes, for some or all axes."""
    roi, scales, sizes = (*parameters, None, None, None)[:3]
    if node.version == 10:
        roi, scales, sizes = None, roi, None
    axes = [axis_in(a, rank_of(x)) for a in node.get("axes", range(rank_of(x)))]
    way = Way(
        node.get("mode"),
        node.get("coordinate_transformation_mode", "asymmetric"),
        node.get("nearest_mode", "floor"),
        node.get("cubic_coeff_a", -0.75),
        not node.get("exclude_outside", 0),
        bool(node.get("antialias", 0)),
    )
    dims = [shape_of(x)[a] for a in axes]
    if any(d is None for d in dims):
        return _repeated(node, x, axes, scales, way)
    if sizes is not None and (wanted := ints(sizes)):
        made = _by_sizes(node, dims, wanted)
    elif isinstance(scales, np.ndarray) and scales.size:
        made = [_by_scale(d, f) for d, f in zip(dims, scales.tolist(), strict=True)]
    else:
        raise node.refuse("neither scales nor sizes")
    if way.places == "tf_crop_and_resize":
        part = np.asarray(roi).tolist()
        half = len(part) // 2
        made = [Axis(a.size, a.result, a.scale, (part[i], part[i + half]))
                for i, a in enumerate(made)]  # fmt: skip
    return _resized(node, x, dict(zip(axes, made, strict=True)), way)


def _repeated(node: OnnxNode, x: Value, axes: list[int], scales: Any, way: Way) -> Value:
    """Nearest elements of an array of unknown size, by whole factors: each row so many times."""
    exact = (way.places, way.nearest) in (
        ("asymmetric", "floor"),
        ("half_pixel", "round_prefer_floor"),
    )
    factors = scales.tolist() if isinstance(scales, np.ndarray) else [0.5]
    whole = all(f == int(f) for f in factors)
    if way.mode != "nearest" or not exact or not whole:
        raise node.undetermined(f"the shape {x.type}")
    for a, factor in zip(axes, factors, strict=True):
        if factor != 1:
            others = tuple(i for i in range(rank_of(x)) if i != a)
            row = ops.max(ops.cast(ops.ones_like(x), "i64"), others)
            places = ops.expand_dims(ops.cumsum(row, 0, exclusive=True), 1)
            copies = ops.constant(np.zeros((1, int(factor)), np.int64))
            x = ops.gather(x, ops.reshape(places + copies, (-1,)), a)
    return x


def _by_scale(size: Any, factor: float) -> Axis:
    if isinstance(size, int):
        # In f32, as ONNX Runtime: 9 * (17 / 9) is 17 there, and less than 17 in f64.
        return Axis(size, math.floor(np.float32(size) * np.float32(factor)), factor)
    up, down = factor, 1 / factor
    if up == int(up):
        return Axis(size, dimension(f"n*{int(up)}", {"n": size}) or size, factor)
    if down == int(down):
        return Axis(size, dimension(f"n//{int(down)}", {"n": size}) or size, factor)
    top, bottom = float(factor).as_integer_ratio()
    if bottom > 1 << 20:
        return Axis(size, "", factor)
    return Axis(size, dimension(f"n*{top}//{bottom}", {"n": size}) or size, factor)


def _by_sizes(node: OnnxNode, dims: list[Any], wanted: list[Size]) -> list[Axis]:
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return [
            Axis(d, w, w / d if isinstance(w, int) and isinstance(d, int) and d else None)
            for d, w in zip(dims, wanted, strict=True)
        ]
    if not all(isinstance(d, int) for d in (*dims, *wanted)):
        raise node.undetermined(f"the sizes {wanted} of {dims}", *dims, *wanted)
    ratios = [int(w) / d for d, w in zip(dims, wanted, strict=True)]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return [Axis(d, math.floor(scale * d + 0.5), scale) for d in dims]


def _resized(node: OnnxNode, x: Value, axes: dict[int, Axis], way: Way) -> Value:
    if way.mode not in ("nearest", "linear", "cubic"):
        raise node.refuse(f"the mode {way.mode!r}")
    dtype = x.type.dtype
    y = x if way.mode == "nearest" or dtype in ("f32", "f64") else ops.cast(x, "f32")
    for a, axis in axes.items():
        crop = way.places == "tf_crop_and_resize"
        if axis.size == axis.result and not crop and axis.scale in (1, None):
            continue
        if isinstance(axis.size, str) or isinstance(axis.result, str):
            y = _along_named(node, y, a, axis, way)
            continue
        places = _places(node, axis, way)
        y = _along(y, a, axis, way, places)
        outside = (places < 0) | (places > axis.size - 1)
        if crop and outside.any():
            mask = outside.reshape([-1 if i == a else 1 for i in range(rank_of(y))])
            fill = ops.fill(node.get("extrapolation_value"), y.type.dtype)
            y = ops.where(ops.constant(mask), fill, y)
    if y.type.dtype == dtype:
        return y
    return ops.cast(y if is_float(x) else ops.round(y), dtype)


def _places(node: OnnxNode, axis: Axis, way: Way) -> Array:
    """Places of the elements of the result among those of x."""
    size, count = int(axis.size), int(axis.result)
    scale = axis.scale or 1.0
    exact = size * scale if axis.scale is not None else count
    node.limited(count, 1 if way.mode == "nearest" else size)
    i = np.arange(count, dtype=np.float64)
    if way.places == "half_pixel" or (way.places == "pytorch_half_pixel" and count > 1):
        return (i + 0.5) / scale - 0.5
    if way.places == "half_pixel_symmetric":
        shift = size / 2 * (1 - count / exact)
        return shift + (i + 0.5) / scale - 0.5
    if way.places == "pytorch_half_pixel":
        return 0 * i
    if way.places == "align_corners":
        return i * (size - 1) / (exact - 1) if exact != 1 else 0 * i
    if way.places == "asymmetric":
        return i / scale
    if way.places == "tf_crop_and_resize":
        start, end = axis.part
        if count > 1:
            return start * (size - 1) + i * (end - start) * (size - 1) / (count - 1)
        return np.full(count, 0.5 * (start + end) * (size - 1))
    raise node.refuse(f"coordinate_transformation_mode {way.places!r}")


def _along(y: Value, a: int, axis: Axis, way: Way, places: Array) -> Value:
    size = int(axis.size)
    if way.mode == "nearest":
        nearest = {
            "round_prefer_floor": np.ceil(places - 0.5),
            "round_prefer_ceil": np.floor(places + 0.5),
            "floor": np.floor(places),
            "ceil": np.ceil(places),
        }[way.nearest]
        rows = np.clip(nearest, 0, size - 1).astype(np.int64)
        return ops.gather(y, ops.constant(rows), a)
    weights = _weights(places, size, axis.scale or 1.0, way)
    matrix = ops.constant(np.ascontiguousarray(weights.T).astype(numpy_dtype(y.type.dtype)))
    order = [*(i for i in range(rank_of(y)) if i != a), a]
    back = [order.index(i) for i in range(rank_of(y))]
    return ops.transpose(ops.matmul(ops.transpose(y, order), matrix), back)


def _weights(places: Array, size: int, scale: float, way: Way) -> Array:
    """weights[o, i]: what element i of x counts in element o of the result."""
    width = max(1 / scale, 1.0) if way.smooth and scale < 1 else 1.0
    reach = math.ceil((1 if way.mode == "linear" else 2) * width)
    taps = np.floor(places)[:, None] + np.arange(1 - reach, reach + 1)[None]
    kernel = _linear if way.mode == "linear" else _cubic
    parts = kernel((taps - places[:, None]) / width, way.cubic)
    if not way.outside:
        parts = np.where((taps >= 0) & (taps < size), parts, 0.0)
    parts = parts / parts.sum(1, keepdims=True)
    weights = np.zeros((len(places), size))
    rows = np.broadcast_to(np.arange(len(places))[:, None], taps.shape)
    np.add.at(weights, (rows, np.clip(taps, 0, size - 1).astype(np.int64)), parts)
    return weights


def _linear(z: Array, a: float) -> Array:
    return np.asarray(np.maximum(1 - np.abs(z), 0.0))


def _cubic(z: Array, a: float) -> Array:
    z = np.abs(z)
    near = (a + 2) * z**3 - (a + 3) * z**2 + 1
    far = a * z**3 - 5 * a * z**2 + 8 * a * z - 4 * a
    return np.where(z <= 1, near, np.where(z < 2, far, 0.0))


def _along_named(node: OnnxNode, y: Value, a: int, axis: Axis, way: Way) -> Value:
    """Nearest or linear along an axis whose size is a name."""
    if way.mode == "cubic" or way.smooth or axis.result == "":
        raise node.undetermined(f"{way.mode} resizing of {axis.size}", axis.size, axis.result)
    size, count = (ops.cast(size_value(s), "f64") for s in (axis.size, axis.result))
    i = ops.cast(counted(axis.result), "f64")
    scale = count / size if axis.scale is None else ops.fill(axis.scale, "f64")
    if way.places == "half_pixel":
        p = (i + 0.5) / scale - 0.5
    elif way.places == "pytorch_half_pixel":
        p = ops.where(count > 1.0, (i + 0.5) / scale - 0.5, i * 0.0)
    elif way.places == "align_corners":
        p = ops.where(
            count > 1.0, i * (size - 1.0) / ops.maximum(count - 1.0, ops.fill(1.0, "f64")), i * 0.0
        )
    elif way.places == "asymmetric":
        p = i / scale
    else:
        raise node.undetermined(f"{way.places} of {axis.size}", axis.size, axis.result)
    last = size - 1.0

    def row(q: Value) -> Value:
        held = ops.minimum(ops.maximum(q, ops.fill(0.0, "f64")), last)
        return ops.gather(y, ops.cast(held, "i64"), a)

    if way.mode == "nearest":
        rounded = {"round_prefer_floor": ops.ceil(p - 0.5), "round_prefer_ceil": ops.floor(p + 0.5),
                   "floor": ops.floor(p), "ceil": ops.ceil(p)}  # fmt: skip
        return row(rounded[way.nearest])
    low = ops.floor(p)
    part = ops.cast(ops.reshape(p - low, (-1, *(1,) * (rank_of(y) - a - 1))), y.type.dtype)
    return row(low) * (1.0 - part) + row(low + 1.0) * part
