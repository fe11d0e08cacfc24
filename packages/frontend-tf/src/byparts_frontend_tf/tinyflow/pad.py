"""Padding one axis of a value whose rank may not be known yet.

The standard `Pad` lists every axis, so it needs the rank; TinyFlow's names one axis, of a
placeholder of any shape.  These two ops wait: with the rank known they are `Pad` and `Slice`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value


class PadAxis(Op):
    """y = x with zeros before and behind it along one axis."""

    axis: int
    before: int
    behind: int

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        return (_longer(self, x, self.before + self.behind),)

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        """By NumPy's pad."""
        widths = [(0, 0)] * x.ndim
        widths[self.axis] = (self.before, self.behind)
        return (np.pad(x, widths),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        """What was padded on is cut off."""
        return (CropAxis(self.axis, self.before, self.behind)(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """`Pad`, once the rank is known."""
        return self.decompose(*node.inputs)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        """`Pad`, once the rank is known."""
        if x.type.rank is None:
            return None
        self.infer(x.type)  # refuses an axis that x does not have
        widths = [(0, 0)] * x.type.rank
        widths[self.axis] = (self.before, self.behind)
        return (ops.pad(x, tuple(widths)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Both sides, and an empty input."""
        yield Sample(cls(1, 2, 0), (TensorType("f32", (2, 3)),))
        yield Sample(cls(-1, 0, 1), (TensorType("f32", (0, 3)),))


class CropAxis(Op):
    """y = x without the first and last elements along one axis."""

    axis: int
    before: int
    behind: int

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        return (_longer(self, x, -self.before - self.behind),)

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        """By a slice."""
        n = x.shape[self.axis]
        return (x.take(np.arange(self.before, n - self.behind), axis=self.axis),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        """What was cut off had no part in it."""
        return (PadAxis(self.axis, self.before, self.behind)(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """`Slice`, once the shape is known."""
        return self.decompose(*node.inputs)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        """`Slice`, once the shape is known."""
        if not x.type.static:
            return None
        index = [slice(None)] * len(x.type.dims)
        index[self.axis] = slice(self.before, x.type.dims[self.axis] - self.behind)
        return (x[tuple(index)],)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Both sides, and one axis of three."""
        yield Sample(cls(1, 1, 1), (TensorType("f32", (2, 3)),))
        yield Sample(cls(0, 0, 1), (TensorType("f32", (2, 0, 3)),))


def pad_axis(x: Value, axis: int, before: int, behind: int) -> Value:
    """x with zeros along one axis."""
    op = PadAxis(axis, before, behind)
    done = op.decompose(x)
    return op(x) if done is None else done[0]


def _longer(op: PadAxis | CropAxis, x: TensorType, by: int) -> TensorType:
    assert x.shape is not None, "infer sees known ranks only"
    if not -len(x.shape) <= op.axis < len(x.shape):
        raise ShapeError(f"{op.name}: axis {op.axis} of {x}, which has {len(x.shape)} axes")
    dims: list[Dimension] = list(x.shape)
    old = dims[op.axis]
    dims[op.axis] = old + by if isinstance(old, int) else None
    if isinstance(old, int) and old + by < 0:
        raise ShapeError(f"{op.name}: cuts {-by} from axis {op.axis} of {x}, which has {old}")
    return TensorType(x.dtype, tuple(dims))


OPS = {op.name: op for op in (PadAxis, CropAxis)}
