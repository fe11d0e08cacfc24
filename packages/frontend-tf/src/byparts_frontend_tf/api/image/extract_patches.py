"""Parts of images at places that data says: patches, crops by boxes, glimpses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.nn.window_shapes import windows
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32, int32
from byparts_tf_files.shape import Dims, merged

Pair = tuple[int, int]


def _rows(x: Value, axis: int, size: int, stride: int, rate: int, padding: str) -> Value:
    """Windows along one axis: [..., windows, size, ...]."""
    extent, span = x.type.dims[axis], (size - 1) * rate + 1
    count = windows(extent, span, stride, padding, 0)
    missing = max((count - 1) * stride + span - extent, 0) if padding == "SAME" else 0
    around = [(0, 0)] * len(x.type.dims)
    around[axis] = (missing // 2, missing - missing // 2)
    at = np.arange(count)[:, None] * stride + np.arange(size) * rate
    return ops.gather(ops.pad(x, around), ops.constant(at.astype(np.int64)), axis)


def _patches(x: Value, ksizes: Pair, strides: Pair, rates: Pair, padding: str) -> Value:
    tall = _rows(x, 1, ksizes[0], strides[0], rates[0], padding)  # [n, rows, kh, w, c]
    both = _rows(tall, 3, ksizes[1], strides[1], rates[1], padding)  # [n, rows, kh, columns, kw, c]
    n, rows, _, columns, _, _ = both.type.dims
    return ops.reshape(ops.transpose(both, [0, 1, 3, 2, 4, 5]), [n, rows, columns, -1])


_PATCHES = Kind("ExtractImagePatches", _patches)


@symbol("extract_image_patches", "image.extract_image_patches")
def extract_image_patches(
    images: TensorLike,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Optional[str] = None,
    name: Optional[str] = None,
    sizes: Any = None,
) -> Tensor:
    """Windows of images as rows: [batch, rows, columns, height * width * channels].

    Args:
        images: [batch, height, width, channels].
        ksizes: of a window, [1, height, width, 1].
        strides: from window to window, likewise.
        rates: from pixel to pixel of a window, likewise.
        padding: "VALID", or "SAME": with zeros around.
        name: of the operation.
        sizes: `ksizes`.
    """
    given = [numbers(n, "extract_image_patches") for n in (ksizes or sizes, strides, rates)]
    for n in given:
        if len(n) != 4 or n[0] != 1 or n[3] != 1:
            raise ValueError(f"sizes, strides and rates are [1, rows, columns, 1], not {list(n)}")
    kernel, steps, apart = [(n[1], n[2]) for n in given]
    return _PATCHES(
        convert_to_tensor(images),
        name=name,
        ksizes=kernel,
        strides=steps,
        rates=apart,
        padding=str(padding).upper(),
    )


@symbol("image.extract_patches")
def extract_patches(
    images: TensorLike,
    sizes: Any,
    strides: Any,
    rates: Any,
    padding: str,
    name: Optional[str] = None,
) -> Tensor:
    """Extract patches as `extract_image_patches` does."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


def _places(low: Value, high: Value, extent: int, count: int) -> Value:
    """Coordinates of a crop's pixels along an axis of the image: [boxes, count]."""
    if count == 1:
        return ops.expand_dims(0.5 * (low + high) * float(extent - 1), 1)
    step = (high - low) * float(extent - 1) / float(count - 1)
    places = ops.constant(np.arange(count, dtype=np.float32))
    return ops.expand_dims(low * float(extent - 1), 1) + ops.expand_dims(step, 1) * places


def _index(place: Value, extent: int) -> Value:
    return ops.cast(ops.clip(place, 0.0, float(extent - 1)), "i32")


def _crops(x: Value, boxes: Value, box_ind: Value, size: Any, method: str, outside: float) -> Value:
    n, height, width, depth = x.type.dims
    flat = ops.reshape(ops.cast(x, "f32"), [n * height * width, depth])
    corners = [ops.reshape(boxes[:, i : i + 1], [-1]) for i in range(4)]
    down = _places(corners[0], corners[2], height, int(size[0]))
    across = _places(corners[1], corners[3], width, int(size[1]))
    start = ops.reshape(ops.cast(box_ind, "i32"), [-1, 1, 1]) * (height * width)

    def pixels(rows: Value, columns: Value) -> Value:
        row = ops.expand_dims(_index(rows, height), 2) * width
        return ops.gather(flat, start + row + ops.expand_dims(_index(columns, width), 1))

    if method == "nearest":
        made = pixels(half_away(down), half_away(across))
    else:
        upper, left = ops.floor(down), ops.floor(across)
        below, right = ops.ceil(down), ops.ceil(across)
        along = ops.expand_dims(ops.expand_dims(across - left, 1), 3)
        top, bottom = [
            first + (pixels(row, right) - first) * along
            for row, first in ((upper, pixels(upper, left)), (below, pixels(below, left)))
        ]
        made = top + (bottom - top) * ops.expand_dims(ops.expand_dims(down - upper, 2), 3)
    inside = ops.logical_and(
        ops.expand_dims(_inside(down, height), 2), ops.expand_dims(_inside(across, width), 1)
    )
    return ops.select(ops.expand_dims(inside, 3), made, ops.fill(outside, "f32", made.type.dims))


