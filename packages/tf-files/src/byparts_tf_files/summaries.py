"""Summaries of arrays: scalars, histograms, pictures, texts and sounds as `Summary` messages.

Source: TensorFlow's `summary.proto`, and the documentation of `tf.summary`: how float pictures
become bytes, and which tags several pictures have.
"""

from __future__ import annotations

import struct
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_tf_files.histogram import histogram_of
from byparts_tf_files.messages.summary import Summary, SummaryMetadata
from byparts_tf_files.png import png_of
from byparts_tf_files.tensors import make_tensor_proto

Array = NDArray[Any]
_RED = (255, 0, 0, 255)


def scalar_summary(tag: str, value: Any) -> Summary:
    """A number.

    Raises:
        ValueError: it is more than one.
    """
    array = np.asarray(value)
    if array.size != 1:
        raise ValueError(f"tags and values not the same shape: [] != {list(array.shape)} ({tag})")
    return Summary(value=[{"tag": tag, "simple_value": float(array.reshape(()))}])


def histogram_summary(tag: str, values: Any) -> Summary:
    """The distribution of numbers.

    Raises:
        ValueError: one of them is not finite.
    """
    try:
        return Summary(value=[{"tag": tag, "histo": histogram_of(values)}])
    except ValueError as error:
        raise ValueError(f"{error} for: {tag}") from error


def image_summary(
    tag: str, images: Array, max_outputs: int = 3, bad_color: Optional[Any] = None
) -> Summary:
    """The first pictures of a batch, as "tag/image/0" and so on; one alone as "tag/image".

    Args:
        tag: in front of "/image".
        images: [batch, height, width, channels] of uint8 or floats, with 1, 3 or 4 channels.
        max_outputs: how many at most.
        bad_color: of pixels that are not finite; red by default.

    Raises:
        ValueError: an array that is no batch of pictures.
    """
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        shape = list(images.shape)
        raise ValueError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape}")
    _, height, width, channels = images.shape
    bad = np.asarray(_RED if bad_color is None else bad_color, np.uint8).reshape(-1)
    if len(bad) < channels:
        raise ValueError(f"expected the bad_color of {channels} channels, got {len(bad)}")
    made = Summary()
    for i, image in enumerate(images[:max_outputs]):
        if image.dtype != np.uint8:
            image = _as_bytes(image.astype(np.float32), bad[:channels])
        name = f"{tag}/image" if max_outputs == 1 else f"{tag}/image/{i}"
        picture = Summary.Image(
            height=height, width=width, colorspace=channels, encoded_image_string=png_of(image)
        )
        made.value.add(tag=name, image=picture)
    return made


def _as_bytes(image: NDArray[np.float32], bad: Array) -> Array:
    """A picture of bytes: 0 to the largest number, or around 128 if some are negative."""
    finite = np.isfinite(image).all(axis=2)
    pixels = image[finite]
    made = np.empty(image.shape, np.uint8)
    made[~finite] = bad
    if not pixels.size:
        return made
    lower, upper = float(pixels.min()), float(pixels.max())
    largest, offset = (max(-lower, upper), 128.0) if lower < 0 else (upper, 0.0)
    whole = 127.0 if lower < 0 else 255.0
    scale = np.float32(0.0 if largest < 1e-6 else whole / largest)
    made[finite] = (pixels * scale + np.float32(offset)).astype(np.uint8)
    return made


def text_summary(tag: str, text: Any) -> Summary:
    """A text, or an array of texts, which TensorBoard shows as a table."""
    plugin = SummaryMetadata.PluginData(plugin_name="text")
    value = Summary.Value(tag=tag, tensor=make_tensor_proto(text))
    value.metadata.plugin_data.CopyFrom(plugin)
    return Summary(value=[value])


def audio_summary(tag: str, sounds: Array, sample_rate: float, max_outputs: int = 3) -> Summary:
    """The first sounds of a batch, as "tag/audio/0" and so on; one alone as "tag/audio".

    Args:
        tag: in front of "/audio".
        sounds: [batch, frames] or [batch, frames, channels] of floats in [-1, 1].
        sample_rate: in hertz.
        max_outputs: how many at most.

    Raises:
        ValueError: an array that is no batch of sounds.
    """
    if sounds.ndim not in (2, 3):
        raise ValueError(f"Tensor must be 3-D or 2-D, got: {list(sounds.shape)}")
    batch = sounds.reshape(*sounds.shape[:2], -1)
    made = Summary()
    for i, sound in enumerate(batch[:max_outputs]):
        audio = Summary.Audio(
            sample_rate=sample_rate,
            num_channels=sound.shape[1],
            length_frames=sound.shape[0],
            encoded_audio_string=wav_of(sound, round(sample_rate)),
            content_type="audio/wav",
        )
        name = f"{tag}/audio" if max_outputs == 1 else f"{tag}/audio/{i}"
        made.value.add(tag=name, audio=audio)
    return made


def wav_of(sound: Array, sample_rate: int) -> bytes:
    """A WAV file of 16 bits.

    Args:
        sound: [frames, channels] of floats; what is beyond [-1, 1] is cut off.
        sample_rate: in hertz.
    """
    channels = sound.shape[1]
    scaled = sound.astype(np.float32) * np.float32(32768)
    nearest = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    data: bytes = np.clip(nearest, -32768, 32767).astype("<i2").tobytes()
    rate = sample_rate * channels * 2
    form: bytes = struct.pack("<HHIIHH", 1, channels, sample_rate, rate, channels * 2, 16)
    body: bytes = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body
