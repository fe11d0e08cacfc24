"""Brightness, contrast, hue and saturation of images, also at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.image.colours import (
    as_floats,
    convert_image_dtype,
    from_hsv,
    hue_of,
    saturation_of,
    shares_of,
)
from byparts_frontend_tf.api.image.crop import image_tensor
from byparts_frontend_tf.api.math.binary import add_v2
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32


def _with_hue(x: Value, delta: Value) -> Value:
    hue, least, most = hue_of(x)
    turned = hue + ops.cast(delta, x.type.dtype)
    return least + (most - least) * shares_of(turned - ops.floor(turned))


def _with_saturation(x: Value, factor: Value) -> Value:
    hue, least, most = hue_of(x)
    scaled = saturation_of(least, most) * ops.cast(factor, x.type.dtype)
    return from_hsv(ops.concat([hue, ops.clip(scaled, 0.0, 1.0), most], -1))


def _with_contrast(x: Value, factor: Value) -> Value:
    mean = ops.mean(x, [-3, -2], True)
    return (x - mean) * ops.cast(factor, x.type.dtype) + mean


_HUE = Kind("AdjustHue", _with_hue, shape=like_first, gradient=False)
_SATURATION = Kind("AdjustSaturation", _with_saturation, shape=like_first, gradient=False)
_CONTRAST = Kind("AdjustContrastv2", _with_contrast, shape=like_first, gradient=False)


def adjusted(
    name: str, image: TensorLike, change: Callable[[Tensor, str], Tensor], saturate: bool = True
) -> Tensor:
    """Images changed as floats, in the dtype they had."""
    with name_scope(None, name, [image]) as scope:
        x = convert_to_tensor(image, name="image")
        return convert_image_dtype(change(as_floats(x), scope), x.dtype.base_dtype, saturate)


@symbol("image.adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """The image, brighter by `delta` (of 1)."""
    return adjusted(
        "adjust_brightness", image, lambda x, s: add_v2(x, cast(delta, x.dtype), name=s)
    )


@symbol("image.adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Images whose distance from the mean of each channel is `contrast_factor` times as large."""
    return adjusted(
        "adjust_contrast",
        images,
        lambda x, s: _CONTRAST(
            image_tensor(x), convert_to_tensor(contrast_factor, float32), name=s
        ),
    )


@symbol("image.adjust_hue")
def adjust_hue(image: TensorLike, delta: TensorLike, name: Optional[str] = None) -> Tensor:
    """Images whose hue is turned by `delta` (of 1)."""
    return adjusted(
        name or "adjust_hue",
        image,
        lambda x, s: _HUE(x, convert_to_tensor(delta, float32), name=None),
        saturate=False,
    )


@symbol("image.adjust_saturation")
def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Images whose saturation is `saturation_factor` times as large, at most 1."""
    return adjusted(
        name or "adjust_saturation",
        image,
        lambda x, s: _SATURATION(x, convert_to_tensor(saturation_factor, float32), name=None),
        saturate=False,
    )


@symbol("image.adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """gain * image ** gamma.

    Raises:
        ValueError: gamma is negative.
    """
    if not isinstance(gamma, Tensor) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return adjusted("adjust_gamma", image, lambda x, s: gain * x**gamma)


@symbol("image.random_brightness")
def random_brightness(image: TensorLike, max_delta: float, seed: Optional[int] = None) -> Tensor:
    """`adjust_brightness` by a delta of [-max_delta, max_delta).

    Raises:
        ValueError: it is negative.
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


@symbol("image.random_hue")
def random_hue(image: TensorLike, max_delta: float, seed: Optional[int] = None) -> Tensor:
    """`adjust_hue` by a delta of [-max_delta, max_delta).

    Raises:
        ValueError: it is negative, or over 0.5.
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def _factor(lower: float, upper: float, seed: Optional[int]) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_uniform([], lower, upper, seed=seed)


@symbol("image.random_contrast")
def random_contrast(
    image: TensorLike, lower: float, upper: float, seed: Optional[int] = None
) -> Tensor:
    """`adjust_contrast` by a factor of [lower, upper).

    Raises:
        ValueError: it is no such range.
    """
    return adjust_contrast(image, _factor(lower, upper, seed))


@symbol("image.random_saturation")
def random_saturation(
    image: TensorLike, lower: float, upper: float, seed: Optional[int] = None
) -> Tensor:
    """`adjust_saturation` by a factor of [lower, upper).

    Raises:
        ValueError: it is no such range.
    """
    return adjust_saturation(image, _factor(lower, upper, seed))
