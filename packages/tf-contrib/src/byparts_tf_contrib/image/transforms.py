"""`contrib.image`: images turned, moved and distorted; hue and saturation in YIQ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.image.adjust import adjusted
from byparts_frontend_tf.api.image.extract_patches import half_away
from byparts_frontend_tf.api.math.unary import cos, sin
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.reshape import expand_dims, reshape, squeeze
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32, int32
from byparts_tf_files.shape import Dims


def _projected(x: Value, transforms: Value, size: Any, bilinear: bool) -> Value:
    n, height, width, depth = x.type.dims
    ys, xs = _places(ops.broadcast_to(transforms, [n, 8]), int(size[0]), int(size[1]))
    flat = ops.reshape(x, [n * height * width, depth])
    start = ops.constant(np.arange(n, dtype=np.int32).reshape(n, 1, 1) * (height * width))

    def pixels(y: Value, x_: Value) -> Value:
        """The pixels at whole places; 0 outside."""
        inside = ops.logical_and(
            ops.logical_and(ops.greater_equal(y, 0.0), ops.less_equal(y, float(height - 1))),
            ops.logical_and(ops.greater_equal(x_, 0.0), ops.less_equal(x_, float(width - 1))),
        )
        row = ops.cast(ops.clip(y, 0.0, float(height - 1)), "i32")
        column = ops.cast(ops.clip(x_, 0.0, float(width - 1)), "i32")
        picked = ops.gather(flat, start + row * width + column)
        return ops.select(ops.expand_dims(inside, 3), picked, ops.zeros_like(picked))

    if not bilinear:
        return pixels(half_away(ys), half_away(xs))
    top, left = ops.floor(ys), ops.floor(xs)
    right_share = ops.cast(ops.expand_dims(xs - left, 3), x.type.dtype)
    low_share = ops.cast(ops.expand_dims(ys - top, 3), x.type.dtype)
    upper = _between(pixels(top, left), pixels(top, left + 1.0), right_share)
    lower = _between(pixels(top + 1.0, left), pixels(top + 1.0, left + 1.0), right_share)
    return _between(upper, lower, low_share)


def _places(t: Value, rows: int, columns: int) -> tuple[Value, Value]:
    """Sources of all pixels by transforms [n, 8]: (ys, xs), [n, rows, columns] each."""
    grid = np.mgrid[0:rows, 0:columns].astype(np.float32)
    down, across = (ops.constant(g) for g in grid)

    def along(first: int) -> Value:
        a, b, *c = [ops.reshape(t[:, first + i], [-1, 1, 1]) for i in range(3 if first < 6 else 2)]
        weighted = a * across + b * down
        return weighted + (c[0] if c else 1.0)

    depth_of = along(6)
    return along(3) / depth_of, along(0) / depth_of


def _between(a: Value, b: Value, share: Value) -> Value:
    return a * (1.0 - share) + b * share


def _projected_dims(inputs: Sequence[Tensor], **_: Any) -> Dims:
    dims, size = inputs[0].dims, static_dims(inputs[2]) or (None, None)
    return (None, *size, None) if dims is None else (dims[0], *size, dims[3])


_PROJECTED = Kind("ImageProjectiveTransformV2", _projected, values=(2,), shape=_projected_dims)


@symbol("contrib.image.transform")
def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Images whose pixel (x, y) is that at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    There k = c0 x + c1 y + 1.

    Args:
        images: [height, width], with channels, or a batch with channels.
        transforms: [8] or [batch, 8]: a0, a1, a2, b0, b1, b2, c0, c1.
        interpolation: NEAREST or BILINEAR.
        output_shape: [height, width]; by default that of the images.
        name: of the scope.

    Raises:
        ValueError: images or transforms of another rank; another interpolation.
    """
    if interpolation.upper() not in ("NEAREST", "BILINEAR"):
        raise ValueError(f"interpolation must be NEAREST or BILINEAR, and is {interpolation}")
    with name_scope(name, "transform", [images]):
        x = convert_to_tensor(images, name="images")
        t = convert_to_tensor(transforms, float32, "transforms")
        if x.dims is None or len(x.dims) not in (2, 3, 4):
            raise ValueError("Images should have rank between 2 and 4.")
        if t.dims is None or len(t.dims) not in (1, 2):
            raise ValueError("Transforms should have rank 1 or 2.")
        rank = len(x.dims)
        batch = expand_dims(expand_dims(x, 0), -1) if rank == 2 else x
        batch = expand_dims(batch, 0) if rank == 3 else batch
        t = expand_dims(t, 0) if len(t.dims) == 1 else t
        size = shape_of(batch)[1:3] if output_shape is None else output_shape
        projected = _PROJECTED(
            batch, t, convert_to_tensor(size, int32), bilinear=interpolation.upper() == "BILINEAR"
        )
        if rank == 2:
            return squeeze(projected, [0, 3])
        return squeeze(projected, [0]) if rank == 3 else projected


