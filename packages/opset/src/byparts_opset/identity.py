"""Ops that pass their input on: under another name, without a gradient, or saying so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, TensorType, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import anything, same_shape_back

Views = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Identity(Op):
    """y = x; no copy."""

    pattern = "injective"
    infer = infer_unranked = anything
    infer_inputs = same_shape_back

    def views(self, x: TensorType) -> Views:
        return ((0, 0, 0),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(), (TensorType("f32", (2, 3)),))
        yield Sample(cls(), (TensorType("f32", ()),))


@dataclass(frozen=True)
class StopGradient(Op):
    """y = x, but no gradient passes."""

    pattern = "injective"
    infer = infer_unranked = anything
    infer_inputs = same_shape_back

    def views(self, x: TensorType) -> Views:
        return ((0, 0, 0),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(), (TensorType("i32", (2, 3)),))


@dataclass(frozen=True)
class Print(Op):
    """y = x, and a line on standard output each time: the message, then the elements."""

    message: str = ""

    effect = True
    infer = infer_unranked = anything
    infer_inputs = same_shape_back

    def views(self, x: TensorType) -> Views:
        return ((0, 0, 0),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        print(f"{self.message} {x}" if self.message else x)
        return (np.array(x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls("x is"), (TensorType("f32", (2,)),))


identity, stop_gradient = Identity(), StopGradient()


def print_value(x: Value, message: str = "") -> Value:
    """x, printed each time the program runs, in order with its other effects."""
    return Print(message)(x)
