"""Discrete Fourier transforms, in the graph: products with matrices of roots of unity.

A transform of a size with factors is done in two steps (Cooley and Tukey 1965), each of at most
512 by a matrix; so 1024 costs as much as a product with a matrix of 64 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers
from byparts_frontend_tf.api.math.complex_parts import of_parts, parts_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims

Pair = tuple[Value, Value]
_WHOLE = 32  # a transform of this size, or of a prime one, is one product


def _turned(x: Value) -> Value:
    rank = len(x.type.dims)
    return ops.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def _times(a: Pair, b: Pair, product: Callable[[Value, Value], Value]) -> Pair:
    return product(a[0], b[0]) - product(a[1], b[1]), product(a[0], b[1]) + product(a[1], b[0])


def _roots(rows: Any, columns: Any, n: int, dtype: str) -> Pair:
    """exp(-2 pi i rows columns / n)."""
    angles = -2 * np.pi * (np.outer(rows, columns) % n) / n
    return ops.constant(np.cos(angles), dtype), ops.constant(np.sin(angles), dtype)


def _rows_times(x: Value, matrix: Value) -> Value:
    rows = ops.reshape(x, [1, *x.type.dims]) if len(x.type.dims) == 1 else x
    return ops.reshape(ops.matmul(rows, matrix), x.type.dims)


def _factor(n: int) -> int:
    """The factor nearest to the root of n, from below."""
    return max(d for d in range(1, int(n**0.5) + 1) if n % d == 0)


def transform(x: Pair) -> Pair:
    """The discrete Fourier transform along the last axis, in f64: sums of f32 lose digits."""
    dtype = x[0].type.dtype
    re, im = _transformed((ops.cast(x[0], "f64"), ops.cast(x[1], "f64")))
    return ops.cast(re, dtype), ops.cast(im, dtype)


def _transformed(x: Pair) -> Pair:
    *batch, n = x[0].type.dims
    first, dtype = _factor(n) if n > _WHOLE else 1, x[0].type.dtype
    if first == 1:
        return _times(x, _roots(range(n), range(n), n, dtype), _rows_times)
    second = n // first
    columns = [_turned(ops.reshape(part, [*batch, first, second])) for part in x]
    there = _transformed((columns[0], columns[1]))  # [..., second, first]
    twisted = _times(there, _roots(range(second), range(first), n, dtype), ops.mul)
    back = _transformed((_turned(twisted[0]), _turned(twisted[1])))  # [..., first, second]
    re, im = (ops.reshape(_turned(part), [*batch, n]) for part in back)
    return re, im


def _opposite(x: Pair) -> Pair:
    n = x[0].type.dims[-1]
    re, im = transform((x[0], -x[1]))
    return re * (1 / max(n, 1)), im * (-1 / max(n, 1))


def _along_both(function: Callable[[Pair], Pair]) -> Callable[[Value, Value], Pair]:
    def meaning(re: Value, im: Value) -> Pair:
        a, b = function((re, im))
        a, b = function((_turned(a), _turned(b)))
        return _turned(a), _turned(b)

    return meaning


def _alike(inputs: Sequence[Tensor], **_: Any) -> list[Dims]:
    return [inputs[0].dims, inputs[0].dims]


def _two(type: str, meaning: Callable[..., Pair], shape: Any = _alike) -> Kind:
    return Kind(
        type,
        meaning,
        shape=shape,
        dtype=lambda inputs, **_: [inputs[0].dtype.base_dtype] * 2,
    )


FFT = _two("FFT", lambda re, im: transform((re, im)))
IFFT = _two("IFFT", lambda re, im: _opposite((re, im)))
FFT2D, IFFT2D = _two("FFT2D", _along_both(transform)), _two("IFFT2D", _along_both(_opposite))


def _sized(x: Value, n: int) -> Value:
    """The last axis cut, or filled with zeros."""
    have = x.type.dims[-1]
    if have > n:
        return ops.getitem(x, (..., slice(0, n)))
    rank = len(x.type.dims)
    return ops.pad(x, [(0, 0)] * (rank - 1) + [(0, n - have)]) if have < n else x


def _of_real(x: Value, size: Optional[int]) -> Pair:
    n = x.type.dims[-1] if size is None else size
    given = _sized(x, n)
    re, im = transform((given, ops.zeros_like(given)))
    half = (..., slice(0, n // 2 + 1))
    return ops.getitem(re, half), ops.getitem(im, half)


def _half_shape(inputs: Sequence[Tensor], *, size: Optional[int]) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None, None]
    n = dims[-1] if size is None else size
    return [(*dims[:-1], None if n is None else n // 2 + 1)] * 2


def _to_real(re: Value, im: Value, size: Optional[int]) -> Value:
    n = 2 * (re.type.dims[-1] - 1) if size is None else size
    half = n // 2 + 1
    a, b = _sized(re, half), _sized(im, half)
    rank, more = len(a.type.dims), n - half
    mirrored = [ops.reverse(ops.getitem(t, (..., slice(1, more + 1))), [rank - 1]) for t in (a, b)]
    whole = ops.concat([a, mirrored[0]], rank - 1), ops.concat([b, -mirrored[1]], rank - 1)
    return _opposite(whole)[0]


def _whole_shape(inputs: Sequence[Tensor], *, size: Optional[int]) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    n = 2 * (dims[-1] - 1) if size is None and dims[-1] is not None else size
    return (*dims[:-1], n)


def _of_real_2d(x: Value, size: Optional[Sequence[int]]) -> Pair:
    rows, columns = x.type.dims[-2:] if size is None else size
    re, im = _of_real(_turned(_sized(_turned(x), rows)), columns)
    return _along_columns(transform, re, im)


def _to_real_2d(re: Value, im: Value, size: Optional[Sequence[int]]) -> Value:
    rows, columns = (re.type.dims[-2], None) if size is None else size
    sized = [_turned(_sized(_turned(part), rows)) for part in (re, im)]
    return _to_real(*_along_columns(_opposite, *sized), columns)


def _along_columns(function: Callable[[Pair], Pair], re: Value, im: Value) -> Pair:
    a, b = function((_turned(re), _turned(im)))
    return _turned(a), _turned(b)


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


RFFT = _two("RFFT", _of_real, _half_shape)
RFFT2D = _two("RFFT2D", _of_real_2d, _of_two(_half_shape))
IRFFT = Kind("IRFFT", _to_real, shape=_whole_shape)
IRFFT2D = Kind("IRFFT2D", _to_real_2d, shape=_of_two(_whole_shape))


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
