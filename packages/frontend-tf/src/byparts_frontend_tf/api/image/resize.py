"""`tf.image.resize_*`: images of another size, by TensorFlow 1's rules.

Pixel i of the result lies at i * in / out in the image, or at i * (in - 1) / (out - 1) where
corners are aligned; there is no offset of half a pixel.  Positions are float32, as there.  Bilinear
and bicubic interpolation are weighted sums of two and of four rows, then columns; the area method
is a product with a matrix of weights for each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.image.crop import pad_to_bounding_box
from byparts_frontend_tf.api.reshape import expand_dims, squeeze
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32, int32
from byparts_tf_files.shape import Dims, shown

Weights = tuple[Any, Any]  # indices [taps, out], weights [taps, out]
_A = -0.75  # of the cubic kernel
_STEPS = 1024  # of its table


def _scale(extent: int, size: int, align_corners: bool) -> Any:
    if align_corners and size > 1:
        return np.float32((extent - 1) / np.float32(size - 1))
    return np.float32(extent / np.float32(size))


def _places(extent: int, size: int, align_corners: bool) -> Any:
    """Coordinates in the image of the result's pixels along an axis: f32 [size]."""
    return np.arange(size, dtype=np.float32) * _scale(extent, size, align_corners)


def _bilinear(extent: int, size: int, align_corners: bool) -> Weights:
    places = _places(extent, size, align_corners)
    lower = np.minimum(np.floor(places).astype(np.int64), extent - 1)
    part = places - lower.astype(np.float32)
    return np.stack([lower, np.minimum(lower + 1, extent - 1)]), np.stack([1 - part, part])


def _cubic_table() -> Any:
    x = (np.arange(_STEPS + 1) / _STEPS).astype(np.float32)
    near = ((_A + 2) * x - (_A + 3)) * x * x + 1
    far = ((_A * (x + 1) - 5 * _A) * (x + 1) + 8 * _A) * (x + 1) - 4 * _A
    return near.astype(np.float32), far.astype(np.float32)


def _bicubic(extent: int, size: int, align_corners: bool) -> Weights:
    places = _places(extent, size, align_corners)
    first = np.floor(places).astype(np.int64)
    step = np.rint((places - first.astype(np.float32)) * np.float32(_STEPS)).astype(np.int64)
    near, far = _cubic_table()
    weights = [far[step], near[step], near[_STEPS - step], far[_STEPS - step]]
    return np.clip(first + np.arange(-1, 3)[:, None], 0, extent - 1), np.stack(weights)


def _interpolated(
    rule: Callable[[int, int, bool], Weights], x: Value, size: Any, align_corners: bool
) -> Value:
    """Columns first, then rows, as TensorFlow sums them."""
    y = ops.cast(x, "f32")
    for axis in (2, 1):
        indices, weights = rule(y.type.dims[axis], int(size[axis - 1]), align_corners)
        shape = (-1, 1) if axis == 2 else (-1, 1, 1)
        rows = [ops.gather(y, ops.constant(at), axis) for at in indices]
        if rule is _bilinear:
            y = rows[0] + (rows[1] - rows[0]) * ops.constant(weights[1].reshape(shape))
        else:
            parts = zip(rows, weights, strict=True)
            y = ops.add_n([r * ops.constant(w.reshape(shape)) for r, w in parts])
    return y


def _nearest(x: Value, size: Any, align_corners: bool) -> Value:
    y = x
    for axis in (1, 2):
        places = _places(y.type.dims[axis], int(size[axis - 1]), align_corners)
        at = np.floor(places + np.float32(0.5)) if align_corners else np.floor(places)
        at = np.minimum(at.astype(np.int64), y.type.dims[axis] - 1)
        y = ops.gather(y, ops.constant(at), axis)
    return y


def _shares(extent: int, size: int, align_corners: bool) -> Any:
    """Share of each pixel of the result that a pixel of the image covers: f32 [size, extent]."""
    scale = _scale(extent, size, align_corners)
    starts = np.arange(size, dtype=np.float32) * scale
    ends = np.arange(1, size + 1, dtype=np.float32) * scale
    made = np.zeros((size, extent), np.float32)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            inside = min(j + 1, end) - max(j, start)
            made[i, min(j, extent - 1)] += inside
    return made / scale


def _area(x: Value, size: Any, align_corners: bool) -> Value:
    y = ops.cast(x, "f32")
    rows = _shares(y.type.dims[1], int(size[0]), align_corners)
    columns = _shares(y.type.dims[2], int(size[1]), align_corners)
    return ops.einsum("ih,jw,nhwc->nijc", ops.constant(rows), ops.constant(columns), y)


def _resized(inputs: Sequence[Tensor], **_: Any) -> Dims:
    dims, size = inputs[0].dims, static_dims(inputs[1])
    if size is not None and len(size) != 2:
        raise ValueError(f"size must be [new_height, new_width], and is {shown(size)}")
    if dims is None:
        return (None, *(size or (None, None)), None)
    if len(dims) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(dims)}: {shown(dims)}")
    return (dims[0], *(size or (None, None)), dims[3])


