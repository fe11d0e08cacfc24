"""Measures of images: how noisy, how alike, where their edges are; and standardized images."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.image.colours import convert_image_dtype
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import as_dtype, float32
from byparts_tf_files.shape import Dims


def _standardized(x: Value) -> Value:
    """(x - mean) / the deviation, which is at least 1 / sqrt(pixels)."""
    axes = [-1, -2, -3]
    pixels = float(np.prod(x.type.dims[-3:]))
    distance = ops.cast(x, "f32") - ops.mean(ops.cast(x, "f32"), axes, True)
    deviation = ops.sqrt(ops.mean(ops.square(distance), axes, True))
    return distance / ops.maximum(deviation, pixels**-0.5)


_STANDARDIZED = Kind("PerImageStandardization", _standardized, shape=like_first, dtype=float32)


@symbol("image.per_image_standardization", "image.per_image_whitening")
def per_image_standardization(image: TensorLike) -> Tensor:
    """Each image with mean 0 and deviation 1 (at most: flat ones stay flat)."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        x = convert_to_tensor(image, name="image")
        dtype = x.dtype.base_dtype
        if dtype.name not in ("float16", "float32"):
            x = convert_image_dtype(x, float32)
        return convert_image_dtype(_STANDARDIZED(x, name=scope), dtype, saturate=True)


def _variation(x: Value) -> Value:
    """The sum of |differences| of neighbours, of each image."""
    down = ops.abs(x[..., 1:, :, :] - x[..., :-1, :, :])
    across = ops.abs(x[..., :, 1:, :] - x[..., :, :-1, :])
    return ops.sum(down, [-1, -2, -3]) + ops.sum(across, [-1, -2, -3])


_VARIATION = Kind("TotalVariation", _variation)


@symbol("image.total_variation")
def total_variation(images: TensorLike, name: Optional[str] = None) -> Tensor:
    """Sum of the absolute differences of neighbouring pixels: a number for each image.

    Raises:
        ValueError: neither an image nor a batch.
    """
    x = convert_to_tensor(images, name="images")
    if x.dims is not None and len(x.dims) not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    return _VARIATION(x, name=name or "total_variation")


def _psnr(a: Value, b: Value, largest: float) -> Value:
    error = ops.mean(ops.square(a - b), [-3, -2, -1])
    return ops.log(error) * float(-10 / np.log(10)) + float(20 * np.log10(largest))


_PSNR = Kind("Psnr", _psnr)


def _pair(a: TensorLike, b: TensorLike, max_val: float) -> tuple[Tensor, Tensor, float]:
    """Two images as floats, and the largest number there may be."""
    first, second = convert_to_tensor(a), convert_to_tensor(b, None)
    dtype = first.dtype.base_dtype
    scale = 1.0 if dtype.is_floating else 1.0 / dtype.max
    return (
        convert_image_dtype(first, float32),
        convert_image_dtype(second, float32),
        float(max_val) * scale,
    )


@symbol("image.psnr")
def psnr(a: TensorLike, b: TensorLike, max_val: float, name: Optional[str] = None) -> Tensor:
    """The peak signal-to-noise ratio of images, in decibel."""
    with name_scope(name, "PSNR", [a, b]) as scope:
        first, second, largest = _pair(a, b, max_val)
        return _PSNR(first, second, name=scope, largest=largest)


def _filter(size: int, sigma: float) -> Any:
    places = np.square(np.arange(size) - (size - 1) / 2) * -0.5 / sigma**2
    made = np.exp(places[:, None] + places)
    return (made / made.sum()).astype(np.float32)


def _local_mean(x: Value, weights: Any) -> Value:
    """Weighted mean of each window of each channel: [..., h, w, channels]."""
    *batch, height, width, channels = x.type.dims
    flat = ops.reshape(x, [-1, height, width, channels])
    each = ops.reshape(ops.transpose(flat, [0, 3, 1, 2]), [-1, height, width, 1])
    kernel = ops.constant(weights[:, :, None, None])
    made = ops.conv2d(each, kernel, layout="NHWC", padding="VALID")
    high, wide = made.type.dims[1:3]
    rows = ops.reshape(made, [flat.type.dims[0], channels, high, wide])
    return ops.reshape(ops.transpose(rows, [0, 2, 3, 1]), [*batch, high, wide, channels])


def _similarity(
    a: Value, b: Value, largest: float, size: int, sigma: float, k1: float, k2: float
) -> Value:
    """SSIM (Wang et al. 2004) of each image."""
    weights = _filter(size, sigma)
    c1, c2 = (k1 * largest) ** 2, (k2 * largest) ** 2
    mean_a, mean_b = _local_mean(a, weights), _local_mean(b, weights)
    product, squares = mean_a * mean_b * 2.0, ops.square(mean_a) + ops.square(mean_b)
    light = (product + c1) / (squares + c1)
    both = _local_mean(a * b, weights) * 2.0
    apart = _local_mean(ops.square(a) + ops.square(b), weights)
    structure = (both - product + c2) / (apart - squares + c2)
    return ops.mean(ops.mean(light * structure, [-3, -2]), [-1])


_SIMILARITY = Kind("Ssim", _similarity)


@symbol("image.ssim")
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: float,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of images, at most 1."""
    with name_scope(None, "SSIM", [img1, img2]):
        a, b, largest = _pair(img1, img2, max_val)
        return _SIMILARITY(
            a, b, largest=largest, size=filter_size, sigma=filter_sigma, k1=k1, k2=k2
        )


def _sobel(x: Value) -> Value:
    """Slopes down and across: [batch, h, w, channels, 2]."""
    padded = ops.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], 0.0, "reflect")
    _, h, w, _ = x.type.dims

    def part(i: int, j: int) -> Value:
        return padded[:, i : i + h, j : j + w]

    steps = ((0, 1.0), (1, 2.0), (2, 1.0))
    down = ops.add_n([(part(2, j) - part(0, j)) * scale for j, scale in steps])
    across = ops.add_n([(part(i, 2) - part(i, 0)) * scale for i, scale in steps])
    return ops.stack([down, across], -1)


_SOBEL = Kind("SobelEdges", _sobel)


@symbol("image.sobel_edges")
def sobel_edges(image: TensorLike) -> Tensor:
    """Slopes of images down and across, along a new last axis of 2."""
    return _SOBEL(convert_to_tensor(image), name=None)


def _slopes(x: Value) -> tuple[Value, Value]:
    down = ops.pad(x[:, 1:] - x[:, :-1], [(0, 0), (0, 1), (0, 0), (0, 0)])
    across = ops.pad(x[:, :, 1:] - x[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)])
    return down, across


def _two(inputs: Any) -> list[Dims]:
    return [inputs[0].dims] * 2


_SLOPES = Kind(
    "ImageGradients", _slopes, shape=_two, dtype=lambda inputs: [as_dtype(inputs[0].dtype)] * 2
)


@symbol("image.image_gradients")
def image_gradients(image: TensorLike) -> tuple[Tensor, ...]:
    """Differences to the pixel below and to the right, 0 at the last one.

    Raises:
        ValueError: no batch of images.
    """
    x = convert_to_tensor(image)
    if x.dims is not None and len(x.dims) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.get_shape()}."
        )
    return _SLOPES.outputs(x)
