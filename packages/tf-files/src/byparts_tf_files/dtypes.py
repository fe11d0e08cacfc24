"""TensorFlow's dtypes, and which of the graph's own (`f32`) each is computed in.

Dtypes without one of the graph's own (strings, complex numbers, unsigned integers of 16 bits and
more) live on the host: only operations with a `host` function take them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """The dtype of a tensor; `float32_ref` is that of a variable's memory.

    Attributes:
        name: as TensorFlow writes it.
        own: the graph's own name, or "" where values live on the host.
        as_datatype_enum: the number of it in TensorFlow's files.
    """

    __slots__ = ("_numpy", "as_datatype_enum", "is_reference", "name", "other", "own")

    other: DType

    def __init__(self, name: str, number: int, own: str, array: Any, reference: bool) -> None:
        self.name, self.as_datatype_enum, self.own, self._numpy = name, number, own, array
        self.is_reference = reference

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar type; `object` for strings."""
        if self._numpy is None:  # what has bfloat16 is only loaded for it
            self._numpy = _bfloat16()
        return self._numpy

    @property
    def base_dtype(self) -> DType:
        """The dtype without `_ref`."""
        return self.other if self.is_reference else self

    @property
    def _as_ref(self) -> DType:
        return self if self.is_reference else self.other

    _is_ref_dtype = property(lambda self: self.is_reference)

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self.base_dtype.name, self)

    @property
    def _plain(self) -> str:
        return self.name.removesuffix("_ref")

    @property
    def is_floating(self) -> bool:
        """Whether the dtype is one of floating point."""
        return self._plain in ("float16", "bfloat16", "float32", "float64")

    @property
    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self._plain in ("complex64", "complex128")

    @property
    def is_integer(self) -> bool:
        """Whether the dtype is one of integers, without quantized ones."""
        return self._plain.startswith(("int", "uint"))

    @property
    def is_unsigned(self) -> bool:
        """Whether the dtype is one of unsigned integers."""
        return self._plain.startswith("uint")

    @property
    def is_bool(self) -> bool:
        """Whether the dtype is bool."""
        return self._plain == "bool"

    @property
    def is_quantized(self) -> bool:
        """Whether the dtype is quantized."""
        return self._plain.startswith(("qint", "quint"))

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether arrays can hold it."""
        return self._plain not in ("resource", "variant")

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return (
            1
            if self._plain in ("string", "resource")
            else int(np.dtype(self.as_numpy_dtype).itemsize)
        )

    @property
    def min(self) -> Any:
        """The least number."""
        return self._limits().min

    @property
    def max(self) -> Any:
        """The greatest number."""
        return self._limits().max

    def _limits(self) -> Any:
        kind = np.dtype(self.as_numpy_dtype)
        if self.is_floating:
            return np.finfo(kind)
        if self.is_integer:
            return np.iinfo(kind)
        raise TypeError(f"Cannot find minimum or maximum value of {self!r}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least and the greatest number."""
        return self.min, self.max

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor of `other` may be used where this is asked for."""
        return self.base_dtype is as_dtype(other).base_dtype

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if other is None:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


def _bfloat16() -> Any:
    """NumPy's scalar type of bfloat16, which the library ml_dtypes brings.

    Raises:
        ImportError: ml_dtypes is not installed.
    """
    try:
        import ml_dtypes  # an optional extra
    except ImportError as error:
        raise ImportError("bf16 in NumPy needs ml_dtypes: pip install ml_dtypes") from error
    return ml_dtypes.bfloat16


_ROWS = (  # name, number in files, the graph's own name, NumPy's type
    ("float32", 1, "f32", np.float32),
    ("float64", 2, "f64", np.float64),
    ("int32", 3, "i32", np.int32),
    ("uint8", 4, "u8", np.uint8),
    ("int16", 5, "i16", np.int16),
    ("int8", 6, "i8", np.int8),
    ("string", 7, "", object),
    ("complex64", 8, "", np.complex64),
    ("int64", 9, "i64", np.int64),
    ("bool", 10, "bool", np.bool_),
    ("qint8", 11, "", np.int8),
    ("quint8", 12, "", np.uint8),
    ("qint32", 13, "", np.int32),
    ("bfloat16", 14, "bf16", None),
    ("qint16", 15, "", np.int16),
    ("quint16", 16, "", np.uint16),
    ("uint16", 17, "", np.uint16),
    ("complex128", 18, "", np.complex128),
    ("float16", 19, "f16", np.float16),
    ("resource", 20, "", object),
    ("variant", 21, "", object),
    ("uint32", 22, "", np.uint32),
    ("uint64", 23, "", np.uint64),
)
_named: dict[str, DType] = {}
_numbered: dict[int, DType] = {}
_of_numpy: dict[Any, DType] = {}
_of_own: dict[str, DType] = {}


def _fill() -> None:
    for name, number, own, array in _ROWS:
        plain = DType(name, number, own, array, False)
        reference = DType(f"{name}_ref", number + 100, own, array, True)
        plain.other, reference.other = reference, plain
        for d in (plain, reference):
            _named[d.name] = _numbered[d.as_datatype_enum] = d
        if own:
            _of_own[own] = plain
        if array is not None and not name.startswith(("q", "resource", "variant")):
            _of_numpy.setdefault(np.dtype(array), plain)


_fill()
_named["half"], _named["float"], _named["double"] = (
    _named["float16"],
    _named["float32"],
    _named["float64"],
)
float16 = half = _named["float16"]
bfloat16 = _named["bfloat16"]
float32 = _named["float32"]
float64 = double = _named["float64"]
int8, int16, int32, int64 = (_named[n] for n in ("int8", "int16", "int32", "int64"))
uint8, uint16 = _named["uint8"], _named["uint16"]
uint32, uint64 = _named["uint32"], _named["uint64"]
complex64, complex128 = _named["complex64"], _named["complex128"]
bool_ = _named["bool"]
float32_ref, int32_ref, int64_ref = (_named[f"{n}_ref"] for n in ("float32", "int32", "int64"))
string = _named["string"]
resource, variant = _named["resource"], _named["variant"]
qint8, qint16, qint32 = _named["qint8"], _named["qint16"], _named["qint32"]
quint8, quint16 = _named["quint8"], _named["quint16"]
_PYTHON = {float: float32, bool: bool_, object: string, str: string, bytes: string}


def as_dtype(given: Any) -> DType:
    """The dtype named by `given`: one of TensorFlow's or NumPy's, a name, a number, a Python type.

    Raises:
        TypeError: it names none.
    """
    if isinstance(given, DType):
        return given
    found: DType | None = None
    if isinstance(given, str):
        found = _named.get(given)
    elif isinstance(given, int) and not isinstance(given, bool):
        found = _numbered.get(given)
    elif isinstance(given, type) and given in _PYTHON:
        found = _PYTHON[given]
    if found is None and given is not None:
        found = _from_numpy(given)
    if found is None:
        raise TypeError(f"Cannot convert value {given!r} to a TensorFlow DType.")
    return found


def _from_numpy(given: Any) -> DType | None:
    if isinstance(given, type) and not issubclass(given, np.generic):
        return None
    try:
        kind = np.dtype(given)
    except TypeError:
        return None
    if kind.name == "bfloat16":
        return bfloat16
    return string if kind.kind in "SUO" else _of_numpy.get(kind.newbyteorder("="))
