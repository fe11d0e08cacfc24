"""Angles, in radians, elementwise.  The inverse ones come down to `atan2`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, floats, same_shape_back, unary_samples
from byparts_opset.half import in_f32


@dataclass(frozen=True)
class Sin(Op):
    """y = sin x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.sin, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * cos(node.inputs[0]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Cos(Op):
    """y = cos x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.cos, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (-(dy * sin(node.inputs[0])),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Tan(Op):
    """y = tan x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.tan, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (dy * (1 + y * y),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (sin(x) / cos(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), -1.0, 1.0)


@dataclass(frozen=True)
class Asin(Op):
    """y = arcsin x, for x in [-1, 1]."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.arcsin, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy / ops.sqrt((1 - x) * (1 + x)),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.atan2(x, ops.sqrt((1 - x) * (1 + x))),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), -0.75, 0.75)


@dataclass(frozen=True)
class Acos(Op):
    """y = arccos x, for x in [-1, 1]."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.arccos, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (-(dy / ops.sqrt((1 - x) * (1 + x))),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.atan2(ops.sqrt((1 - x) * (1 + x)), x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), -0.75, 0.75)


@dataclass(frozen=True)
class Atan(Op):
    """y = arctan x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.arctan, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy / (1 + x * x),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.atan2(x, 1),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


sin, cos, tan, asin, acos, atan = Sin(), Cos(), Tan(), Asin(), Acos(), Atan()