def _checked(meaning: Callable[..., Value]) -> Callable[..., Value]:
    def resize(x: Value, size: Any, align_corners: bool) -> Value:
        if min(int(n) for n in size) <= 0:
            raise ValueError("output dimensions must be positive")
        if not x.type.size:
            raise ValueError(f"input image must be of non-zero size, and is {x.type}")
        return meaning(x, size, align_corners=align_corners)

    return resize


def _resize(type: str, meaning: Callable[..., Value], keeps: bool) -> Callable[..., Tensor]:
    kind = Kind(
        type,
        _checked(meaning),
        values=(1,),
        shape=_resized,
        dtype=None if keeps else float32,
        gradient=type != "ResizeArea",
    )

    def apply(
        images: TensorLike,
        size: TensorLike,
        align_corners: bool = False,
        name: Optional[str] = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:
        if half_pixel_centers:
            raise NotImplementedError(f"{type}: half_pixel_centers is not here")
        to = convert_to_tensor(size, int32, "size")
        return kind(convert_to_tensor(images), to, name=name, align_corners=bool(align_corners))

    apply.__name__ = apply.__qualname__ = type
    apply.__doc__ = f"Images [batch, height, width, channels] of another size: `{type}`."
    return apply


resize_bilinear = _resize(
    "ResizeBilinear", lambda x, size, **how: _interpolated(_bilinear, x, size, **how), False
)
resize_bicubic = _resize(
    "ResizeBicubic", lambda x, size, **how: _interpolated(_bicubic, x, size, **how), False
)
resize_area = _resize("ResizeArea", _area, False)
resize_nearest_neighbor = _resize("ResizeNearestNeighbor", _nearest, True)


@symbol("image.ResizeMethod")
class ResizeMethod:
    """Methods of interpolation between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = {0: resize_bilinear, 1: resize_nearest_neighbor, 2: resize_bicubic, 3: resize_area}
_METHOD_NAMES = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}


@symbol("image.resize_images", "image.resize")
def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Images [batch, height, width, channels], or one image, of size [height, width].

    Images that have this size already are given back as they are, in their dtype.

    Raises:
        ValueError: the rank of `images` is not known, or is another; `size` is no pair; another
            method.
    """
    with name_scope(name, "resize", [images, size]):
        x = convert_to_tensor(images, name="images")
        if x.dims is None:
            raise ValueError("'images' contains no shape.")
        if len(x.dims) not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        batch = x if len(x.dims) == 4 else expand_dims(x, 0)
        to = _target(size, batch, preserve_aspect_ratio)
        wanted, present = static_dims(to), (batch.dims or ())[1:3]
        if None not in present and present == wanted:
            return x
        function = _METHODS.get(_METHOD_NAMES.get(method, method))
        if function is None:
            raise ValueError("Resize method is not implemented.")
        made = function(batch, to, align_corners=align_corners)
        return made if batch is x else squeeze(made, axis=[0])


def _target(size: Any, batch: Tensor, preserve_aspect_ratio: bool) -> Tensor:
    try:
        to = convert_to_tensor(size, int32, name="size")
    except (TypeError, ValueError) as error:
        raise ValueError("'size' must be a 1-D int32 Tensor") from error
    if to.dims is not None and len(to.dims) != 1:
        raise ValueError("'size' must be a 1-D int32 Tensor")
    if to.dims is not None and to.dims[0] not in (2, None):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return _within(to, batch) if preserve_aspect_ratio else to


def _scaled(size: Any, present: Any) -> Value:
    """The largest size within `size` with the ratio of the images: [height, width]."""
    ratio = min(np.float32(size[i] / present[i + 1]) for i in (0, 1))
    scaled = [int(np.rint(np.float32(present[i + 1]) * ratio)) for i in (0, 1)]
    return ops.constant(np.array(scaled, np.int32))


_WITHIN = Kind(
    "ScaledSize", _scaled, values=(0, 1), shape=lambda inputs: (2,), dtype=int32, gradient=False
)


def _within(to: Tensor, batch: Tensor) -> Tensor:
    return _WITHIN(to, shape_of(batch))


@symbol("image.resize_image_with_pad")
def resize_image_with_pad(
    image: TensorLike,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Images scaled, by one ratio, into a size, with zeros around."""
    with name_scope(None, "resize_image_with_pad", [image]):
        x = convert_to_tensor(image, name="image")
        height, width = (None, None) if x.dims is None else x.dims[-3:-1]
        if height is None or width is None:
            raise ValueError(f"resize_image_with_pad: the size of {x} has to be known")
        high, wide = number(target_height, "target_height"), number(target_width, "target_width")
        if high <= 0 or wide <= 0:
            raise ValueError("target_height and target_width must be > 0.")
        ratio = max(np.float32(width / wide), np.float32(height / high))
        h, w = np.float32(height) / ratio, np.float32(width) / ratio
        resized = resize_images(x, [int(h), int(w)], method, align_corners)
        above, left = int(max(0.0, (high - h) / 2)), int(max(0.0, (wide - w) / 2))
        return pad_to_bounding_box(resized, above, left, high, wide)


SYMBOLS = {
    f"image.{name}": name
    for name in ("resize_bilinear", "resize_bicubic", "resize_area", "resize_nearest_neighbor")
}
