"""What the reductions share: fields `axes` and `keepdims`, shape rules, putting axes back.

`axes=None` means all of them, `()` none; negative ones count from the end.  The functions of
`reduce.py` normalise what they are given as far as the rank is known, and so does `canonical`.
Functions, not a base class: an op takes what it needs, as in `infer = reduced_number`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any, ClassVar, Optional, Protocol, TypeVar, Union

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import replace
from byparts_opset.broadcast import normal_axes
from byparts_opset.dtypes import Array, dtype_name

Axes = Union[int, Iterable[int], None]


class Reduction(Protocol):
    """An op with these fields."""

    name: ClassVar[str]

    @property
    def axes(self) -> tuple[int, ...] | None:
        """Which axes go."""

    @property
    def keepdims(self) -> bool:
        """Whether they stay, of size 1."""


R = TypeVar("R", bound=Op)


def reduced(op: Reduction, x: TensorType) -> Types:
    """The axes gone, or 1 with `keepdims`; of unknown rank only `axes=None` says something."""
    if x.shape is None:
        full = op.axes is None and not op.keepdims
        return (TensorType(x.dtype, () if full else None),)
    axes = normal_axes(op.name, op.axes, len(x.shape))
    if op.keepdims:
        shape = tuple(1 if i in axes else d for i, d in enumerate(x.shape))
    else:
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
    return (TensorType(x.dtype, shape),)


def reduced_number(self: Reduction, x: TensorType) -> Types:
    """`reduced`, of no bool."""
    if x.dtype == "bool":
        raise ShapeError(
            f"{self.name}: bool has no arithmetic, got {x}; use any or all, or cast(x, 'i32')"
        )
    return reduced(self, x)


def reduced_some(self: Reduction, x: TensorType) -> Types:
    """`reduced`, of no bool, and of at least one element each, where the sizes are known."""
    (y,) = reduced_number(self, x)
    gone = () if x.shape is None else normal_axes(self.name, self.axes, len(x.shape))
    if any((x.shape or ())[a] == 0 for a in gone) and y.static and y.size > 0:
        raise ShapeError(f"{self.name}: there is none of no elements: x is {x}, over axes {gone}")
    return (y,)


def reduced_float(self: Reduction, x: TensorType) -> Types:
    """`reduced`, of a float."""
    if x.dtype not in FLOATS:
        raise ShapeError(f"{self.name}: takes floats, got {x}; cast(x, 'f32') first")
    return reduced(self, x)


def reduced_bool(self: Reduction, x: TensorType) -> Types:
    """`reduced`, of a bool."""
    if x.dtype != "bool":
        raise ShapeError(f"{self.name}: takes bools, got {x}; compare first, as in x > 0")
    return reduced(self, x)


def input_flops(self: Op, x: TensorType) -> int:
    """One operation for each element that goes in."""
    return x.size


def simpler(self: Any, node: Node) -> Optional[tuple[Value, ...]]:
    """The input itself where no axis goes; otherwise axes written one way."""
    (x,) = node.inputs
    if x.type.shape is None:
        return None
    if not normal_axes(self.name, self.axes, len(x.type.shape)):
        return (x,)
    axes = given_axes(self.name, self.axes, x.type)
    return None if axes == self.axes else (replace(self, axes=axes)(x),)


def given_axes(name: str, axes: Axes, x: TensorType) -> tuple[int, ...] | None:
    """Axes as a field: `None` for all; counted from the front, ascending, if the rank is known."""
    if axes is None:
        return None
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    if x.shape is None:
        return axes
    normal = normal_axes(name, axes, len(x.shape))
    return None if normal and len(normal) == len(x.shape) else normal


def restored(op: Reduction, y: Value) -> Value:
    """A value in the shape of the output, with the axes that went put back, of size 1.

    0-d stays as it is: it broadcasts.
    """
    return y if op.keepdims or op.axes is None else ops.ExpandDims(op.axes)(y)


def dropped(op: Reduction, y: Value) -> Value:
    """A value that kept its axes in the shape of the output: without them, unless `keepdims`."""
    if op.keepdims:
        return y
    return ops.Reshape(())(y) if op.axes is None else ops.Squeeze(op.axes)(y)


def type_of(x: Array) -> TensorType:
    """The type of an array."""
    return TensorType(dtype_name(x.dtype), x.shape)


def reduction_samples(make: Any, low: float = -2.0, high: float = 2.0) -> Iterator[Sample]:
    """Some axes, all, none, negative ones, kept ones; a 0-d and an empty input."""
    cases: tuple[tuple[Any, bool, tuple[int, ...]], ...] = (
        (None, False, (3, 4)),
        ((0,), False, (3, 4)),
        ((1,), True, (3, 4)),
        ((-1, 0), False, (2, 3, 4)),
        ((1,), False, (2, 3, 4)),
        (None, True, (2, 3)),
        ((), False, (2, 3)),
        (None, False, ()),
        ((1,), False, (0, 3)),
    )
    for axes, keepdims, shape in cases:
        yield Sample(make(axes, keepdims), (TensorType("f32", shape),), ((low, high),))


def count(x: Array, axes: tuple[int, ...] | None) -> int:
    """How many elements become one."""
    return prod(x.shape[a] for a in normal_axes("count", axes, x.ndim))
