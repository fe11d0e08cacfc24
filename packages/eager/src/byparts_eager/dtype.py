"""Data types as the array API standard wants them: objects with a `name`, equal to ours."""

from __future__ import annotations

from byparts_graph_ir import ARRAY_DTYPES, BITS, dtype_name


class DType:
    """A data type, equal to its name here ("f32") and to the standard's ("float32").

    Attributes:
        name: the standard's name, which NumPy knows.
        ours: the name in types of the graph.
        bits: bits of an element.
    """

    __slots__ = ("bits", "name", "ours")

    def __init__(self, ours: str, name: str) -> None:
        self.ours, self.name, self.bits = ours, name, BITS[ours]

    def __eq__(self, other: object) -> bool:
        if other.__class__ is DType:
            return self is other
        return isinstance(other, str) and other in (self.ours, self.name)

    def __hash__(self) -> int:
        return hash(self.ours)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        return dtype_of, (self.ours,)


DTYPES = {ours: DType(ours, name) for ours, name in ARRAY_DTYPES.items()}
_BY_NAME = {dtype.name: dtype for dtype in DTYPES.values()}


def dtype_of(dtype: object) -> DType:
    """The data type of this name, of ours or the standard's, or of a NumPy dtype.

    Raises:
        ShapeError: there is none.
    """
    if dtype.__class__ is DType:
        return dtype
    if isinstance(dtype, str) and dtype in _BY_NAME:
        return _BY_NAME[dtype]
    return DTYPES[dtype_name(dtype)]


def our_name(dtype: object) -> str:
    """The name in types of the graph, as `dtype_of`."""
    return dtype_of(dtype).ours
