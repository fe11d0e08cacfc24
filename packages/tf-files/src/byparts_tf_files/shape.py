"""`TensorShape` and `Dimension`: what is known of a shape.

Inside this part a shape is plain data, `Dims`: a tuple of numbers and `None`, or `None` where not
even the rank is known.  These classes are what programs see of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from operator import index
from typing import Any, Optional, Union

from byparts_tf_files.dimension import Dimension

Dims = Optional[tuple[Optional[int], ...]]


class TensorShape:
    """A shape of a tensor, as far as it is known.

    Args:
        dims: sizes (numbers, `None`, Dimensions), one size alone, another shape; `None`: nothing
            is known.
    """

    __slots__ = ("_dims",)

    _dims: Dims

    def __init__(self, dims: Any) -> None:
        self._dims = as_dims(dims)

    @property
    def dims(self) -> Optional[list[Dimension]]:
        """The dimensions; `None` where the rank is not known."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def ndims(self) -> Optional[int]:
        """The rank; `None` where it is not known."""
        return None if self._dims is None else len(self._dims)

    rank = ndims

    def as_list(self) -> list[Optional[int]]:
        """The sizes, `None` for those not known.

        Raises:
            ValueError: the rank is not known.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> Any:
        """Make the message of TensorFlow's files."""
        return shape_proto(self._dims)

    def num_elements(self) -> Optional[int]:
        """Number of elements; `None` where that is not known."""
        return count_of(self._dims)

    def is_fully_defined(self) -> bool:
        """Whether every dimension is a number."""
        return is_static(self._dims)

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless every dimension is a number."""
        if not is_static(self._dims):
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor may be of both shapes."""
        return fits(self._dims, as_dims(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless a tensor may be of both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def is_subtype_of(self, other: Any) -> bool:
        """Whether all tensors of this shape are of the other."""
        return merged(self._dims, as_dims(other)) == self._dims

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The dimensions in which both agree."""
        return TensorShape(agreed(self._dims, as_dims(other)))

    def merge_with(self, other: Any) -> TensorShape:
        """Unite this shape with another of the same tensor: each size that is known in either.

        Raises:
            ValueError: they cannot both be.
        """
        return TensorShape(merged(self._dims, as_dims(other)))

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of this, then those of the other."""
        right = as_dims(other)
        if self._dims is None or right is None:
            return TensorShape(None)
        return TensorShape((*self._dims, *right))

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError unless the ranks may be equal."""
        right = as_dims(other)
        if self._dims is not None and right is not None and len(self._dims) != len(right):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} must have the same rank")

    def assert_has_rank(self, rank: Any) -> None:
        """Raise ValueError unless the rank may be `rank`."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: Any) -> TensorShape:
        """Require a rank; returns this shape, or where its rank is unknown one of unknown sizes.

        Raises:
            ValueError: the rank is another.
        """
        rank = index(rank)
        if self._dims is None:
            return TensorShape((None,) * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: Any) -> TensorShape:
        """Require at least a rank; returns this shape.

        Raises:
            ValueError: its rank is less.
        """
        if self._dims is not None and len(self._dims) < index(rank):
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: Any) -> TensorShape:
        """Require at most a rank; returns this shape.

        Raises:
            ValueError: its rank is greater.
        """
        if self._dims is not None and len(self._dims) > index(rank):
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of Shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(d) for d in self._dims])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return TensorShape(self._slice(key))
        return Dimension(None) if self._dims is None else Dimension(self._dims[key])

    def _slice(self, key: slice) -> Dims:
        if self._dims is not None:
            dims: Dims = self._dims[key]
            return dims
        if key.step not in (None, 1) or key.stop is None or (key.start or 0) < 0 or key.stop < 0:
            return None
        return (None,) * max(0, int(key.stop) - int(key.start or 0))

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_dims(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool:
        try:
            right = as_dims(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._dims is None or right is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return self._dims != right

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __str__(self) -> str:
        return shown(self._dims)

    def __repr__(self) -> str:
        if self._dims is None:
            return "TensorShape(None)"
        return f"TensorShape([{', '.join(f'Dimension({d})' for d in self._dims)}])"

    def __reduce__(self) -> tuple[Any, tuple[Dims]]:
        return TensorShape, (self._dims,)


ShapeLike = Union[TensorShape, Dims, Any]


def as_dims(given: ShapeLike) -> Dims:
    """A shape as plain data.

    Raises:
        TypeError, ValueError: a dimension is none, or negative.
    """
    if given is None:
        return None
    if isinstance(given, TensorShape):
        return given._dims
    if hasattr(given, "dim") and hasattr(given, "unknown_rank"):  # a TensorShapeProto
        sizes = [int(d.size) for d in given.dim]
        return None if given.unknown_rank else tuple([_size(d) for d in sizes])
    if isinstance(given, (list, tuple)) or (hasattr(given, "__iter__") and _ranked(given)):
        return tuple([_dimension(d) for d in given])
    return (_dimension(given),)


def as_shape(shape: ShapeLike) -> TensorShape:
    """A `TensorShape`, which it may be already."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def _ranked(given: Any) -> bool:
    return getattr(given, "ndim", 1) != 0 and not isinstance(given, (str, bytes, Dimension))


def _dimension(d: Any) -> Optional[int]:
    return d if d is None or (d.__class__ is int and d >= 0) else Dimension(d).value


def _size(d: int) -> Optional[int]:
    return None if d < 0 else d


def is_static(dims: Dims) -> bool:
    """Whether every dimension is a number."""
    return dims is not None and None not in dims


def count_of(dims: Dims) -> Optional[int]:
    """Number of elements of a shape; `None` where that is not known."""
    return None if dims is None or None in dims else prod([d for d in dims if d is not None])


def fits(a: Dims, b: Dims) -> bool:
    """Whether a tensor may be of both shapes."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )


def merged(a: Dims, b: Dims) -> Dims:
    """Unite two shapes of the same tensor: each size that is known in either.

    Raises:
        ValueError: they cannot both be.
    """
    if a is None or b is None:
        return b if a is None else a
    if not fits(a, b):
        raise ValueError(f"Shapes {shown(a)} and {shown(b)} are not compatible")
    return tuple([y if x is None else x for x, y in zip(a, b, strict=True)])


def agreed(a: Dims, b: Dims) -> Dims:
    """Keep of two shapes the sizes in which they agree, as where either may be right."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple([x if x == y else None for x, y in zip(a, b, strict=True)])


def shown(dims: Dims) -> str:
    """A shape as TensorFlow prints it: `(?, 3)`."""
    if dims is None:
        return "<unknown>"
    inner = ", ".join("?" if d is None else str(d) for d in dims)
    return f"({inner},)" if len(dims) == 1 else f"({inner})"


def shape_proto(dims: Any) -> Any:
    """Make the message of a shape: numbers, with `None` for what is not known; or `None`."""
    from byparts_tf_files.messages.tensor import TensorShapeProto  # few programs write files

    if dims is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[{"size": -1 if d is None else int(d)} for d in dims])
