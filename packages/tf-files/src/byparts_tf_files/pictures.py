"""Pictures in files as arrays and back.

PNG and BMP are read, and PNG is written, without a library; Pillow, where it is installed, reads
PNG faster.  JPEG and GIF need it: they are no small formats, and it is the library that the world
reads them with.
"""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_tf_files.bmp import array_of_bmp
from byparts_tf_files.png_reader import MOST_BYTES, SIGNATURE, array_of_png
from byparts_tf_files.wire import DecodeError, fault

_GREY = np.array([0.299, 0.587, 0.114])


def kind_of(data: bytes) -> str:
    """The format that the first bytes say: "jpeg", "png", "gif", "bmp", or ""."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(SIGNATURE):
        return "png"
    if data.startswith(b"GIF8"):
        return "gif"
    return "bmp" if data.startswith(b"BM") else ""


def decoded(data: bytes, channels: int = 0, ratio: int = 1) -> NDArray[Any]:
    """A picture [height, width, channels], or the frames of a GIF [frames, height, width, 3].

    Args:
        data: a JPEG, PNG, GIF or BMP.
        channels: 1, 3 or 4; 0: as many as it has.
        ratio: 1, 2, 4 or 8: a JPEG's height and width are divided by it.

    Raises:
        DecodeError: it is none of these, or damaged.
        NotImplementedError: Pillow is needed, and is not there.
    """
    kind = kind_of(data)
    if kind == "jpeg":
        return _jpeg(data, channels, ratio)
    if kind == "png":
        return with_channels(_png(data), channels)
    if kind == "bmp":
        image = array_of_bmp(data)
        if channels not in (0, image.shape[-1]):
            raise fault(28, f"channels attribute {channels} does not match {image.shape[-1]}")
        return image
    if kind == "gif":
        return _gif(data)
    raise fault(0, f"Expected image (JPEG, PNG, GIF or BMP), got unknown format: {data[:8]!r}")


def with_channels(image: NDArray[Any], channels: int) -> NDArray[Any]:
    """A picture with so many channels: colours made grey, grey repeated, alpha full or left out."""
    if channels in (0, image.shape[-1]):
        return image
    colours, alpha = image, None
    if image.shape[-1] in (2, 4):
        colours, alpha = image[..., :-1], image[..., -1:]
    if channels in (1, 2) and colours.shape[-1] == 3:
        colours = (colours @ _GREY).astype(image.dtype)[..., None]
    elif channels in (3, 4) and colours.shape[-1] == 1:
        colours = np.repeat(colours, 3, -1)
    if channels in (1, 3):
        return colours
    full = np.full((*image.shape[:-1], 1), np.iinfo(image.dtype).max, image.dtype)
    return np.concatenate([colours, full if alpha is None else alpha], -1)


def _pillow() -> Any:
    """Pillow's module.

    Raises:
        NotImplementedError: it is not installed.
    """
    try:
        from PIL import Image  # type: ignore[import-not-found,unused-ignore]  # optional
    except ImportError as error:
        raise NotImplementedError(
            "pictures of this format are read and written by Pillow: pip install pillow"
        ) from error
    return Image


def _opened(data: bytes, format: str) -> Any:
    """A picture whose head is read; its size is one that may be decoded."""
    library = _pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = library.open(BytesIO(data), formats=[format])
    except (OSError, ValueError, SyntaxError, library.DecompressionBombError) as error:
        raise DecodeError(f"Invalid {format} data, of {len(data)} bytes: {error}") from error
    if image.width * image.height * 4 > MOST_BYTES:
        raise DecodeError(f"Image too large: {image.width} by {image.height} pixels")
    return image


def _array(image: Any) -> NDArray[Any]:
    try:
        made = np.asarray(image)
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise DecodeError(f"Invalid {image.format} data: {error}") from error
    return made if made.ndim == 3 else made[..., None]


def _jpeg(data: bytes, channels: int, ratio: int) -> NDArray[Any]:
    if channels == 4:
        raise fault(0, "channels must be 0, 1 or 3 for a JPEG, and is 4")
    image = _opened(data, "JPEG")
    whole = image.size
    image.draft({1: "L", 3: "RGB"}.get(channels), [max(1, n // ratio) for n in whole])
    if image.mode not in ("L", "RGB"):
        image = image.convert("RGB")
    made = with_channels(_array(image), channels)
    if made.shape[:2] != tuple([-(-n // ratio) for n in whole[::-1]]):
        raise DecodeError(f"a JPEG of {whole} pixels is not scaled by 1 / {ratio}")
    return made


def _png(data: bytes) -> NDArray[Any]:
    if data[24:25] == b"\x10":  # Pillow makes 16 bits 8
        return array_of_png(data)
    try:
        image = _opened(data, "PNG")
    except NotImplementedError:
        return array_of_png(data)
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode not in ("L", "LA", "RGB", "RGBA"):
        return array_of_png(data) if image.mode != "1" else _array(image.convert("L"))
    return _array(image)


def _gif(data: bytes) -> NDArray[Any]:
    image = _opened(data, "GIF")
    frames = []
    try:
        for i in range(getattr(image, "n_frames", 1)):
            image.seek(i)
            frames.append(np.asarray(image.convert("RGB")))
            if frames[0].nbytes * len(frames) > MOST_BYTES:
                raise DecodeError(f"Image too large: a GIF of {image.n_frames} frames")
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise DecodeError(f"Invalid GIF data: {error}") from error
    return np.stack(frames)


def jpeg_of(image: NDArray[Any], quality: int, chroma_downsampling: bool, **options: Any) -> bytes:
    """The bytes of a picture uint8 [height, width, 1 or 3] as JPEG.

    Raises:
        ValueError: it is no such picture.
        NotImplementedError: Pillow is not installed.
    """
    if image.ndim != 3 or image.dtype != np.uint8 or image.shape[2] not in (1, 3):
        raise ValueError(f"image must be uint8 [height, width, 1 or 3], not {image.shape}")
    picture = _pillow().fromarray(image[..., 0] if image.shape[2] == 1 else image)
    file = BytesIO()
    how = {"subsampling": 2 if chroma_downsampling else 0} if image.shape[2] == 3 else {}
    picture.save(file, "JPEG", quality=quality, **how, **options)
    return file.getvalue()


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and channels of a JPEG, from its head.

    Raises:
        DecodeError: it is none, or has no frame.
    """
    if not data.startswith(b"\xff\xd8"):
        raise fault(0, "no JPEG")
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            raise fault(at, "no marker of a JPEG")
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height = int.from_bytes(data[at + 5 : at + 7], "big")
            return height, int.from_bytes(data[at + 7 : at + 9], "big"), data[at + 9]
        alone = marker == 0x01 or 0xD0 <= marker <= 0xD8
        at += 2 if alone else 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    raise fault(at, "a JPEG without a frame")
