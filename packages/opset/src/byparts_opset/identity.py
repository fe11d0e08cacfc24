"""Ops that pass their input on: under another name, without a gradient, or printing it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_opset.dtypes import Array, wide
from byparts_opset.elementwise import flat, same_shape_back


class Passing(Op):
    """y = x; no copy."""

    pattern = "injective"
    infer_inputs = same_shape_back

    def infer(self, x: TensorType) -> Types:
        return (x,)

    infer_unranked = infer

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return dys


class Identity(Passing):
    """y = x; no copy."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(x),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((2, 3), ()):
            yield Sample(cls(), (TensorType("f32", shape),))


class StopGradient(Passing):
    """y = x, but no gradient passes."""

    gradient = flat

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(x),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(), (TensorType("i32", (2, 3)),))


class Print(Passing):
    """y = x, and a line on standard output each time: the message, then the elements."""

    message: str = ""

    effect = True
    pattern = "opaque"

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        print(self.line(x))
        return (np.array(x),)

    def line(self, x: Array) -> str:
        """The text that is printed, as NumPy shows arrays: bf16 and i4 as the wider dtype."""
        shown = x if x.dtype.isbuiltin == 1 else wide(x)
        return f"{self.message} {shown}" if self.message else str(shown)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls("x is"), (TensorType("f32", (2,)),))


identity, stop_gradient = Identity(), StopGradient()


def print_value(x: Value, message: str = "") -> Value:
    """x, printed each time the program runs, in order with its other effects."""
    return Print(message)(x)
