"""Complex tensors that know their real and imaginary parts; gradients pass through the parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import constant_of
from byparts_frontend_tf.graph.infer import broadcast, like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_tf_files.dtypes import complex64, complex128

Parts = tuple[Tensor, Tensor]

_COMPLEX = Kind(
    "Complex",
    host=lambda re, im: re + 1j * im,
    shape=broadcast,
    dtype=lambda inputs: complex64 if inputs[0].dtype.size == 4 else complex128,
    gradient=False,
)


def of_parts(re: Tensor, im: Tensor, name: Optional[str] = None) -> Tensor:
    """A complex tensor that knows its parts."""
    made = _COMPLEX(re, im, name=name)
    made.complex_parts = re, im
    return made


def _part(type: str, function: Any) -> Kind:
    return Kind(
        type,
        host=function,
        shape=like_first,
        dtype=lambda inputs: inputs[0].dtype.base_dtype.real_dtype,
        gradient=False,
    )


REAL, IMAG, ANGLE = _part("Real", np.real), _part("Imag", np.imag), _part("Angle", np.angle)


def parts_of(x: Tensor) -> Parts:
    """The real and the imaginary part of a complex tensor."""
    known = x.complex_parts
    if known is None and x.op.type == "Const":
        value = x.op.attributes["value"]
        return constant_of(value.real, "real"), constant_of(value.imag, "imag")
    return (REAL(x), IMAG(x)) if known is None else known


def by_parts(type: str, x: Tensor, y: Tensor, name: Optional[str]) -> Optional[Tensor]:
    """A sum, difference, product or quotient of complex tensors by their parts.

    `None`: it is another function, or the parts are known of neither.
    """
    if type not in _BY_PARTS or not (x.complex_parts or y.complex_parts):
        return None
    with name_scope(name, type):
        return of_parts(*_BY_PARTS[type](*parts_of(x), *parts_of(y)))


def _product(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Parts:
    return a * c - b * d, a * d + b * c


def _quotient(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Parts:
    size = c * c + d * d
    re, im = _product(a, b, c, -d)
    return re / size, im / size


_BY_PARTS: dict[str, Callable[..., Parts]] = {
    "Add": lambda a, b, c, d: (a + c, b + d),
    "Sub": lambda a, b, c, d: (a - c, b - d),
    "Mul": _product,
    "RealDiv": _quotient,
}
