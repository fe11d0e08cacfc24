"""Dtypes, grey and spaces of colours of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones
from byparts_frontend_tf.api.elementwise import check_dtype
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import floor_div, multiply, saturate_cast
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.shape import rank
from byparts_frontend_tf.api.tile import tile
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import as_dtype, float16, float32, int32
from byparts_tf_files.shape import Dims


@symbol("image.convert_image_dtype")
def convert_image_dtype(
    image: TensorLike, dtype: Any, saturate: bool = False, name: Optional[str] = None
) -> Tensor:
    """Images as another dtype, scaled from the range of the one to that of the other.

    Raises:
        AttributeError: a dtype that is no number.
    """
    x, to = convert_to_tensor(image, name="image"), as_dtype(dtype).base_dtype
    if not (to.is_floating or to.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    of = x.dtype.base_dtype
    if of is to:
        return identity(x, name=name)  # type: ignore[no-any-return]  # a tensor
    turned: Callable[..., Tensor] = saturate_cast if saturate else cast
    with name_scope(name, "convert_image", [image]) as scope:
        if of.is_floating and to.is_floating:
            return cast(x, to, name=scope)  # type: ignore[no-any-return]  # a tensor
        if of.is_floating:
            return turned(multiply(x, to.max + 0.5), to, name=scope)
        if to.is_floating:
            return multiply(cast(x, to), 1.0 / of.max, name=scope)
        if of.max > to.max:
            return turned(floor_div(x, (of.max + 1) // (to.max + 1)), to, name=scope)
        return multiply(turned(x, to), (to.max + 1) // (of.max + 1), name=scope)


def as_floats(x: Tensor) -> Tensor:
    """Images as they are, or integers as float32 in [0, 1]."""
    floats = x.dtype.base_dtype in (float16, float32)
    return x if floats else convert_image_dtype(x, float32)


@symbol("image.rgb_to_grayscale")
def rgb_to_grayscale(images: TensorLike, name: Optional[str] = None) -> Tensor:
    """Images [..., 3] as grey ones [..., 1]."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        x = convert_to_tensor(images, name="images")
        grey = _GREY(convert_image_dtype(x, float32))
        return convert_image_dtype(grey, x.dtype.base_dtype, name=scope)


_GREY_WEIGHTS = np.array([[0.2989], [0.5870], [0.1140]], np.float32)
_GREY = Kind("Tensordot", lambda x: ops.matmul(_three(x), ops.constant(_GREY_WEIGHTS)))


@symbol("image.grayscale_to_rgb")
def grayscale_to_rgb(images: TensorLike, name: Optional[str] = None) -> Tensor:
    """Grey images [..., 1] with the channel three times.

    Raises:
        ValueError: there are more channels, or the rank is not known.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        x = convert_to_tensor(images, name="images")
        if x.dims is None:
            return tile(x, concat([ones(expand_dims(rank(x) - 1, 0), int32), [3]], 0), name=scope)
        if len(x.dims) < 2 or x.dims[-1] not in (1, None):
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        made = tile(x, [*[1] * (len(x.dims) - 1), 3], name=scope)
        made.set_shape([*x.dims[:-1], 3])
        return made


def _three(x: Value) -> Value:
    """The images.

    Raises:
        ValueError: they have not three channels.
    """
    if not x.type.dims or x.type.dims[-1] != 3:
        raise ValueError(f"input must have 3 channels but is {x.type}")
    return x


def _channels(x: Value) -> list[Value]:
    return [x[..., i : i + 1] for i in range(3)]


def hue_of(x: Value) -> tuple[Value, Value, Value]:
    """Hue in [0, 1), the least and the greatest channel: [..., 1]."""
    r, g, b = _channels(_three(x))
    most, least = ops.max(x, [-1], True), ops.min(x, [-1], True)
    span = most - least
    flat = ops.equal(span, 0.0)
    norm = 1.0 / (6.0 * ops.select(flat, ops.ones_like(span), span))
    others = ops.select(ops.equal(g, most), norm * (b - r) + 2.0 / 6.0, norm * (r - g) + 4.0 / 6.0)
    hue = ops.select(ops.equal(r, most), norm * (g - b), others)
    hue = ops.select(flat, ops.zeros_like(hue), hue)
    return ops.select(ops.less(hue, 0.0), hue + 1.0, hue), least, most


def saturation_of(least: Value, most: Value) -> Value:
    """Saturation in [0, 1]: how far the least channel is from the greatest, over the greatest."""
    some = ops.greater(most, 0.0)
    ratio = (most - least) / ops.select(some, most, ops.ones_like(most))
    return ops.select(some, ratio, ops.zeros_like(ratio))


def shares_of(hue: Value) -> Value:
    """Share of each channel in a pure hue: [..., 3], in [0, 1]."""
    six = hue * 6.0
    r = ops.abs(six - 3.0) - 1.0
    g = 2.0 - ops.abs(six - 2.0)
    b = 2.0 - ops.abs(six - 4.0)
    return ops.clip(ops.concat([r, g, b], -1), 0.0, 1.0)


def _to_hsv(x: Value) -> Value:
    hue, least, most = hue_of(x)
    return ops.concat([hue, saturation_of(least, most), most], -1)


def from_hsv(x: Value) -> Value:
    """Red, green and blue of hue, saturation and value."""
    hue, saturation, most = _channels(_three(x))
    return ((1.0 - saturation) + saturation * shares_of(hue)) * most


_TO_HSV = Kind("RGBToHSV", _to_hsv, shape=like_first)
_FROM_HSV = Kind("HSVToRGB", from_hsv, shape=like_first, gradient=False)
_FLOATS = ("float32", "float64", "float16", "bfloat16")


@symbol("image.rgb_to_hsv")
def rgb_to_hsv(images: TensorLike, name: Optional[str] = None) -> Tensor:
    """Images of red, green and blue in [0, 1] as hue, saturation and value."""
    return _TO_HSV(check_dtype(convert_to_tensor(images), _FLOATS, "images"), name=name)


@symbol("image.hsv_to_rgb")
def hsv_to_rgb(images: TensorLike, name: Optional[str] = None) -> Tensor:
    """Images of hue, saturation and value in [0, 1] as red, green and blue."""
    return _FROM_HSV(check_dtype(convert_to_tensor(images), _FLOATS, "images"), name=name)


def _linear(name: str, matrix: Any) -> Callable[..., Tensor]:
    weights = np.array(matrix, np.float64)

    def meaning(x: Value) -> Value:
        return ops.matmul(_three(x), ops.constant(weights, x.type.dtype))

    def dims(inputs: Any) -> Dims:
        found: Dims = inputs[0].dims
        return found

    kind = Kind("Tensordot", meaning, shape=dims)

    def apply(images: TensorLike) -> Tensor:
        return kind(check_dtype(convert_to_tensor(images, name="images"), _FLOATS, "images"))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"Images [..., 3] in other colours: `{name}`."
    return apply


_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_FROM_YIQ = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]
rgb_to_yiq, yiq_to_rgb = _linear("rgb_to_yiq", _YIQ), _linear("yiq_to_rgb", _FROM_YIQ)
rgb_to_yuv, yuv_to_rgb = _linear("rgb_to_yuv", _YUV), _linear("yuv_to_rgb", _FROM_YUV)
SYMBOLS = {f"image.{n}": n for n in ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb")}
