"""The type of a value: what its elements are and how many along each dimension.

A dimension is an int, a named symbol ("n": the same number wherever it stands) or `None` (not
known).  A shape of `None` means that not even the rank is known.  0-d and 0-size are real shapes.
"""

from __future__ import annotations

from math import prod

from byparts_graph_ir.errors import ShapeError
from byparts_graph_ir.lazy_dataclass import frozen_delattr, frozen_setattr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Dimension: TypeAlias = "int | str | None"
Shape: TypeAlias = "tuple[Dimension, ...] | None"

ITEM_BYTES = {
    **{"f16": 2, "bf16": 2, "f32": 4, "f64": 8},
    **{"i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "bool": 1},
}
FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
INTEGERS = frozenset({"i8", "i16", "i32", "i64", "u8"})


class TensorType:
    """Element type and shape.

    Raises:
        ShapeError: the dtype is not one of `ITEM_BYTES`, or a dimension is negative or none at all.
    """

    __slots__ = ("dtype", "shape")
    __match_args__ = ("dtype", "shape")

    dtype: str
    shape: Shape

    # A frozen dataclass with slots, written out: every value has one, and `dataclasses` is slow to
    # import.
    def __init__(self, dtype: str, shape: Shape) -> None:
        _set_dtype(self, dtype)
        _set_shape(self, shape)
        self._check()

    def _check(self) -> None:
        if self.dtype not in ITEM_BYTES:
            from difflib import get_close_matches  # only for a message

            near = get_close_matches(str(self.dtype), ITEM_BYTES, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(ITEM_BYTES)}"
            raise ShapeError(f"unknown dtype {self.dtype!r}{hint}")
        for d in self.shape or ():
            if d.__class__ is int:
                if d < 0:
                    raise ShapeError(f"negative dimension {d} in shape {self.shape}")
            elif not (d is None or (isinstance(d, str) and d.isidentifier())):
                raise ShapeError(f"{d!r} in shape {self.shape} is no dimension: int, name or None")

    @property
    def rank(self) -> int | None:
        """Number of dimensions, `None` where unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def static(self) -> bool:
        """Whether every dimension is a number."""
        return self.shape is not None and all(d.__class__ is int for d in self.shape)

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape as numbers.

        Raises:
            ShapeError: some dimension is not known.
        """
        if not self.static:
            raise ShapeError(f"the shape of {self} is not known yet; specialize the graph first")
        return self.shape  # type: ignore[return-value]

    @property
    def size(self) -> int:
        """Number of elements of a static type."""
        return prod(self.dims)

    @property
    def size_bytes(self) -> int:
        """Bytes of a static type, without padding."""
        return self.size * ITEM_BYTES[self.dtype]

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


def compatible(known: TensorType, other: TensorType) -> bool:
    """Whether some tensor could be of both types: equal dtype, and no two numbers that differ."""
    if known.dtype != other.dtype or known.shape is None or other.shape is None:
        return known.dtype == other.dtype
    pairs = zip(known.shape, other.shape, strict=False)
    return len(known.shape) == len(other.shape) and not any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs
    )


def unify(a: TensorType, b: TensorType) -> TensorType:
    """What is known when a tensor is of both types: the more definite of each pair of dimensions.

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
