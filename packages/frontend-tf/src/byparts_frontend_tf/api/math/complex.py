"""Complex tensors: on the host; their real and imaginary parts, where known, are in the graph.

A tensor that `tf.complex` or a transform made knows its two parts, and what reads it by its parts
(real, imag, abs, angle, conj, other transforms) is computed in the graph, so that gradients pass.
Anything else is computed on the host, without a gradient.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import pair
from byparts_frontend_tf.api.math.binary import atan2
from byparts_frontend_tf.api.math.complex_parts import ANGLE, IMAG, REAL, of_parts, parts_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

_ONE_REAL = Kind("Real", lambda re, im: re, shape=like_first)  # the other's gradient is 0
_ONE_IMAG = Kind("Imag", lambda re, im: im, shape=like_first)
_CONJ = Kind("Conj", host=np.conj, shape=like_first, gradient=False)


def _length(re: Value, im: Value) -> Value:
    """The root of the sum of squares; the gradient at 0 is 0."""
    squares = re * re + im * im
    some = squares > 0
    return ops.select(
        some, ops.sqrt(ops.select(some, squares, ops.ones_like(squares))), ops.zeros_like(squares)
    )


LENGTH = Kind("ComplexAbs", _length, shape=like_first)


@symbol("complex", "dtypes.complex")
def complex_(real: TensorLike, imag: TensorLike, name: Optional[str] = None) -> Tensor:
    """A complex tensor of its parts, of float32 or float64.

    Raises:
        TypeError: they are of another dtype, or of two.
    """
    re, im, name = pair(real, imag, "Complex", name)
    if re.dtype.base_dtype.name not in ("float32", "float64"):
        raise TypeError(f"real and imag have incorrect types: {re.dtype.name} {im.dtype.name}")
    return of_parts(re, im, name)


@symbol("real", "math.real")
def real(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The real part."""
    x = convert_to_tensor(input)
    if not x.dtype.base_dtype.is_complex:
        return x
    return _ONE_REAL(*parts_of(x), name=name) if x.complex_parts else REAL(x, name=name)


@symbol("imag", "math.imag")
def imag(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The imaginary part."""
    x = convert_to_tensor(input)
    if not x.dtype.base_dtype.is_complex:
        return x * 0  # type: ignore[no-any-return]  # a tensor
    return _ONE_IMAG(*parts_of(x), name=name) if x.complex_parts else IMAG(x, name=name)


@symbol("conj", "math.conj")
def conj(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The conjugate; a real tensor itself."""
    given = convert_to_tensor(x)
    if not given.dtype.base_dtype.is_complex:
        return given
    if not given.complex_parts:
        return _CONJ(given, name=name)
    re, im = parts_of(given)
    return of_parts(re, -im, name)


@symbol("angle", "math.angle")
def angle(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The angle of each number."""
    x = convert_to_tensor(input)
    if not x.dtype.base_dtype.is_complex or x.complex_parts:
        re, im = parts_of(x) if x.dtype.base_dtype.is_complex else (x, x * 0)
        return atan2(im, re)
    return ANGLE(x, name=name)
