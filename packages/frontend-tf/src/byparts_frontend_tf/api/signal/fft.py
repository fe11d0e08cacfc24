"""Discrete Fourier transforms: those of byparts-linalg, on real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.arguments import numbers
from byparts_frontend_tf.api.math.complex_parts import of_parts, parts_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_linalg import fft as fourier
from byparts_tf_files.shape import Dims

Pair = tuple[Value, Value]
_MATRIX = (-2, -1)  # axes


def _parts(x: Value) -> Pair:
    return fourier.real(x), fourier.imag(x)


def _alike(inputs: Sequence[Tensor], **_: Any) -> list[Dims]:
    return [inputs[0].dims, inputs[0].dims]


def _two(type: str, meaning: Callable[..., Pair], shape: Any = _alike) -> Kind:
    return Kind(
        type,
        meaning,
        shape=shape,
        dtype=lambda inputs, **_: [inputs[0].dtype.base_dtype] * 2,
    )


def _of_pairs(type: str, transform: Callable[[Value], Value]) -> Kind:
    return _two(type, lambda re, im: _parts(transform(fourier.pair(re, im))))


FFT, IFFT = _of_pairs("FFT", fourier.fft), _of_pairs("IFFT", fourier.ifft)
FFT2D = _of_pairs("FFT2D", partial(fourier.fftn, axes=_MATRIX))
IFFT2D = _of_pairs("IFFT2D", partial(fourier.ifftn, axes=_MATRIX))


def _half_shape(inputs: Sequence[Tensor], *, size: Optional[int]) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None, None]
    n = dims[-1] if size is None else size
    return [(*dims[:-1], None if n is None else n // 2 + 1)] * 2


def _whole_shape(inputs: Sequence[Tensor], *, size: Optional[int]) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    n = 2 * (dims[-1] - 1) if size is None and dims[-1] is not None else size
    return (*dims[:-1], n)


def _of_two(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of shapes of a transform of two axes, from that of its last axis."""

    def shapes(inputs: Sequence[Tensor], *, size: Optional[Sequence[int]]) -> Any:
        found = rule(inputs, size=None if size is None else size[1])
        if size is None or inputs[0].dims is None:
            return found
        several = isinstance(found, list)
        sized = [(*d[:-2], size[0], d[-1]) for d in (found if several else [found])]
        return sized if several else sized[0]

    return shapes


RFFT = _two("RFFT", lambda x, size: _parts(fourier.rfft(x, n=size)), _half_shape)
RFFT2D = _two(
    "RFFT2D",
    lambda x, size: _parts(fourier.rfftn(x, s=size, axes=_MATRIX)),
    _of_two(_half_shape),
)
IRFFT = Kind(
    "IRFFT", lambda re, im, size: fourier.irfft(fourier.pair(re, im), n=size), shape=_whole_shape
)
IRFFT2D = Kind(
    "IRFFT2D",
    lambda re, im, size: fourier.irfftn(fourier.pair(re, im), s=size, axes=_MATRIX),
    shape=_of_two(_whole_shape),
)


def _complex(kind: Kind, what: str) -> Callable[..., Tensor]:
    def apply(input: TensorLike, name: Optional[str] = None) -> Tensor:
        x = convert_to_tensor(input)
        if not x.dtype.base_dtype.is_complex:
            raise TypeError(
                f"Value passed to parameter 'input' has DataType {x.dtype.name} not in list of "
                "allowed values: complex64, complex128"
            )
        re, im = kind.outputs(*parts_of(x), name=name)
        return of_parts(re, im)

    apply.__name__, apply.__module__ = what, __name__
    apply.__doc__ = f"TensorFlow's `{what}`, of the last axis (axes)."
    return apply


fft, ifft = _complex(FFT, "fft"), _complex(IFFT, "ifft")
fft2d, ifft2d = _complex(FFT2D, "fft2d"), _complex(IFFT2D, "ifft2d")


def _size(given: Any) -> Optional[int]:
    return None if given is None else numbers(given, "fft_length")[0]


@symbol("spectral.rfft", "signal.rfft")
def rfft(input_tensor: TensorLike, fft_length: Any = None, name: Optional[str] = None) -> Tensor:
    """The first half of the transform of real rows, cut or filled to `fft_length`."""
    x = convert_to_tensor(input_tensor)
    re, im = RFFT.outputs(x, name=name, size=_size(fft_length))
    return of_parts(re, im)


@symbol("spectral.irfft", "signal.irfft")
def irfft(input_tensor: TensorLike, fft_length: Any = None, name: Optional[str] = None) -> Tensor:
    """The real rows whose transform begins with these numbers."""
    return IRFFT(*parts_of(convert_to_tensor(input_tensor)), name=name, size=_size(fft_length))


def _sizes(given: Any) -> Optional[tuple[int, int]]:
    if given is None:
        return None
    rows, columns = numbers(given, "fft_length")
    return rows, columns


@symbol("spectral.rfft2d", "signal.rfft2d")
def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Optional[str] = None) -> Tensor:
    """The left half of the transform of real matrices, cut or filled to `fft_length`."""
    x = convert_to_tensor(input_tensor)
    re, im = RFFT2D.outputs(x, name=name, size=_sizes(fft_length))
    return of_parts(re, im)


@symbol("spectral.irfft2d", "signal.irfft2d")
def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Optional[str] = None) -> Tensor:
    """The real matrices whose transform has these numbers as its left half."""
    re, im = parts_of(convert_to_tensor(input_tensor))
    return IRFFT2D(re, im, name=name, size=_sizes(fft_length))


_NAMES = ("fft", "ifft", "fft2d", "ifft2d")
SYMBOLS = {f"{place}{n}": n for place in ("", "spectral.", "signal.") for n in _NAMES}