def half_away(place: Value) -> Value:
    """C's round: halves away from 0."""
    return ops.sign(place) * ops.floor(ops.abs(place) + 0.5)


def _inside(place: Value, extent: int) -> Value:
    return ops.logical_and(ops.greater_equal(place, 0.0), ops.less_equal(place, float(extent - 1)))


def _crops_shape(inputs: Sequence[Tensor], **_: Any) -> Dims:
    image, size = inputs[0].dims, static_dims(inputs[3])
    boxes = [None if t.dims is None else t.dims[:1] for t in inputs[1:3]]
    if image is not None and len(image) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(image)} for 'CropAndResize'")
    return (
        *(merged(*boxes) or (None,)),
        *(size or (None, None)),
        None if image is None else image[3],
    )


_CROPS = Kind("CropAndResize", _crops, values=(3,), shape=_crops_shape, dtype=float32)


@symbol("image.crop_and_resize")
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: Optional[str] = None,
    box_indices: Any = None,
) -> Tensor:
    """Cut boxes out of images and resize them to one size.

    Args:
        image: [batch, height, width, channels].
        boxes: [boxes, 4]: y1, x1, y2, x2 of 1; corner pixels are at 0 and 1.
        box_ind: the image of each box.
        crop_size: [height, width].
        method: "bilinear" or "nearest".
        extrapolation_value: for what lies outside.
        name: of the operation.
        box_indices: `box_ind`.
    """
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"method must be 'bilinear' or 'nearest', and is {method!r}")
    return _CROPS(
        convert_to_tensor(image, name="image"),
        convert_to_tensor(boxes, float32, "boxes"),
        convert_to_tensor(box_indices if box_ind is None else box_ind, int32, "box_ind"),
        convert_to_tensor(crop_size, int32, "crop_size"),
        name=name,
        method=method,
        outside=float(extrapolation_value),
    )


def _glimpses(
    x: Value, size: Any, offsets: Value, noise: Value, centered: bool, normalized: bool
) -> Value:
    n, height, width, depth = x.type.dims
    starts = []
    for i, extent in enumerate((height, width)):
        place = ops.reshape(offsets[:, i : i + 1], [-1, 1])
        place = place * float(extent) if normalized else place
        if centered:
            place = place / 2.0 + extent / 2.0
        first = ops.trunc(place - float(size[i]) / 2.0)
        starts.append(first + ops.constant(np.arange(int(size[i]), dtype=np.float32)))
    down, across = starts
    row = ops.expand_dims(_index(down, height), 2) * width
    image = ops.constant(np.arange(n, dtype=np.int32).reshape(n, 1, 1) * (height * width))
    flat = ops.reshape(x, [n * height * width, depth])
    made = ops.gather(flat, image + row + ops.expand_dims(_index(across, width), 1))
    inside = ops.logical_and(
        ops.expand_dims(_inside(down, height), 2), ops.expand_dims(_inside(across, width), 1)
    )
    return ops.select(ops.expand_dims(inside, 3), made, noise)


def _glimpses_shape(inputs: Sequence[Tensor], **_: Any) -> Dims:
    dims, size = inputs[0].dims, static_dims(inputs[1])
    n, depth = (None, None) if dims is None else (dims[0], dims[-1])
    places = inputs[2].dims
    n = places[0] if places else n
    return (n, *(size or (None, None)), depth)


_GLIMPSES = Kind("ExtractGlimpse", _glimpses, values=(1,), shape=_glimpses_shape, gradient=False)


@symbol("image.extract_glimpse")
def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """A window of each image at an offset; what lies outside is noise of [0, 1).

    Args:
        input: [batch, height, width, channels] of floats.
        size: [height, width].
        offsets: [batch, 2]: down, across.
        centered: whether offset 0 is the middle of the image, else its upper left corner; the
            middle of the window is there.
        normalized: whether offsets are of the size of the image, else pixels.
        uniform_noise: whether the noise is uniform.
        name: of the operation.
    """
    x, to = convert_to_tensor(input), convert_to_tensor(size, int32)
    shape = shape_of(x)
    noise = random_uniform(concat([shape[:1], to, shape[3:]], 0))
    given = convert_to_tensor(offsets, float32)
    return _GLIMPSES(x, to, given, noise, name=name, centered=centered, normalized=normalized)