@symbol("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(
    angles: TensorLike, image_height: Any, image_width: Any, name: Optional[str] = None
) -> Tensor:
    """The transforms [n, 8] that turn images about their middle by angles in radians."""
    with name_scope(name, "angles_to_projective_transforms"):
        a = reshape(convert_to_tensor(angles, float32), [-1])
        h, w = [convert_to_tensor(s, float32) - 1.0 for s in (image_height, image_width)]
        c, s = cos(a), sin(a)
        x_offset = (w - (c * w - s * h)) / 2.0
        y_offset = (h - (s * w + c * h)) / 2.0
        zero = zeros_like(c)
        return stack([c, -s, x_offset, s, c, y_offset, zero, zero], 1)


@symbol("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(
    translations: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The transforms [n, 8] that move images by (dx, dy)."""
    with name_scope(name, "translations_to_projective_transforms"):
        t = reshape(convert_to_tensor(translations, float32), [-1, 2])
        one, zero = ones_like(t[:, 0]), zeros_like(t[:, 0])
        return stack([one, zero, -t[:, 0], zero, one, -t[:, 1], zero, zero], 1)


@symbol("contrib.image.rotate")
def rotate(
    images: TensorLike,
    angles: TensorLike,
    interpolation: str = "NEAREST",
    name: Optional[str] = None,
) -> Tensor:
    """Images turned counter-clockwise by angles in radians, one or one for each."""
    with name_scope(name, "rotate", [images]):
        x = convert_to_tensor(images, name="images")
        if x.dims is None or len(x.dims) not in (2, 3, 4):
            raise ValueError("Images should have rank between 2 and 4.")
        first = 1 if len(x.dims) == 4 else 0
        size = [
            convert_to_tensor(shape_of(x)[first + i] if d is None else d, None)
            for i, d in enumerate(x.dims[first : first + 2])
        ]
        height, width = [_FLOAT(s) for s in size]
        return transform(x, angles_to_projective_transforms(angles, height, width), interpolation)


_FLOAT = Kind("Cast", lambda x: ops.cast(x, "f32"), shape=like_first, dtype=float32)


@symbol("contrib.image.translate")
def translate(
    images: TensorLike,
    translations: TensorLike,
    interpolation: str = "NEAREST",
    name: Optional[str] = None,
) -> Tensor:
    """Images moved by (dx, dy), one or one for each."""
    with name_scope(name, "translate", [images]):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_FROM_YIQ = np.array(
    [[1.0, 0.95617069, 0.62143257], [1.0, -0.2726886, -0.64681324], [1.0, -1.103744, 1.70062309]]
)


def _in_yiq(x: Value, hue: Value, saturation: Value, value: Value) -> Value:
    turned = [ops.cos(hue) * saturation, ops.sin(hue) * saturation]
    y, i, q = [
        ops.matmul(x, ops.constant(_TO_YIQ[k : k + 1].T.astype(np.float32), x.type.dtype))
        for k in range(3)
    ]
    u, w = [ops.cast(t, x.type.dtype) for t in turned]
    changed = ops.concat([y, u * i - w * q, w * i + u * q], -1) * ops.cast(value, x.type.dtype)
    return ops.matmul(changed, ops.constant(_FROM_YIQ.T.astype(np.float32), x.type.dtype))


_IN_YIQ = Kind("AdjustHsvInYiq", _in_yiq, shape=like_first, gradient=False)


@symbol("contrib.image.adjust_hsv_in_yiq")
def adjust_hsv_in_yiq(
    image: TensorLike,
    delta_hue: TensorLike = 0,
    scale_saturation: TensorLike = 1,
    scale_value: TensorLike = 1,
    name: Optional[str] = None,
) -> Tensor:
    """Images with hue turned (radians), saturation and value scaled, all linear in YIQ."""
    changes = [convert_to_tensor(t, float32) for t in (delta_hue, scale_saturation, scale_value)]
    what = name or "adjust_hsv_in_yiq"
    return adjusted(what, image, lambda x, s: _IN_YIQ(x, *changes), saturate=False)


@symbol("contrib.image.random_hsv_in_yiq")
def random_hsv_in_yiq(
    image: TensorLike,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: Optional[int] = None,
) -> Tensor:
    """`adjust_hsv_in_yiq` by numbers of these ranges.

    Raises:
        ValueError: they are no ranges.
    """
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for low, high, what in (
        (lower_saturation, upper_saturation, "saturation"),
        (lower_value, upper_value, "value"),
    ):
        if low < 0 or low > high:
            raise ValueError(f"lower_{what} must be non-negative, and at most upper_{what}.")

    def drawn(low: float, high: float) -> Any:
        return low if low == high else random_uniform([], low, high, seed=seed)

    return adjust_hsv_in_yiq(
        image,
        drawn(-max_delta_hue, max_delta_hue),
        drawn(lower_saturation, upper_saturation),
        drawn(lower_value, upper_value),
    )


_INSIDE = "contrib.image.python.ops.distort_image_ops"
SYMBOLS = {f"{_INSIDE}.{name}": name for name in ("adjust_hsv_in_yiq", "random_hsv_in_yiq")}
