"""The Fourier transforms of the array API standard, of complex numbers as pairs [..., 2].

    y = fft.fft(fft.pair(x))                 # x: [..., n], y: [..., n, 2]
    power = fft.real(y) ** 2 + fft.imag(y) ** 2

`axis` and `axes` are those of the complex array: -1 is the axis before the pairs.  `norm` is
"backward" (the inverse is divided by n), "forward", or "ortho".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, ShapeError, Value, dtype_name
from byparts_linalg.fourier import ADJOINT, Fft, Irfft, Norm, Rfft, pairs
from byparts_linalg.matrices import rank_of
from byparts_opset.broadcast import normal_axes, normal_axis

Sizes = Sequence[int]
Axes = Sequence[int]


def pair(re: Value, im: Value | None = None) -> Value:
    """Complex numbers of their real and imaginary parts (0 by default): [...] -> [..., 2]."""
    return ops.stack([re, ops.zeros_like(re) if im is None else im], -1)


def real(x: Value) -> Value:
    """The real parts of pairs: [..., 2] -> [...]."""
    return ops.getitem(x, (..., 0))


def imag(x: Value) -> Value:
    """The imaginary parts of pairs: [..., 2] -> [...]."""
    return ops.getitem(x, (..., 1))


def conj(x: Value) -> Value:
    """The conjugates of pairs [..., 2]."""
    return x * ops.constant([1.0, -1.0], x.type.dtype)


def fft(x: Value, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Value:
    """The transform along an axis, cut or filled with zeros to n points first.

    Raises:
        ShapeError: x is not pairs [..., 2] of f32 or f64, or has no such axis.
    """
    return Fft(axis, norm)(_sized("fft", x, n, axis))


def ifft(x: Value, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Value:
    """The inverse of `fft`."""
    return Fft(axis, norm, True)(_sized("ifft", x, n, axis))


def fftn(
    x: Value, *, s: Sizes | None = None, axes: Axes | None = None, norm: Norm = "backward"
) -> Value:
    """The transform along several axes, by default along all, or as many last ones as `s` has."""
    for axis, n in _places("fftn", x, s, axes):
        x = fft(x, n=n, axis=axis, norm=norm)
    return x


def ifftn(
    x: Value, *, s: Sizes | None = None, axes: Axes | None = None, norm: Norm = "backward"
) -> Value:
    """The inverse of `fftn`."""
    for axis, n in _places("ifftn", x, s, axes):
        x = ifft(x, n=n, axis=axis, norm=norm)
    return x


def rfft(x: Value, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Value:
    """The first n // 2 + 1 numbers of the transform of real x: [..., n // 2 + 1, 2]."""
    axis = normal_axis("rfft", axis, rank_of("rfft", x))
    return Rfft(axis, norm)(_cut(x, n, axis))


