"""Cross entropy of probabilities against targets, one loss for each element.

An op of its own for its gradient: that of its decomposition is 0 * inf at 0 and 1, where a network
that is sure of itself ends up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.domain import between
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import binary_samples, broadcast_back, computed, two_floats
from byparts_opset.half import in_f32, widened

LEAST_LOG = -100.0  # of a probability of 0; torch has the same number
LEAST_SPREAD = 1e-12  # of p * (1 - p), in the gradient; likewise


@dataclass(frozen=True)
class BinaryCrossEntropy(Op):
    """z = -(t * log p + (1 - t) * log(1 - p)), with logarithms held at -100 and above.

    dp = dz * (p - t) / max(p * (1 - p), 1e-12), as in torch: 0 where p = t = 0 or p = t = 1.
    dt = dz * (log(1 - p) - log p), of the same logarithms.
    """

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def domain(self, p: Array, t: Array) -> tuple[Array, ...]:
        return (between(0, 1, p), between(0, 1, t))

    def evaluate(self, p: Array, t: Array) -> tuple[Array, ...]:
        def loss(p: Array, t: Array) -> Array:
            sure, unsure = np.log(p), np.log1p(-p)
            least = p.dtype.type(LEAST_LOG)
            z: Array = (t - 1) * np.maximum(unsure, least) - t * np.maximum(sure, least)
            return z

        return computed(loss, p, t)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (p, t), dtype = node.inputs, node.inputs[0].type.dtype
        wide_p, wide_dz = widened(p), widened(dz)
        slope = (wide_p - widened(t)) / ops.maximum((1 - wide_p) * wide_p, LEAST_SPREAD)
        none, all = ops.equal(wide_p, 0), ops.equal(wide_p, 1)
        sure = ops.select(none, LEAST_LOG, ops.log(ops.select(none, 1, wide_p)))
        unsure = ops.select(all, LEAST_LOG, ops.log1p(-ops.select(all, 0, wide_p)))
        dt = wide_dz * (unsure - sure)
        return (
            ops.sum_like(ops.cast(wide_dz * slope, dtype), p),
            ops.sum_like(ops.cast(dt, dtype), t),
        )

    @in_f32
    def decompose(self, p: Value, t: Value) -> tuple[Value, ...] | None:
        sure, unsure = (ops.maximum(x, LEAST_LOG) for x in (ops.log(p), ops.log1p(-p)))
        return ((t - 1) * unsure - t * sure,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), (0.1, 0.9), (0.1, 0.9))


binary_cross_entropy = BinaryCrossEntropy()
