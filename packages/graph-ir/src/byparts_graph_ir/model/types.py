"""The type of a value: what its elements are and how many along each dimension.

Types hold plain Python: NumPy's integers, lists and arrays of them become tuples of `int`, and
NumPy's dtypes our names, so that equal types are equal and print alike.

A dimension is an int, a named symbol ("n": the same number wherever it stands), an expression of
them ("n+1", "min(n,512)": `dimension.py`) or `None` (not known).  A shape of `None` means that not
even the rank is known.  0-d and 0-size are real shapes.
"""

from __future__ import annotations

from math import prod
from operator import index

from byparts_graph_ir.errors import ShapeError
from byparts_graph_ir.model.frozen import frozen_delattr, frozen_setattr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

Dimension: TypeAlias = "int | str | None"
Shape: TypeAlias = "tuple[Dimension, ...] | None"

# All dtypes: name -> kind, bits, the name that NumPy (or its extension ml_dtypes) and torch have.
# An array stores an element in whole bytes: one of i4 takes a byte, as one of bool does.
_DTYPES = {
    "f16": ("float", 16, "float16"),
    "bf16": ("float", 16, "bfloat16"),
    "f32": ("float", 32, "float32"),
    "f64": ("float", 64, "float64"),
    "i4": ("signed", 4, "int4"),
    "i8": ("signed", 8, "int8"),
    "i16": ("signed", 16, "int16"),
    "i32": ("signed", 32, "int32"),
    "i64": ("signed", 64, "int64"),
    "u8": ("unsigned", 8, "uint8"),
    "u16": ("unsigned", 16, "uint16"),
    "u32": ("unsigned", 32, "uint32"),
    "u64": ("unsigned", 64, "uint64"),
    "bool": ("bool", 1, "bool"),
}
BITS = {name: bits for name, (_, bits, _) in _DTYPES.items()}
ITEM_BYTES = {name: -(-bits // 8) for name, bits in BITS.items()}  # of an element in an array
FLOATS = frozenset(name for name, row in _DTYPES.items() if row[0] == "float")
INTEGERS = frozenset(name for name, row in _DTYPES.items() if row[0] in ("signed", "unsigned"))
UNSIGNED = frozenset(name for name, row in _DTYPES.items() if row[0] == "unsigned")
ARRAY_DTYPES = {name: theirs for name, (_, _, theirs) in _DTYPES.items()}
SUB_BYTE = frozenset(name for name in INTEGERS if BITS[name] < 8)
ML_DTYPES = frozenset({"bf16", "i4"})  # NumPy has these by the library ml_dtypes alone
LARGEST_DIMENSION = (1 << 63) - 1
_OURS = {theirs: name for name, theirs in ARRAY_DTYPES.items()}


class TensorType:
    """Element type and shape.

    Args:
        dtype: a name in `ITEM_BYTES`, or NumPy's dtype for it (`np.float32`, `x.dtype`).  "i4" is
            an integer in [-8, 7], and takes a byte in an array: its low four bits count.
        shape: a tuple of ints, names, expressions of names such as "2*n+1", and `None`; or `None`
            where the rank is unknown.

    Raises:
        ShapeError: the dtype is not one of `ITEM_BYTES`, or a dimension is negative, of more than
            63 bits, no expression, or none at all.
    """

    __slots__ = ("_size_bytes", "dtype", "shape")
    __match_args__ = ("dtype", "shape")

    dtype: str
    shape: Shape
    _size_bytes: int  # -1: not computed yet

    # A frozen dataclass with slots, written out: every value has one, and `dataclasses` is slow to
    # import.
    def __init__(self, dtype: str, shape: Shape) -> None:
        if dtype.__class__ is not str or dtype not in ITEM_BYTES:
            dtype = dtype_name(dtype)
        if shape is not None and shape.__class__ is not tuple:
            shape = _tuple_of(shape)
        for d in shape or ():
            if d.__class__ is not int or not 0 <= d <= LARGEST_DIMENSION:
                shape = _dimensions(shape or ())
                break
        _set_dtype(self, dtype)
        _set_shape(self, shape)
        _set_size_bytes(self, -1)

    @property
    def rank(self) -> int | None:
        """Number of dimensions, `None` where unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def static(self) -> bool:
        """Whether every dimension is a number."""
        if self.shape is None:
            return False
        for d in self.shape:  # noqa: SIM110  # a third of the time of all(): asked of every value
            if d.__class__ is not int:
                return False
        return True

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape as numbers.

        Raises:
            ShapeError: some dimension is not known.
        """
        if self._size_bytes < 0 and not self.static:
            raise ShapeError(f"the shape of {self} is not known yet; specialize the graph first")
        return self.shape  # type: ignore[return-value]

    @property
    def size(self) -> int:
        """Number of elements of a static type."""
        return prod(self.dims)

    @property
    def size_bytes(self) -> int:
        """Bytes of a static type in an array, without padding; an element is of whole bytes."""
        size_bytes = self._size_bytes
        if size_bytes < 0:
            size_bytes = self.size * ITEM_BYTES[self.dtype]
            _set_size_bytes(self, size_bytes)
        return size_bytes

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype}[...]"
        return f"{self.dtype}[{','.join('?' if d is None else str(d) for d in self.shape)}]"

    def __repr__(self) -> str:
        return f"TensorType(dtype={self.dtype!r}, shape={self.shape!r})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not TensorType:
            return NotImplemented
        return self.dtype == other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __reduce__(self) -> tuple[type, tuple[str, Shape]]:
        return (TensorType, (self.dtype, self.shape))

    __setattr__, __delattr__ = frozen_setattr, frozen_delattr


_set_dtype, _set_shape = vars(TensorType)["dtype"].__set__, vars(TensorType)["shape"].__set__
_set_size_bytes = vars(TensorType)["_size_bytes"].__set__


def dtype_name(dtype: object) -> str:
    """The name of a dtype: "f32" itself, and of `np.float32` or `np.dtype("float32")`.

    Raises:
        ShapeError: it is no dtype of ours.
    """
    if isinstance(dtype, str) and dtype in ITEM_BYTES:
        return str(dtype)
    if dtype is float or dtype is int:
        names = '"f32" or "f64"' if dtype is float else '"i32" or "i64"'
        raise ShapeError(f"dtype {dtype.__name__} says no size: write {names}")
    name: object = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None and isinstance(dtype, type):
        name = dtype.__name__.rstrip("_")  # NumPy 1 calls it bool_
    ours = _OURS.get(name) if isinstance(name, str) else None
    if ours is not None and not isinstance(dtype, str):
        if getattr(dtype, "isnative", True):
            return ours
        raise ShapeError(f"dtype {dtype!r} is not in this machine's byte order; write {ours!r}")
    from difflib import get_close_matches  # only for a message

    near = [ours] if ours is not None else get_close_matches(str(name), ITEM_BYTES, 1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(ITEM_BYTES)}"
    raise ShapeError(f"unknown dtype {dtype!r:.60}; {hint}")


def integer_limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest number of an integer dtype: (-8, 7) for "i4".

    Raises:
        ShapeError: it is no integer dtype.
    """
    if dtype not in INTEGERS:
        raise ShapeError(f"{dtype!r:.60} is no integer dtype: {', '.join(sorted(INTEGERS))}")
    kind, bits, _ = _DTYPES[dtype]
    return (0, (1 << bits) - 1) if kind == "unsigned" else (-1 << bits - 1, (1 << bits - 1) - 1)


def _tuple_of(shape: object) -> tuple[Any, ...]:
    """A list or an array of dimensions as a tuple, and a number as one dimension, as in NumPy.

    A name alone is refused: "batch" would be five dimensions, or one.
    """
    if isinstance(shape, str):
        raise ShapeError(f"shape {shape!r:.60} is no tuple; one dimension is ({shape!r:.60},)")
    if hasattr(shape, "__index__") and not getattr(shape, "shape", ()):
        return (shape,)
    if not hasattr(shape, "__iter__") or isinstance(shape, (bytes, set, frozenset, dict)):
        raise ShapeError(f"shape {shape!r:.60} is no tuple of ints, names and None")
    dims: Iterable[object] = shape
    return tuple(dims)


def _dimensions(shape: tuple[object, ...]) -> tuple[Dimension, ...]:
    return tuple([_dimension(d, shape) for d in shape])


def _dimension(d: object, shape: tuple[object, ...]) -> Dimension:
    if isinstance(d, str) and not d.isidentifier():
        from byparts_graph_ir.model.dimension import dimension  # few programs need the parser

        try:
            d = dimension(d)
        except ShapeError as error:
            raise ShapeError(f"{d!r:.60} in shape {shape!r:.80} is no dimension: {error}") from None
    if d is None or isinstance(d, str):
        return d and str(d)
    if not hasattr(d, "__index__") or d is True or d is False:
        raise ShapeError(
            f"{d!r:.60} in shape {shape!r:.80} is no dimension: int, name, expression or None"
        )
    try:
        size = index(d)
    except TypeError as error:  # an array of several numbers
        raise ShapeError(f"{d!r:.60} in shape {shape!r:.80} is no dimension: {error}") from error
    if not 0 <= size <= LARGEST_DIMENSION:
        what = "negative dimension" if size < 0 else "dimension of more than 63 bits,"
        raise ShapeError(f"{what} {size} in shape {shape!r:.80}")
    return size


def compatible(known: TensorType, other: TensorType) -> bool:
    """Whether some tensor could be of both types: equal dtype, and no two numbers that differ."""
    if known.dtype != other.dtype or known.shape is None or other.shape is None:
        return known.dtype == other.dtype
    pairs = zip(known.shape, other.shape, strict=False)
    return len(known.shape) == len(other.shape) and not any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs
    )


def unify(a: TensorType, b: TensorType) -> TensorType:
    """The type of a tensor that is of both types: the more definite of each pair of dimensions.

    Raises:
        ShapeError: dtypes, ranks or two numbers differ.
    """
    if a == b or (b.shape is None and a.dtype == b.dtype):
        return a
    if not compatible(a, b):
        raise ShapeError(f"{a} and {b} cannot be one type")
    if a.shape is None or b.shape is None:
        return b
    return TensorType(a.dtype, tuple(map(_definite, a.shape, b.shape)))


def _definite(a: Dimension, b: Dimension) -> Dimension:
    """A number beats a name, a name beats nothing."""
    if isinstance(a, int) or b is None:
        return a
    return b if isinstance(b, int) or a is None else a
