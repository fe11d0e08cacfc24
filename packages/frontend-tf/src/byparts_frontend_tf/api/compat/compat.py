"""`tf.compat`: bytes and texts, and which kinds of numbers there are."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dimension import Dimension
from byparts_tf_files.shape import TensorShape

integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


@symbol("compat.as_bytes", "python.util.compat.as_bytes")
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Bytes of a text, or bytes as they are.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@symbol(
    *("compat.as_text", "compat.as_str", "python.util.compat.as_text"),
    "python.util.compat.as_str",
)
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The text of bytes, or a text as it is.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@symbol("compat.as_str_any", "python.util.compat.as_str_any")
def as_str_any(value: Any) -> str:
    """The text of bytes, or `str` of anything else."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@symbol("compat.path_to_str", "python.util.compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """A path object as text; anything else as it is."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path


@symbol("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether graphs may use what was new on a day: all of it."""
    return True


@symbol("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Any) -> Any:
    """The number of a `Dimension`, or what is given as it is."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


@symbol("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The dimension of a shape at an index; unknown where the shape is."""
    return Dimension(None) if shape.dims is None else shape.dims[index]


SYMBOLS = {
    f"{place}.{name}": name
    for place in ("compat", "python.util.compat")
    for name in ("integral_types", "real_types", "complex_types", "bytes_or_text_types")
}
