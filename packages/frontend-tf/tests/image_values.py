"""What functions of `tf.image` compute, with any TensorFlow 1.

python image_values.py > data/image.json         records TensorFlow's own, where
`tensorflow.compat.v1` is installed
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBERS = np.random.RandomState(3)
REAL = _NUMBERS.uniform(0.0, 1.0, (2, 5, 7, 3)).astype(np.float32)
BYTES = _NUMBERS.randint(0, 256, (1, 6, 5, 3)).astype(np.uint8)
GREY = _NUMBERS.uniform(0.0, 1.0, (1, 3, 4, 1)).astype(np.float32)
BOXES = np.array([[0.1, 0.2, 0.9, 0.8], [-0.2, 0.1, 1.3, 0.6], [0.8, 0.9, 0.2, 0.1]], np.float32)


def _resizes(image: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    made: dict[str, Callable[[Any, Any, Any], Any]] = {}
    for method in ("bilinear", "bicubic", "area", "nearest_neighbor"):
        function = getattr(image, f"resize_{method}")
        for size in ([3, 4], [11, 7], [1, 2], [9, 14]):
            for corners in (False, True):
                how = {"size": size, "align_corners": corners}
                made[f"{method} {size} {corners}"] = _on(0, function, **how)
        made[f"{method} of bytes"] = _on(1, function, size=[4, 9])
        made[f"{method} of grey"] = _on(2, function, size=[5, 3])
    return made


def _on(which: int, function: Any, **how: Any) -> Callable[[Any, Any, Any], Any]:
    return lambda *images: function(images[which], **how)


def _shaped(image: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    return {
        "resize_images": lambda r, b, g: image.resize_images(b[0], [3, 3]),
        "resize_images as it is": lambda r, b, g: image.resize_images(b, [6, 5]),
        "resize_images nearest": lambda r, b, g: image.resize_images(b[0], (8, 2), 1),
        "resize_images ratio": lambda r, b, g: image.resize_images(
            r, [4, 4], method=image.ResizeMethod.BICUBIC, preserve_aspect_ratio=True
        ),
        "resize with pad": lambda r, b, g: image.resize_image_with_pad(r, 4, 9),
        "resize with pad of one": lambda r, b, g: image.resize_image_with_pad(b[0], 8, 3),
        "crop or pad": lambda r, b, g: image.resize_image_with_crop_or_pad(r, 3, 9),
        "crop or pad of bytes": lambda r, b, g: image.resize_image_with_crop_or_pad(b[0], 9, 2),
        "central_crop": lambda r, b, g: image.central_crop(r, 0.6),
        "central_crop of one": lambda r, b, g: image.central_crop(b[0], 0.5),
        "crop": lambda r, b, g: image.crop_to_bounding_box(r, 1, 2, 3, 4),
        "pad": lambda r, b, g: image.pad_to_bounding_box(b, 1, 2, 9, 8),
        "left right": lambda r, b, g: image.flip_left_right(r),
        "up down": lambda r, b, g: image.flip_up_down(b[0]),
        "transpose": lambda r, b, g: image.transpose_image(r),
        "rot90": lambda r, b, g: image.rot90(b[0]),
        "rot90 thrice": lambda r, b, g: image.rot90(r, k=3),
        "rot90 twice": lambda r, b, g: image.rot90(r, 2),
    }


def _coloured(tf: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    image = tf.image
    return {
        "to floats": lambda r, b, g: image.convert_image_dtype(b, tf.float32),
        "to bytes": lambda r, b, g: image.convert_image_dtype(r, tf.uint8),
        "to bytes, saturated": lambda r, b, g: image.convert_image_dtype(3 * r - 1, tf.uint8, True),
        "to int16": lambda r, b, g: image.convert_image_dtype(b, tf.int16),
        "from int16": lambda r, b, g: image.convert_image_dtype(
            tf.cast(b, tf.int16) * 128, tf.uint8
        ),
        "to grey": lambda r, b, g: image.rgb_to_grayscale(r),
        "bytes to grey": lambda r, b, g: image.rgb_to_grayscale(b),
        "from grey": lambda r, b, g: image.grayscale_to_rgb(g),
        "to hsv": lambda r, b, g: image.rgb_to_hsv(r),
        "from hsv": lambda r, b, g: image.hsv_to_rgb(r),
        "to yiq": lambda r, b, g: image.rgb_to_yiq(r),
        "from yiq": lambda r, b, g: image.yiq_to_rgb(r),
        "to yuv": lambda r, b, g: image.rgb_to_yuv(r),
        "from yuv": lambda r, b, g: image.yuv_to_rgb(r),
        "brightness": lambda r, b, g: image.adjust_brightness(r, 0.3),
        "brightness of bytes": lambda r, b, g: image.adjust_brightness(b, -0.3),
        "contrast": lambda r, b, g: image.adjust_contrast(r, 1.7),
        "contrast of bytes": lambda r, b, g: image.adjust_contrast(b[0], 0.4),
        "hue": lambda r, b, g: image.adjust_hue(2 * r - 0.5, 0.3),
        "hue of bytes": lambda r, b, g: image.adjust_hue(b, -0.4),
        "saturation": lambda r, b, g: image.adjust_saturation(r, 1.5),
        "saturation of bytes": lambda r, b, g: image.adjust_saturation(b[0], 0.5),
        "gamma": lambda r, b, g: image.adjust_gamma(r, 2.2, 0.9),
        "gamma of bytes": lambda r, b, g: image.adjust_gamma(b, 0.5),
        "standardized": lambda r, b, g: image.per_image_standardization(r),
        "standardized bytes": lambda r, b, g: image.per_image_standardization(
            image.convert_image_dtype(b[0], tf.float32)
        ),
    }


def functions(tf: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Name -> a function of images r of floats, b of bytes, g of one channel."""
    return {**_resizes(tf.image), **_shaped(tf.image), **_coloured(tf), **_measured(tf)}


