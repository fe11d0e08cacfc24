"""`tf.signal`: frames of sound, their spectra, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.linalg.matmul import tensordot
from byparts_frontend_tf.api.pad import pad as padded
from byparts_frontend_tf.api.signal.fft import irfft, rfft
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import F, symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import as_dtype, float32
from byparts_tf_files.shape import Dims


def signal_symbol(name: str) -> Callable[[F], F]:
    """Decorator that declares a name in `tf.signal` and in `contrib.signal`."""
    return symbol(f"signal.{name}", f"contrib.signal.{name}")


def _window(a: float, length: int, periodic: bool, dtype: Any) -> Tensor:
    n = length + (1 if periodic and length % 2 == 0 else 0) - 1
    count = np.arange(length)
    rows = a - (1 - a) * np.cos(2 * np.pi * count / max(n, 1)) if length > 1 else np.ones(length)
    return convert_to_tensor(rows.astype(as_dtype(dtype).as_numpy_dtype))


@signal_symbol("hann_window")
def hann_window(
    window_length: Any, periodic: bool = True, dtype: Any = float32, name: Optional[str] = None
) -> Tensor:
    """0.5 - 0.5 cos(2 pi i / n)."""
    return _window(0.5, number(window_length, "window_length"), bool(periodic), dtype)


@signal_symbol("hamming_window")
def hamming_window(
    window_length: Any, periodic: bool = True, dtype: Any = float32, name: Optional[str] = None
) -> Tensor:
    """0.54 - 0.46 cos(2 pi i / n)."""
    return _window(0.54, number(window_length, "window_length"), bool(periodic), dtype)


def _count(n: int, length: int, step: int, pad: bool) -> int:
    return -(-n // step) if pad else max(0, 1 + (n - length) // step)


def _frames(x: Value, length: int, step: int, pad: bool, value: float) -> Value:
    n, rank = x.type.dims[-1], len(x.type.dims)
    count = _count(n, length, step, pad)
    whole = max(0, (count - 1) * step + length)
    if whole > n:
        x = ops.pad(x, [(0, 0)] * (rank - 1) + [(0, whole - n)], value)
    places = np.arange(count)[:, None] * step + np.arange(length)
    return ops.gather(x, ops.constant(places), rank - 1)


def _frames_shape(inputs: Any, length: int, step: int, pad: bool, value: float) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    count = None if dims[-1] is None else _count(dims[-1], length, step, pad)
    return (*dims[:-1], count, length)


FRAME = Kind("Frame", _frames, shape=_frames_shape)


@signal_symbol("frame")
def frame(
    signal: TensorLike,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: Optional[str] = None,
) -> Tensor:
    """Pieces of `frame_length`, one every `frame_step`: [..., frames, frame_length].

    Raises:
        ValueError: along another axis than the last.
    """
    x = convert_to_tensor(signal)
    if axis not in (-1, len(x.shape) - 1 if x.dims is not None else -1):
        raise ValueError("frame: only along the last axis; transpose the signal first")
    length, step = number(frame_length, "frame_length"), number(frame_step, "frame_step")
    given = {"length": length, "step": step, "pad": bool(pad_end), "value": float(pad_value)}
    return FRAME(x, name=name or "frame", **given)


def _overlapped(x: Value, step: int) -> Value:
    *batch, count, length = x.type.dims
    size = (count - 1) * step + length if count else 0
    rows = ops.reshape(x, [int(np.prod(batch)), count * length])
    places = (np.arange(count)[:, None] * step + np.arange(length)).reshape(-1)
    like = ops.fill(0, x.type.dtype, [int(np.prod(batch)), size])
    return ops.reshape(ops.scatter_add(ops.constant(places), rows, like, 1), [*batch, size])


def _overlapped_shape(inputs: Any, step: int) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    known = None not in dims[-2:]
    return (*dims[:-2], (dims[-2] - 1) * step + dims[-1] if known else None)


OVERLAP = Kind("OverlapAndAdd", _overlapped, shape=_overlapped_shape)


@signal_symbol("overlap_and_add")
def overlap_and_add(signal: TensorLike, frame_step: Any, name: Optional[str] = None) -> Tensor:
    """Frames [..., frames, length] laid one every `frame_step`, and added where they overlap."""
    step = number(frame_step, "frame_step")
    return OVERLAP(convert_to_tensor(signal), name=name or "overlap_and_add", step=step)


def _power_of_two(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())


@signal_symbol("stft")
def stft(
    signals: TensorLike,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Any = hann_window,
    pad_end: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """The spectra of frames: [..., frames, fft_length / 2 + 1], complex."""
    with name_scope(name, "stft"):
        length = number(frame_length, "frame_length")
        size = _power_of_two(length) if fft_length is None else number(fft_length, "fft_length")
        frames = frame(signals, length, frame_step, pad_end)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return rfft(frames, [size])


@signal_symbol("inverse_stft")
def inverse_stft(
    stfts: TensorLike,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Any = hann_window,
    name: Optional[str] = None,
) -> Tensor:
    """Sound of spectra; it is what was given to `stft` with `inverse_stft_window_fn`."""
    with name_scope(name, "inverse_stft"):
        length = number(frame_length, "frame_length")
        size = _power_of_two(length) if fft_length is None else number(fft_length, "fft_length")
        frames = irfft(stfts, [size])[..., :length]
        if length > size:
            frames = padded(frames, [[0, 0]] * (len(frames.shape) - 1) + [[0, length - size]])
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)


@signal_symbol("inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Any = hann_window, name: Optional[str] = None
) -> Callable[..., Any]:
    """A window for `inverse_stft` that undoes the one of `stft`."""
    step = number(frame_step, "frame_step")

    def inverse_window(frame_length: Any, dtype: Any = float32) -> Any:
        length = number(frame_length, "frame_length")
        window = static_value(forward_window_fn(length, dtype=dtype))
        if window is None:
            raise ValueError("the forward window has to be known when the graph is built")
        squares = np.zeros(-(-length // step) * step)
        squares[:length] = np.square(window)
        total = squares.reshape(-1, step).sum(0)
        undone = window / np.tile(total, len(squares) // step)[:length]
        return convert_to_tensor(undone.astype(as_dtype(dtype).as_numpy_dtype))

    return inverse_window


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log(1.0 + np.asarray(hertz, np.float64) / 700.0)


@signal_symbol("linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = float32,
    name: Optional[str] = None,
) -> Tensor:
    """Triangles on the mel scale: [num_spectrogram_bins, num_mel_bins]."""
    count = number(num_spectrogram_bins, "num_spectrogram_bins")
    bins = _mel(np.linspace(0.0, number(sample_rate, "sample_rate") / 2.0, count)[1:])[:, None]
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
    lower, centre, upper = edges[:-2], edges[1:-1], edges[2:]
    up, down = (bins - lower) / (centre - lower), (upper - bins) / (upper - centre)
    rows = np.maximum(0.0, np.minimum(up, down))
    return convert_to_tensor(np.pad(rows, [[1, 0], [0, 0]]).astype(as_dtype(dtype).as_numpy_dtype))


def _cosines(n: int) -> Any:
    return 2 * np.cos(np.pi * np.outer(2 * np.arange(n) + 1, np.arange(n)) / (2 * n))


@symbol("spectral.dct", "signal.dct")
def dct(
    input: TensorLike,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Optional[str] = None,
    name: Optional[str] = None,
) -> Tensor:
    """The discrete cosine transform of type 2 of the last axis.

    Raises:
        NotImplementedError: another type.
    """
    if type != 2 or axis != -1 or n is not None:
        raise NotImplementedError("dct: only type 2, of the whole last axis")
    x = convert_to_tensor(input)
    size = x.shape[-1].value
    if size is None:
        raise ValueError("dct: the size of the last axis has to be known")
    matrix = _cosines(size)
    if norm == "ortho":
        matrix = matrix * np.array([0.5 / size**0.5, *[(0.5 / size) ** 0.5] * (size - 1)])
    return tensordot(x, matrix.astype(x.dtype.as_numpy_dtype), 1)


@symbol("spectral.idct")
@signal_symbol("idct")
def idct(
    input: TensorLike,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Optional[str] = None,
    name: Optional[str] = None,
) -> Tensor:
    """The inverse of `dct`; 2 n times that without norm="ortho".

    Raises:
        NotImplementedError: another type than 2.
    """
    if type != 2 or axis != -1 or n is not None:
        raise NotImplementedError("idct: only type 2, of the whole last axis")
    x = convert_to_tensor(input)
    size = x.shape[-1].value
    if size is None:
        raise ValueError("idct: the size of the last axis has to be known")
    rows = _cosines(size).T
    if norm == "ortho":
        rows = rows * np.array([[0.5 / size**0.5], *[[(0.5 / size) ** 0.5]] * (size - 1)])
    else:
        rows = rows * np.array([[0.5], *[[1.0]] * (size - 1)])
    return tensordot(x, rows.astype(x.dtype.as_numpy_dtype), 1)


@signal_symbol("mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The cosine transform of logarithms on the mel scale, over the root of twice their count."""
    x = convert_to_tensor(log_mel_spectrograms)
    size = x.shape[-1].value
    made: Tensor = dct(x) * (1.0 / (2.0 * float(size or 1)) ** 0.5)
    return made
