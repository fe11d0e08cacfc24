"""Values a program carries: one number repeated, literal data, a range, an identity matrix.

A number beside a tensor is a 0-d `Fill` that the op broadcasts, so there are no scalar variants of
ops.  `Fill` compares by what it prints: 0.0 is not -0.0, and nan is itself, so that merging equal
constants never changes a bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Any, Union

import numpy as np

from byparts_graph_ir import (
    FLOATS,
    INTEGERS,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    integer_limits,
)
from byparts_opset.dtypes import Array, dtype_name, numpy_dtype
from byparts_opset.elementwise import flat

Number = Union[float, int, bool]


class Fill(Op):
    """y[...] = value, in a shape of numbers and names.

    The value may be an expression of names, too: "4*n" is how many elements a f32[n,4] has.
    """

    value: Union[Number, str]
    dtype: str = "f32"
    shape: tuple[Union[int, str], ...] = ()

    pattern = "elementwise"
    gradient = flat
    shape_fields = ("shape",)
    size_fields = ("value",)

    def __post_init__(self) -> None:
        if not isinstance(self.value, str):
            object.__setattr__(self, "value", exact(self.value, self.dtype))
        object.__setattr__(self, "shape", tuple(self.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fill) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def infer(self) -> Types:
        return (TensorType(self.dtype, self.shape),)

    def evaluate(self) -> tuple[Array, ...]:
        if isinstance(self.value, str):
            raise ShapeError(f"fill: {self.value!r} is no number yet; specialize the graph first")
        with np.errstate(all="ignore"):
            return (np.full(tuple(map(int, self.shape)), self.value, numpy_dtype(self.dtype)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(1.5, "f32", (2, 3)), ())
        yield Sample(cls(-7, "i32", ()), ())
        yield Sample(cls(-8, "i4", (3,)), ())
        yield Sample(cls(True, "bool", (0, 2)), ())


class Constant(Op):
    """y = data, its bytes in C order and little-endian."""

    data: bytes
    dtype: str
    shape: tuple[int, ...]

    gradient = flat

    def infer(self) -> Types:
        y = TensorType(self.dtype, self.shape)
        if y.size_bytes != len(self.data):
            raise ShapeError(f"constant: {y} takes {y.size_bytes} bytes, data has {len(self.data)}")
        return (y,)

    def evaluate(self) -> tuple[Array, ...]:
        return (np.frombuffer(self.data, numpy_dtype(self.dtype)).reshape(self.shape).copy(),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(_literal(np.arange(6, dtype=np.float32).reshape(2, 3)), ())
        yield Sample(_literal(np.zeros((0,), np.int64)), ())
        yield Sample(cls(bytes((8, 15, 0, 7)), "i4", (2, 2)), ())


class Range(Op):
    """y[i] = start + i * step, for as long as that is before stop.  1-d."""

    start: Number
    stop: Number
    step: Number = 1
    dtype: str = "i32"

    gradient = flat

    def infer(self) -> Types:
        return (TensorType(self.dtype, (self._count(),)),)

    def evaluate(self) -> tuple[Array, ...]:
        i: Array = np.arange(self._count(), dtype=np.float64 if self.dtype in FLOATS else np.int64)
        return ((self.start + i * self.step).astype(numpy_dtype(self.dtype)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(0, 5), ())
        yield Sample(cls(1.0, 0.0, -0.25, "f32"), ())
        yield Sample(cls(3, 3), ())

    def _count(self) -> int:
        if self.step == 0:
            raise ShapeError(f"range: step is 0, from {self.start} to {self.stop}")
        return max(0, ceil((self.stop - self.start) / self.step))


class Eye(Op):
    """y[i, j] = 1 where i = j, else 0.  [rows, columns]."""

    rows: int
    columns: int
    dtype: str = "f32"

    gradient = flat

    def infer(self) -> Types:
        return (TensorType(self.dtype, (self.rows, self.columns)),)

    def evaluate(self) -> tuple[Array, ...]:
        return (np.eye(self.rows, self.columns, dtype=numpy_dtype(self.dtype)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(3, 3), ())
        yield Sample(cls(2, 4, "i32"), ())
        yield Sample(cls(0, 2), ())


def fill(value: Number, dtype: str = "f32", shape: Iterable[Union[int, str]] = ()) -> Value:
    """Make a constant with every element equal to `value`."""
    return Fill(value, dtype, tuple(shape))()


def constant(x: Any, dtype: str | None = None) -> Value:
    """A value of the program from a number, nested lists, or an array.

    Without `dtype`, arrays keep theirs; Python's floats become f32, ints i32 and bools bool.
    """
    array = _as_array(x, dtype)
    if _is_one_number(array):
        return fill(array.flat[0].item(), dtype_name(array.dtype), array.shape)
    return _literal(array)()


def arange(start: Number, stop: Number, step: Number = 1, dtype: str = "i32") -> Value:
    """`start, start + step, ...` before `stop`."""
    return Range(start, stop, step, dtype)()


def eye(rows: int, columns: int | None = None, dtype: str = "f32") -> Value:
    """The identity matrix, square unless `columns` says otherwise."""
    return Eye(rows, rows if columns is None else columns, dtype)()


def zeros(shape: Iterable[int], dtype: str = "f32") -> Value:
    """All 0."""
    return fill(0, dtype, shape)


def ones(shape: Iterable[int], dtype: str = "f32") -> Value:
    """All 1."""
    return fill(1, dtype, shape)


def exact(value: Number, dtype: str) -> Number:
    """`value` as Python's own kind of number for `dtype`.

    Raises:
        ShapeError: the dtype cannot hold it: 0.5 as i32, 300 as u8, 2 as bool.
    """
    if dtype in FLOATS:
        return float(value)
    if dtype == "bool":
        fits = value in (0, 1)
    else:
        low, high = integer_limits(dtype if dtype in INTEGERS else "i64")
        fits = value == value and abs(value) != float("inf") and value == int(value)
        fits = fits and low <= value <= high
    if not fits:
        raise ShapeError(f"{value!r} is no {dtype}; cast the tensor, or write another number")
    return bool(value) if dtype == "bool" else int(value)


def _as_array(x: Any, dtype: str | None) -> Array:
    typed = hasattr(x, "__array__")  # also of other libraries: their dtype is meant
    if isinstance(x, np.ma.MaskedArray):
        raise ShapeError("constant: x is a masked array, whose mask would be lost; use x.filled(0)")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ShapeError(f"constant: x is no array: {error}") from error
    if array.dtype.kind not in "biufV":
        kind = f"{type(x).__name__} {x!r:.60}"
        raise ShapeError(f"constant: x is {kind}, of {array.dtype}; give numbers or bools")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not typed and dtype is None:
        dtype = {"f": "f32", "i": "i32", "b": "bool"}.get(array.dtype.kind)
    if dtype is None:
        return array
    if array.ndim == 0 and not typed:
        return np.asarray(exact(array.item(), dtype), numpy_dtype(dtype))
    return array.astype(numpy_dtype(dtype))


def _is_one_number(x: Array) -> bool:
    """Whether all elements have the same bits: 0.0 and -0.0 do not."""
    bits = np.ascontiguousarray(x).reshape(-1).view(f"u{x.dtype.itemsize}")
    return bits.size > 0 and bool((bits == bits[0]).all())


def _literal(x: Array) -> Constant:
    little = x.astype(x.dtype.newbyteorder("<"), copy=False)
    return Constant(little.tobytes(), dtype_name(x.dtype), x.shape)
