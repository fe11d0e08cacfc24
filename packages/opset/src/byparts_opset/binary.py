"""Arithmetic on two values, by NumPy's broadcasting; both have one dtype.

Gradients end in `sum_like`, which takes back what broadcasting repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from byparts_graph_ir import Node, Op, Sample, Value

from byparts_opset.dtypes import Array
from byparts_opset.elementwise import binary_samples, computed, two_floats, two_numbers
from byparts_opset.like import sum_like


@dataclass(frozen=True)
class Add(Op):
    """z = x + y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.add, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (sum_like(dz, x), sum_like(dz, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Sub(Op):
    """z = x - y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.subtract, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (sum_like(dz, x), sum_like(-dz, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Mul(Op):
    """z = x * y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.multiply, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (sum_like(dz * y, x), sum_like(dz * x, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Div(Op):
    """z = x / y, of floats."""

    integer_advice = "use floordiv (x // y), or cast to a float first"
    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_floats

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.true_divide, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (x, y), (z,) = node.inputs, node.outputs
        dx = dz / y
        return (sum_like(dx, x), sum_like(-(dx * z), y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), y=(0.5, 2.0))


add, sub, mul, div = Add(), Sub(), Mul(), Div()

OPS: tuple[type[Op], ...] = (Add, Sub, Mul, Div)
