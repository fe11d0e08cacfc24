"""The family of reductions: fields `axes` and `keepdims`, shape rule, putting axes back.

`axes=None` means all of them, `()` none; negative ones count from the end.  The functions of
`reduce.py` normalise what they are given as far as the rank is known, and so does `canonical`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any, ClassVar, Union

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, Shape, ShapeError, TensorType, Types, Value
from byparts_graph_ir.model.frozen import replace
from byparts_opset.broadcast import normal_axes
from byparts_opset.dtypes import BOOLS, NUMBERS, Array, require

Axes = Union[int, Iterable[int], None]


class Reduction(Op):
    """y has one element for those of x along `axes`; they go, or with `keepdims` stay, of size 1.

    Attributes:
        takes: the dtypes that x may have.
        advice: what to do about another dtype, if that is not what `dtypes.refuse` says.
        of_some: whether it is an error to reduce no elements.
        limits: the range of x in samples.
    """

    axes: tuple[int, ...] | None = None
    keepdims: bool = False

    pattern = "reduction"
    takes: ClassVar[frozenset[str]] = NUMBERS
    advice: ClassVar[str] = ""
    of_some: ClassVar[bool] = False
    limits: ClassVar[tuple[float, float]] = (-2.0, 2.0)

    def infer(self, x: TensorType) -> Types:
        advice = self.advice or "use any or all, or cast(x, 'i32')" * (self.takes is NUMBERS)
        require(self.name, x, self.takes, advice)
        y = TensorType(x.dtype, reduced_shape(self.name, x, self.axes, self.keepdims))
        if self.of_some:
            check_some(self.name, x, self.axes, y)
        return (y,)

    infer_unranked = infer

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The input itself where no axis goes; otherwise axes written one way."""
        (x,) = node.inputs
        if x.type.shape is None:
            return None
        if not normal_axes(self.name, self.axes, len(x.type.shape)):
            return (x,)
        axes = reduced_axes(self.name, self.axes, x.type)
        return None if axes == self.axes else (replace(self, axes=axes)(x),)

    def flops(self, x: TensorType) -> int:
        return x.size

    def restore(self, y: Value) -> Value:
        """A value in the shape of the output, with the axes that went put back, of size 1.

        0-d stays as it is: it broadcasts.
        """
        return y if self.keepdims or self.axes is None else ops.ExpandDims(self.axes)(y)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Some axes, all, none, negative ones, kept ones; a 0-d and an empty input."""
        cases: tuple[tuple[Any, bool, tuple[int, ...]], ...] = (
            *((None, False, (3, 4)), ((0,), False, (3, 4)), ((1,), True, (3, 4))),
            *(((-1, 0), False, (2, 3, 4)), ((1,), False, (2, 3, 4)), (None, True, (2, 3))),
            *(((), False, (2, 3)), (None, False, ()), ((1,), False, (0, 3))),
            ((0,), False, (0, 0)),
        )
        dtype, ranges = ("bool", ()) if cls.takes is BOOLS else ("f32", (cls.limits,))
        for axes, keepdims, shape in cases:
            yield Sample(cls(axes, keepdims), (TensorType(dtype, shape),), ranges)
        if not cls.of_some:
            yield Sample(cls((0,)), (TensorType(dtype, (0, 3)),), ranges)


def reduced_shape(name: str, x: TensorType, axes: tuple[int, ...] | None, keepdims: bool) -> Shape:
    """The shape of x without `axes`, or with them of size 1."""
    if x.shape is None:
        return () if axes is None and not keepdims else None
    gone = normal_axes(name, axes, len(x.shape))
    kept = [1 if i in gone else d for i, d in enumerate(x.shape)]
    return tuple(d for i, d in enumerate(kept) if keepdims or i not in gone)


def check_some(name: str, x: TensorType, axes: tuple[int, ...] | None, y: TensorType) -> None:
    """Refuse to reduce no elements to one.

    Raises:
        ShapeError: y has elements, and one of `axes` is of size 0.
    """
    gone = () if x.shape is None else normal_axes(name, axes, len(x.shape))
    if any((x.shape or ())[a] == 0 for a in gone) and y.static and y.size > 0:
        raise ShapeError(f"{name}: there is none of no elements: x is {x}, over axes {gone}")


def reduced_axes(name: str, axes: Axes, x: TensorType) -> tuple[int, ...] | None:
    """Axes as a field: `None` for all; counted from the front, ascending, if the rank is known."""
    if axes is None:
        return None
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    if x.shape is None:
        return axes
    normal = normal_axes(name, axes, len(x.shape))
    return None if normal and len(normal) == len(x.shape) else normal


def count(x: Array, axes: tuple[int, ...] | None) -> int:
    """Number of elements that become one."""
    return prod(x.shape[a] for a in normal_axes("count", axes, x.ndim))
