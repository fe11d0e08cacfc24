"""`tf.audio`, spectrograms and MFCC, on the host."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32, int32, string
from byparts_tf_files.shape import Dims
from byparts_tf_files.wav import samples_of_wav, wav_of

_INSIDE = "contrib.framework.python.ops.audio_ops"
_LEAST = 1e-12  # of the energy in a band


class DecodeWav(NamedTuple):
    """A WAV file."""

    audio: Tensor
    sample_rate: Tensor


def _decode(contents: Any, channels: int, samples: int) -> tuple[Any, Any]:
    found, rate = samples_of_wav(bytes(np.asarray(contents, object)[()]))
    if channels > 0 and channels != found.shape[1]:
        at = np.minimum(np.arange(channels), found.shape[1] - 1)
        found = found[:, at]
    if samples >= 0 and samples != len(found):
        made = np.zeros((samples, found.shape[1]), np.float32)
        made[: len(found)] = found[:samples]
        found = made
    return found, np.int32(rate)


def _wav_dims(inputs: Any, *, channels: int, samples: int) -> list[Dims]:
    return [(samples if samples >= 0 else None, channels if channels > 0 else None), ()]


_DECODE = Kind("DecodeWav", host=_decode, shape=_wav_dims, dtype=[float32, int32], gradient=False)


@symbol("audio.decode_wav", f"{_INSIDE}.decode_wav")
def decode_wav(
    contents: TensorLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: Optional[str] = None,
) -> DecodeWav:
    """The samples [samples, channels] of a WAV file of 16 bits, in [-1, 1), and their rate.

    Args:
        contents: the file.
        desired_channels: cut, or the last one repeated, to so many.
        desired_samples: cut, or followed by zeros, to so many.
        name: of the operation.
    """
    given = convert_to_tensor(contents, string, "contents")
    how = {"channels": int(desired_channels), "samples": int(desired_samples)}
    return DecodeWav(*_DECODE.outputs(given, name=name, **how))


def _encode(audio: Any, rate: Any) -> Any:
    made = np.empty((), object)
    made[()] = wav_of(audio, int(rate))
    return made


_ENCODE = Kind("EncodeWav", host=_encode, shape=scalar, dtype=string, gradient=False)


@symbol("audio.encode_wav", f"{_INSIDE}.encode_wav")
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: Optional[str] = None) -> Tensor:
    """Samples [samples, channels] in [-1, 1] as a WAV file of 16 bits."""
    given = convert_to_tensor(audio, float32), convert_to_tensor(sample_rate, int32)
    return _ENCODE(*given, name=name)


def _bins(window: int) -> int:
    return (1 << max(0, window - 1).bit_length()) // 2 + 1


def _spectrogram(audio: Any, window: int, stride: int, squared: bool) -> Any:
    count = max(0, 1 + (len(audio) - window) // stride)
    at = np.arange(count)[:, None] * stride + np.arange(window)
    taper = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    frames = np.moveaxis(audio.astype(np.float64)[at], 2, 0) * taper  # [channels, frames, window]
    found = np.fft.rfft(frames, 2 * (_bins(window) - 1), -1)
    energy = found.real**2 + found.imag**2
    return (energy if squared else np.sqrt(energy)).astype(np.float32)


def _spectrogram_dims(inputs: Any, *, window: int, stride: int, squared: bool) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return (None, None, _bins(window))
    if len(dims) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(dims)} for 'AudioSpectrogram'")
    frames = None if dims[0] is None else max(0, 1 + (dims[0] - window) // stride)
    return (dims[1], frames, _bins(window))


_SPECTROGRAM = Kind(
    "AudioSpectrogram", host=_spectrogram, shape=_spectrogram_dims, dtype=float32, gradient=False
)


@symbol(f"{_INSIDE}.audio_spectrogram")
def audio_spectrogram(
    input: TensorLike,
    window_size: int,
    stride: int,
    magnitude_squared: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Strength of each frequency in each window: [channels, windows, frequencies].

    Args:
        input: samples [samples, channels].
        window_size: samples in a window (Hann's).
        stride: from window to window.
        magnitude_squared: whether energies are given rather than their roots.
        name: of the operation.
    """
    if window_size < 2 or stride < 1:
        raise ValueError(f"window_size is at least 2 and stride 1, not {window_size}, {stride}")
    how = {"window": int(window_size), "stride": int(stride), "squared": bool(magnitude_squared)}
    return _SPECTROGRAM(convert_to_tensor(input, float32), name=name, **how)