def irfft(x: Value, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Value:
    """The n real numbers whose transform begins with x; n is 2 (m - 1) for m pairs by default."""
    shape = pairs("irfft", x.type)
    axis = normal_axis("irfft", axis, len(shape))
    size = n
    if size is None:
        m = shape[axis]
        if not isinstance(m, int):
            raise ShapeError(f"irfft: n depends on the size along axis {axis} of {x.type}; give n")
        size = 2 * (m - 1)
    return Irfft(axis, norm, size)(_cut(x, size // 2 + 1, axis))


def rfftn(
    x: Value, *, s: Sizes | None = None, axes: Axes | None = None, norm: Norm = "backward"
) -> Value:
    """`rfft` along the last of the axes, then `fft` along the others."""
    *others, (last, n) = _places("rfftn", x, s, axes, real=True)
    y = rfft(x, n=n, axis=last, norm=norm)
    for axis, size in others:
        y = fft(y, n=size, axis=axis, norm=norm)
    return y


def irfftn(
    x: Value, *, s: Sizes | None = None, axes: Axes | None = None, norm: Norm = "backward"
) -> Value:
    """The inverse of `rfftn`: `ifft` along all axes but the last, then `irfft`."""
    *others, (last, n) = _places("irfftn", x, s, axes)
    for axis, size in others:
        x = ifft(x, n=size, axis=axis, norm=norm)
    return irfft(x, n=n, axis=last, norm=norm)


def hfft(x: Value, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Value:
    """The real transform of x, of which x is the first half: x[-j] is the conjugate of x[j]."""
    return irfft(conj(x), n=n, axis=axis, norm=_adjoint("hfft", norm))


def ihfft(x: Value, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Value:
    """The inverse of `hfft`."""
    return conj(rfft(x, n=n, axis=axis, norm=_adjoint("ihfft", norm)))


def fftfreq(n: int, *, d: float = 1.0, dtype: object = "f32") -> Value:
    """The frequencies of `fft` on n points at distance d: [n], those below 0 in the second half."""
    return ops.constant(np.fft.fftfreq(n, d), dtype_name(dtype))


def rfftfreq(n: int, *, d: float = 1.0, dtype: object = "f32") -> Value:
    """The frequencies of `rfft` on n points at distance d: [n // 2 + 1]."""
    return ops.constant(np.fft.rfftfreq(n, d), dtype_name(dtype))


def fftshift(x: Value, *, axes: int | Axes | None = None, real: bool = False) -> Value:
    """Move frequency 0 to the middle of each axis, by default of all.

    Args:
        x: pairs [..., 2], or numbers, as of `fftfreq`, with `real`.
        axes: of the complex array.
        real: whether x has no axis of pairs.
    """
    return _rolled("fftshift", x, axes, real, 0)


def ifftshift(x: Value, *, axes: int | Axes | None = None, real: bool = False) -> Value:
    """The inverse of `fftshift`."""
    return _rolled("ifftshift", x, axes, real, 1)


def _rolled(name: str, x: Value, axes: int | Axes | None, real: bool, more: int) -> Value:
    shape = (x.type.shape or ()) if real else pairs(name, x.type)
    for axis in normal_axes(name, axes, len(shape)):
        n = shape[axis]
        if not isinstance(n, int):
            raise ShapeError(f"{name}: the size along axis {axis} of {x.type} is not known")
        before = (slice(None),) * axis
        at = (n + 1 - more) // 2
        if n > 1:
            parts = [ops.getitem(x, (*before, s)) for s in (slice(at, None), slice(None, at))]
            x = ops.concat(parts, axis)
    return x


def _places(
    name: str, x: Value, s: Sizes | None, axes: Axes | None, real: bool = False
) -> list[tuple[int, int | None]]:
    """Axes, counted from the front, with the number of points that each is cut or filled to."""
    rank = rank_of(name, x) if real else len(pairs(name, x.type))
    chosen: Iterable[int] = range(rank - (rank if s is None else len(s)), rank)
    if axes is not None:
        chosen = [normal_axis(name, axis, rank) for axis in axes]
    numbers = list(chosen)
    if not numbers or (s is not None and len(s) != len(numbers)):
        raise ArgumentError(f"{name}: s is {s} and axes are {axes}; give as many of both, not none")
    return [(axis, None if s is None else s[i]) for i, axis in enumerate(numbers)]


def _sized(name: str, x: Value, n: int | None, axis: int) -> Value:
    return _cut(x, n, normal_axis(name, axis, len(pairs(name, x.type))))


def _cut(x: Value, n: int | None, axis: int) -> Value:
    """x, cut or filled with zeros to n along an axis."""
    have = (x.type.shape or ())[axis]
    if n is None or have == n:
        return x
    if not isinstance(have, int):
        raise ShapeError(
            f"fft: to {n} points along axis {axis}: how many {x.type} has is not known"
        )
    if have > n:
        return ops.getitem(x, (*(slice(None),) * axis, slice(0, n)))
    return ops.pad(x, [(0, n - have if a == axis else 0) for a in range(rank_of("pad", x))])


def _adjoint(name: str, norm: Norm) -> Norm:
    if norm not in ADJOINT:
        raise ArgumentError(f"{name}: norm is {norm!r}; it is 'backward', 'ortho' or 'forward'")
    return ADJOINT[norm]