def _measured(tf: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    image = tf.image
    tall = np.tile(REAL, [1, 3, 2, 1])
    return {
        "total_variation": lambda r, b, g: image.total_variation(r),
        "total_variation of one": lambda r, b, g: image.total_variation(r[0]),
        "psnr": lambda r, b, g: image.psnr(r, r[::-1], 1.0),
        "psnr of bytes": lambda r, b, g: image.psnr(b, b[:, ::-1], max_val=255),
        "ssim": lambda r, b, g: image.ssim(tall + 0 * r[0, 0, 0], tall[::-1], 1.0),
        "sobel_edges": lambda r, b, g: image.sobel_edges(r),
        "image_gradients": lambda r, b, g: tf.stack(image.image_gradients(r)),
        "patches": lambda r, b, g: tf.extract_image_patches(
            r, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 2, 1], "VALID"
        ),
        "patches, same": lambda r, b, g: tf.extract_image_patches(
            r, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"
        ),
        "crop_and_resize": lambda r, b, g: image.crop_and_resize(r, BOXES, [1, 0, 1], [3, 4]),
        "crop_and_resize to one": lambda r, b, g: image.crop_and_resize(
            b, BOXES, [0, 0, 0], [1, 3], extrapolation_value=7.0
        ),
        "crop_and_resize nearest": lambda r, b, g: image.crop_and_resize(
            r, BOXES, [1, 0, 1], [3, 4], method="nearest"
        ),
        "suppressed": lambda r, b, g: image.non_max_suppression(
            tf.reshape(r[0, :4, :, 0], [7, 4]) * [[0.2, 0.2, 1.0, 1.0]], r[1, 0, :, 0], 4, 0.5
        ),
        "suppressed by score": lambda r, b, g: image.non_max_suppression(
            BOXES, [0.5, 0.3, 0.1], 3, 0.9, 0.2
        ),
        "drawn": lambda r, b, g: image.draw_bounding_boxes(r, tf.stack([BOXES, BOXES / 2])),
        "glimpse": lambda r, b, g: image.extract_glimpse(r, [3, 2], [[0.1, -0.3], [0.2, 0.4]]),
        "glimpse by pixels": lambda r, b, g: image.extract_glimpse(
            r, [2, 3], [[1.0, 2.0], [2.0, 3.0]], centered=False, normalized=False
        ),
    }


def value(tf: Any, name: str) -> dict[str, Any]:
    """Dtype, static shape and numbers of what a function gives, and sums of its gradient."""
    with tf.Graph().as_default(), tf.Session() as session:
        r, b, g = (tf.constant(x) for x in (REAL, BYTES, GREY))
        y = functions(tf)[name](r, b, g)
        slopes = []
        if y.dtype == tf.float32:
            weights = tf.cos(tf.range(tf.size(y), dtype=tf.float32))
            try:
                slopes = tf.gradients(tf.reduce_sum(tf.reshape(y, [-1]) * weights), [r, g])
            except LookupError:
                slopes = []
        static = y.get_shape().as_list() if y.get_shape().ndims is not None else None
        found, *dxs = session.run([y, *[s for s in slopes if s is not None]])
        waves = np.sin(np.arange(found.size)).reshape(found.shape)
        return {
            "dtype": y.dtype.name,
            "static": static,
            "shape": list(found.shape),
            "some": found.reshape(-1)[:: max(1, found.size // 5)].tolist(),
            "sum": float((found.astype(np.float64) * waves).sum()),
            "gradients": [
                float((d * np.sin(np.arange(d.size)).reshape(d.shape)).sum()) for d in dxs
            ],
        }


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    made = {name: value(tensorflow, name) for name in functions(tensorflow)}
    print(json.dumps(made).replace("}, ", "},\n"))
