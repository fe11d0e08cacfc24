"""Random layers: in training they drop elements, else they give what they get."""

from __future__ import annotations

from byparts_eager import Random, training
from byparts_graph_ir import GraphError, Value
from byparts_nn.module import Module
from byparts_nn.parameter import next_number


class Dropout(Module):
    """In training, each element is 0 with probability `rate`, else divided by 1 - rate.

    Each layer has random numbers of its own, so that layers drop different elements; their counter
    is state, so that a program that goes on from a checkpoint drops what it would have dropped.
    """

    def __init__(self, rate: float = 0.5) -> None:
        if not 0 <= rate < 1:
            raise GraphError(f"Dropout: the rate is {rate}, which is not in [0, 1)")
        seed, count = next_number()
        self.rate, self.random = rate, Random((seed << 32) + count)

    def __call__(self, x: Value) -> Value:
        """In the shape of x."""
        return self.random.dropout(x, self.rate) if self.rate and training() else x