def _mel(frequency: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(frequency) / 700.0)


def _bands(bins: int, rate: float, low: float, high: float, count: int) -> Any:
    """Weights of the mel filter bank, from frequencies to bands: [bins, count]."""
    start_mel, span = _mel(low), _mel(high) - _mel(low)
    centres = start_mel + span / (count + 1) * np.arange(1, count + 2)
    step = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / step), int(high / step)
    edges = np.concatenate([[start_mel], centres])
    made = np.zeros((bins, count))
    for i in range(first, min(last, bins - 1) + 1):
        mel = _mel(i * step)
        above = min(int(np.searchsorted(centres, mel)), count)
        share = (edges[above + 1] - mel) / (edges[above + 1] - edges[above])
        if above > 0:
            made[i, above - 1] += share
        if above < count:
            made[i, above] += 1 - share
    return made


def _mfcc(spectrogram: Any, rate: Any, low: float, high: float, bands: int, count: int) -> Any:
    weights = _bands(spectrogram.shape[-1], float(rate), low, high, bands)
    strength = np.sqrt(spectrogram.astype(np.float64)) @ weights
    turns = np.arange(count)[:, None] * np.pi / bands * (np.arange(bands) + 0.5)
    cosines = np.sqrt(2.0 / bands) * np.cos(turns)
    return (np.log(np.maximum(strength, _LEAST)) @ cosines.T).astype(np.float32)


_MFCC = Kind(
    "Mfcc",
    host=_mfcc,
    shape=lambda inputs, count, **_: (
        (None, None, count) if inputs[0].dims is None else (*inputs[0].dims[:2], count)
    ),
    dtype=float32,
    gradient=False,
)


@symbol(f"{_INSIDE}.mfcc")
def mfcc(
    spectrogram: TensorLike,
    sample_rate: TensorLike,
    upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: Optional[str] = None,
) -> Tensor:
    """Mel frequency cepstral coefficients: [channels, windows, coefficients].

    Args:
        spectrogram: energies, of `audio_spectrogram`.
        sample_rate: samples in a second.
        upper_frequency_limit: in Hz.
        lower_frequency_limit: in Hz.
        filterbank_channel_count: bands between them.
        dct_coefficient_count: coefficients that are given.
        name: of the operation.
    """
    given = convert_to_tensor(spectrogram, float32), convert_to_tensor(sample_rate, int32)
    return _MFCC(
        *given,
        name=name,
        low=float(lower_frequency_limit),
        high=float(upper_frequency_limit),
        bands=int(filterbank_channel_count),
        count=int(dct_coefficient_count),
    )


def _decode_any(contents: Any, file_format: str, rate: int, channels: int) -> Any:
    if file_format != "wav":
        raise NotImplementedError(
            f"decode_audio reads WAV files, not {file_format!r}: convert them, "
            f"`ffmpeg -i in.{file_format} -ac {channels} -ar {rate} out.wav`"
        )
    found, own_rate = samples_of_wav(bytes(np.asarray(contents, object)[()]))
    if own_rate != rate or found.shape[1] != channels:
        raise NotImplementedError(
            f"decode_audio keeps the rate of {own_rate} and the {found.shape[1]} channels of a "
            f"file: convert it to {rate} and {channels}"
        )
    return found


_DECODE_ANY = Kind(
    "DecodeAudio",
    host=_decode_any,
    shape=lambda inputs, channels, **_: (None, channels),
    dtype=float32,
    gradient=False,
)


@symbol("contrib.ffmpeg.decode_audio")
def decode_audio(
    contents: TensorLike,
    file_format: str,
    samples_per_second: int,
    channel_count: int,
    stream: Any = None,
) -> Tensor:
    """The samples [samples, channels] of a WAV file.

    Raises at run time:
        UnimplementedError: of another format, rate or number of channels: ffmpeg is not here.
    """
    given = convert_to_tensor(contents, string, "contents")
    how: dict[str, Any] = {"rate": int(samples_per_second), "channels": int(channel_count)}
    return _DECODE_ANY(given, file_format=str(file_format), **how)
