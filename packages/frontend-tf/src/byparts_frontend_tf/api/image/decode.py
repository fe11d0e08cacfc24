"""`tf.image.decode_*` and `encode_*`: pictures in strings, on the host."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.image.colours import convert_image_dtype
from byparts_frontend_tf.api.strings.strings import of_each, strings
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first, scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, bool_, int32, string, uint8
from byparts_tf_files.pictures import decoded, jpeg_of, jpeg_shape, kind_of
from byparts_tf_files.png import png_of
from byparts_tf_files.shape import Dims


def _bytes_of(contents: Any) -> bytes:
    found = np.asarray(contents, object)
    if found.ndim:
        raise ValueError(f"contents must be scalar, got shape {list(found.shape)}")
    return bytes(found[()])


def _decode(contents: Any, channels: int, dtype: DType, ratio: int, frames: bool) -> Any:
    image = decoded(_bytes_of(contents), channels, ratio)
    if image.ndim == 4 and not frames:
        if len(image) != 1:
            raise ValueError(
                f"Got {len(image)} frames, but animated gifs can only be decoded by "
                "tf.image.decode_gif or tf.image.decode_image"
            )
        image = image[0]
    return _of_dtype(image, dtype)


def _of_dtype(image: Any, dtype: DType) -> Any:
    if dtype.name == "uint16":
        return image if image.dtype == np.uint16 else image.astype(np.uint16) * 257
    return (image >> 8).astype(np.uint8) if image.dtype == np.uint16 else image


def _decoded_shape(inputs: Any, *, channels: int, frames: bool, **_: Any) -> Dims:
    return None if frames else (None, None, channels or None)


def _decoder(type: str) -> Kind:
    return Kind(
        type,
        host=_decode,
        shape=_decoded_shape,
        dtype=lambda inputs, dtype, **_: dtype,
        gradient=False,
    )


_JPEG, _PNG, _BMP = _decoder("DecodeJpeg"), _decoder("DecodePng"), _decoder("DecodeBmp")
_IMAGE = _decoder("DecodeImage")


def _checked(channels: int, allowed: tuple[int, ...]) -> int:
    if channels not in allowed:
        raise ValueError(f"channels must be one of {allowed}, and is {channels}")
    return channels


@symbol("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: Optional[str] = None,
) -> Tensor:
    """The picture in a string: uint8 [height, width, channels].

    Args:
        contents: a JPEG (or PNG).
        channels: 1 or 3; 0: as many as it has.
        ratio: 1, 2, 4 or 8: height and width are divided by it.
        fancy_upscaling: accepted; it is.
        try_recover_truncated: accepted; it is not.
        acceptable_fraction: accepted.
        dct_method: accepted; the accurate one is used.
        name: of the operation.

    Raises at run time:
        InvalidArgumentError: it is none.
        UnimplementedError: Pillow is not installed.
    """
    return _JPEG(
        strings(contents, "contents"),
        name=name,
        channels=_checked(channels or 0, (0, 1, 3)),
        dtype=uint8,
        ratio=int(ratio),
        frames=False,
    )


@symbol("image.decode_png", "io.decode_png")
def decode_png(
    contents: TensorLike, channels: int = 0, dtype: Any = uint8, name: Optional[str] = None
) -> Tensor:
    """The picture in a string: uint8 or uint16 [height, width, channels].

    Raises at run time:
        InvalidArgumentError: it is none.
    """
    return _PNG(
        strings(contents, "contents"),
        name=name,
        channels=_checked(channels or 0, (0, 1, 3, 4)),
        dtype=as_dtype(dtype),
        ratio=1,
        frames=False,
    )


@symbol("image.decode_bmp", "io.decode_bmp")
def decode_bmp(contents: TensorLike, channels: int = 0, name: Optional[str] = None) -> Tensor:
    """The BMP in a string: uint8 [height, width, channels]."""
    given = strings(contents, "contents")
    return _BMP(given, name=name, channels=channels, dtype=uint8, ratio=1, frames=False)


_GIF = Kind(
    "DecodeGif",
    host=lambda contents: _frames(_bytes_of(contents)),
    shape=lambda inputs: (None, None, None, 3),
    dtype=uint8,
    gradient=False,
)


def _frames(data: bytes) -> Any:
    image = decoded(data, 0 if kind_of(data) == "gif" else 3)
    return image if image.ndim == 4 else image[None]


@symbol("image.decode_gif", "io.decode_gif")
def decode_gif(contents: TensorLike, name: Optional[str] = None) -> Tensor:
    """The frames of the GIF in a string: uint8 [frames, height, width, 3]."""
    return _GIF(strings(contents, "contents"), name=name)


@symbol("image.decode_image", "io.decode_image")
def decode_image(
    contents: TensorLike,
    channels: Optional[int] = None,
    dtype: Any = uint8,
    name: Optional[str] = None,
    expand_animations: bool = True,
) -> Tensor:
    """The picture in a string, whatever its format; of a GIF all frames.

    The shape is not known before it runs: `set_shape` says it.
    """
    image = _IMAGE(
        strings(contents, "contents"),
        name=name or "decode_image",
        channels=_checked(channels or 0, (0, 1, 3, 4)),
        dtype=uint8,
        ratio=1,
        frames=bool(expand_animations),
    )
    return image if as_dtype(dtype) is uint8 else convert_image_dtype(image, dtype)


def _cropped(contents: Any, window: Any, channels: int, ratio: int) -> Any:
    image = decoded(_bytes_of(contents), channels, ratio)
    top, left, height, width = [int(n) for n in window]
    inside = top >= 0 and left >= 0 and height > 0 and width > 0
    if not inside or top + height > image.shape[0] or left + width > image.shape[1]:
        raise ValueError(f"Invalid crop window {list(window)} of an image {list(image.shape)}")
    return image[top : top + height, left : left + width]


_CROPPED = Kind(
    "DecodeAndCropJpeg",
    host=_cropped,
    shape=lambda inputs, channels, ratio: (None, None, channels or None),
    dtype=uint8,
    gradient=False,
)


@symbol("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: Optional[str] = None,
) -> Tensor:
    """The part [top, left, height, width] of a JPEG; arguments as of `decode_jpeg`."""
    window = convert_to_tensor(crop_window, int32, "crop_window")
    given = strings(contents, "contents")
    return _CROPPED(given, window, name=name, channels=channels or 0, ratio=int(ratio))


def _text(data: bytes) -> Any:
    made = np.empty((), object)
    made[()] = data
    return made


_TO_PNG = Kind(
    "EncodePng",
    host=lambda image: _text(png_of(image)),
    shape=scalar,
    dtype=string,
    gradient=False,
)
_TO_JPEG = Kind(
    "EncodeJpeg",
    host=lambda image, **how: _text(jpeg_of(image, **how)),
    shape=scalar,
    dtype=string,
    gradient=False,
)


@symbol("image.encode_png", "io.encode_png")
def encode_png(image: TensorLike, compression: int = -1, name: Optional[str] = None) -> Tensor:
    """A picture uint8 [height, width, 1 to 4] as the bytes of a PNG."""
    x = convert_to_tensor(image, None if hasattr(image, "dtype") else uint8)
    return _TO_PNG(x, name=name)


@symbol("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: Optional[str] = None,
) -> Tensor:
    """A picture uint8 [height, width, 1 or 3] as the bytes of a JPEG.

    Raises at run time:
        UnimplementedError: Pillow is not installed.
    """
    return _TO_JPEG(
        convert_to_tensor(image, None if hasattr(image, "dtype") else uint8),
        name=name,
        quality=int(quality),
        progressive=bool(progressive),
        optimize=bool(optimize_size),
        chroma_downsampling=bool(chroma_downsampling),
        dpi=(int(x_density), int(y_density)),
    )


_IS_JPEG = Kind(
    "IsJpeg",
    host=lambda contents: of_each(contents, lambda s: kind_of(s) == "jpeg", bool),
    shape=like_first,
    dtype=bool_,
    gradient=False,
)
_JPEG_SHAPE = Kind(
    "ExtractJpegShape",
    host=lambda contents, dtype: np.array(jpeg_shape(_bytes_of(contents))),
    shape=lambda inputs, dtype: (3,),
    dtype=lambda inputs, dtype: dtype,
    gradient=False,
)


@symbol("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents: TensorLike, name: Optional[str] = None) -> Tensor:
    """Whether strings begin as a JPEG does."""
    return _IS_JPEG(strings(contents, "contents"), name=name or "is_jpeg")


@symbol("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(
    contents: TensorLike, output_type: Any = int32, name: Optional[str] = None
) -> Tensor:
    """Height, width and channels of a JPEG."""
    given = strings(contents, "contents")
    return _JPEG_SHAPE(given, name=name, dtype=as_dtype(output_type))
