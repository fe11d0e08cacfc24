"""Adam (Kingma and Ba 2015), and with decoupled weight decay (Loshchilov and Hutter 2019)."""

from __future__ import annotations

from collections.abc import Iterable

import byparts_opset as ops
from byparts_graph_ir import Value
from byparts_nn.optimizers.optimizer import (
    Group,
    Optimizer,
    Slots,
    Values,
    decayed,
    with_decay,
)
from byparts_nn.schedules import Schedule


class Adam(Optimizer):
    """w' = w - rate * m / (sqrt(v) + epsilon), m and v running means of dw and dw², corrected.

    Every weight moves as long as its mean is not 0, and is written at each step: rows of a table
    that were not looked up, too.

    Args:
        beta1, beta2: how much of the means of dw and of dw² stays.
        epsilon: keeps the quotient finite.
        rate, groups: as in `Optimizer`.
        weight_decay: added to gradients, times the weights.
    """

    slots = ("mean", "square")

    def __init__(
        self,
        rate: float | Schedule = 1e-3,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        groups: Iterable[Group] = (),
    ) -> None:
        super().__init__(rate, weight_decay=weight_decay, groups=groups)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Means of gradients and of their squares."""
        return self.moments(weights, with_decay(weights, gradients, decay), slots, rate)

    def moments(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value
    ) -> tuple[Values, Slots]:
        """The step of the equation above."""
        count = ops.cast(self.count, "f32")
        how = (rate, count, self.beta1, self.beta2, self.epsilon)
        new, means, squares = ops.adam(weights, slots["mean"], slots["square"], gradients, *how)
        return new, {"mean": means, "square": squares}


class AdamW(Adam):
    """Adam whose weights are drawn to 0 by rate * weight_decay, whatever their gradients are.

    Args:
        rate, beta1, beta2, epsilon, groups: as in `Adam`.
        weight_decay: times the rate, the part of a weight that goes at each step.
    """

    def __init__(
        self,
        rate: float | Schedule = 1e-3,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 1e-2,
        groups: Iterable[Group] = (),
    ) -> None:
        how = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        super().__init__(rate, weight_decay=weight_decay, groups=groups, **how)

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Decay first, then the step of Adam."""
        return self.moments(decayed(weights, rate, decay), gradients, slots, rate)
