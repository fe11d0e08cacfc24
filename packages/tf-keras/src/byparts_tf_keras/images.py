"""`tf.keras.preprocessing.image`: images as arrays, and changed at random.

Files are read by Pillow, where it is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.state import floatx, layout

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")


def pillow() -> Any:
    """The module `PIL.Image`.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(
            "Could not import PIL.Image. The use of `load_img` requires PIL: pip install pillow"
        ) from error


@symbol("keras.preprocessing.image.load_img")
def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
) -> Any:
    """An image of Pillow, from a file.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the colours or the interpolation are not known.
    """
    modes = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}
    color_mode = "grayscale" if grayscale else color_mode
    if color_mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    image_module = pillow()
    image = image_module.open(path)
    if image.mode != modes[color_mode]:
        image = image.convert(modes[color_mode])
    if target_size is not None and image.size != (target_size[1], target_size[0]):
        ways = {k: getattr(image_module, k.upper()) for k in ("nearest", "bilinear", "bicubic")}
        if interpolation not in ways:
            raise ValueError(
                f"Invalid interpolation method {interpolation} specified. Supported methods are "
                f"{', '.join(ways)}"
            )
        image = image.resize((target_size[1], target_size[0]), ways[interpolation])
    return image


@symbol("keras.preprocessing.image.img_to_array")
def img_to_array(img: Any, data_format: Optional[str] = None, dtype: Any = None) -> Any:
    """An image as an array [height, width, channels], or with channels first.

    Raises:
        ValueError: it has neither two nor three axes.
    """
    array = np.asarray(img, dtype=dtype or floatx())
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3:
        raise ValueError(f"Unsupported image shape: {array.shape}")
    return array.transpose(2, 0, 1) if layout(data_format) == "channels_first" else array


@symbol("keras.preprocessing.image.array_to_img")
def array_to_img(
    x: Any, data_format: Optional[str] = None, scale: bool = True, dtype: Any = None
) -> Any:
    """An array as an image of Pillow; scaled to 0..255 if `scale`."""
    x = np.asarray(x, dtype=dtype or floatx())
    if x.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}"
        )
    x = x.transpose(1, 2, 0) if layout(data_format) == "channels_first" else x
    if scale:
        x = x - np.min(x)
        most = np.max(x)
        x = (x / most if most else x) * 255
    pixels = x.astype("uint8")
    return pillow().fromarray(pixels[:, :, 0] if x.shape[2] == 1 else pixels)


@symbol("keras.preprocessing.image.save_img")
def save_img(
    path: Any, x: Any, data_format: Optional[str] = None, file_format: Any = None, **kwargs: Any
) -> None:
    """Write an array as an image file."""
    array_to_img(x, data_format).save(path, format=file_format)


def moved(x: Any, matrix: Any, fill_mode: str, cval: float) -> Any:
    """An image [height, width, channels] whose pixel (i, j) is that at `matrix` (i, j, 1).

    Bilinear; beyond the borders: nearest, constant, reflect or wrap.
    """
    height, width = x.shape[:2]
    middle = np.array([height / 2 - 0.5, width / 2 - 0.5])
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    points = np.stack([rows - middle[0], columns - middle[1], np.ones_like(rows)], -1)
    at = points @ np.asarray(matrix)[:2].T + middle
    low = np.floor(at).astype(int)
    part = at - low
    result = np.zeros(x.shape, np.float64)
    for i in (0, 1):
        for j in (0, 1):
            share = (part[..., 0] if i else 1 - part[..., 0]) * (
                part[..., 1] if j else 1 - part[..., 1]
            )
            result += share[..., None] * _pixels(x, low + np.array([i, j]), fill_mode, cval)
    return result.astype(x.dtype)


def _pixels(x: Any, at: Any, fill_mode: str, cval: float) -> Any:
    sizes = np.array(x.shape[:2])
    if fill_mode == "wrap":
        inside = at % sizes
    elif fill_mode == "reflect":
        around = at % (2 * sizes)
        inside = np.where(around < sizes, around, 2 * sizes - 1 - around)
    else:
        inside = np.clip(at, 0, sizes - 1)
    values = x[inside[..., 0], inside[..., 1]].astype(np.float64)
    if fill_mode == "constant":
        values[(inside != at).any(-1)] = cval
    return values
