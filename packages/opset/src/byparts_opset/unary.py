"""Arithmetic, powers and logarithms of one value, elementwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from byparts_graph_ir import Node, Op, Sample, Value

from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, numbers, same_shape_back, unary_samples


@dataclass(frozen=True)
class Neg(Op):
    """y = -x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.negative, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (-dy,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


neg = Neg()

OPS: tuple[type[Op], ...] = (Neg,)
