"""Optimizers with one running number for each weight: RMSProp, Adagrad and Lion."""

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
    of_dtype,
    with_decay,
)
from byparts_nn.schedules import Schedule


class RMSProp(Optimizer):
    """w' = w - rate * dw / (sqrt(v) + epsilon), v a running mean of dw² (Hinton 2012).

    Args:
        alpha: how much of the mean stays.
        momentum: of a velocity that takes the quotients, where it is not 0.
        epsilon: keeps the quotient finite.
        rate, groups: as in `Optimizer`.
        weight_decay: added to gradients, times the weights.
    """

    def __init__(
        self,
        rate: float | Schedule = 1e-2,
        *,
        alpha: float = 0.99,
        momentum: float = 0.0,
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        groups: Iterable[Group] = (),
    ) -> None:
        super().__init__(rate, weight_decay=weight_decay, groups=groups)
        self.alpha, self.momentum, self.epsilon = alpha, momentum, epsilon
        self.slots = ("square", "velocity") if momentum else ("square",)

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Means of squares, and velocities where there is momentum."""
        ds = with_decay(weights, gradients, decay)
        keep = self.alpha
        squares = [v * keep + d * d * (1 - keep) for v, d in zip(slots["square"], ds, strict=True)]
        moves = [d / (ops.sqrt(v) + self.epsilon) for v, d in zip(squares, ds, strict=True)]
        news: dict[str, Values] = {"square": squares}
        if self.momentum:
            olds = slots["velocity"]
            moves = [v * self.momentum + m for v, m in zip(olds, moves, strict=True)]
            news["velocity"] = moves
        return [w - m * of_dtype(rate, w) for w, m in zip(weights, moves, strict=True)], news


class Adagrad(Optimizer):
    """w' = w - rate * dw / (sqrt(v) + epsilon), v the sum of dw² so far (Duchi et al. 2011).

    Args:
        epsilon: keeps the quotient finite.
        rate, groups: as in `Optimizer`.
        weight_decay: added to gradients, times the weights.
    """

    slots = ("square",)

    def __init__(
        self,
        rate: float | Schedule = 1e-2,
        *,
        epsilon: float = 1e-10,
        weight_decay: float = 0.0,
        groups: Iterable[Group] = (),
    ) -> None:
        super().__init__(rate, weight_decay=weight_decay, groups=groups)
        self.epsilon = epsilon

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Sums of squares."""
        ds = with_decay(weights, gradients, decay)
        squares = [v + d * d for v, d in zip(slots["square"], ds, strict=True)]
        moves = [d / (ops.sqrt(v) + self.epsilon) for v, d in zip(squares, ds, strict=True)]
        new = [w - m * of_dtype(rate, w) for w, m in zip(weights, moves, strict=True)]
        return new, {"square": squares}


class Lion(Optimizer):
    """w' = w - rate * (sign(beta1 * m + (1 - beta1) * dw) + decay * w) (Chen et al. 2023).

    Every weight moves by the rate, so the rate is a third to a tenth of Adam's.

    Args:
        beta1: how much of the mean is in the direction.
        beta2: how much of the mean stays.
        rate, groups: as in `Optimizer`.
        weight_decay: times the rate, the part of a weight that goes at each step.
    """

    slots = ("mean",)

    def __init__(
        self,
        rate: float | Schedule = 1e-4,
        *,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay: float = 0.0,
        groups: Iterable[Group] = (),
    ) -> None:
        super().__init__(rate, weight_decay=weight_decay, groups=groups)
        self.beta1, self.beta2 = beta1, beta2

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Means of gradients."""
        pairs = list(zip(slots["mean"], gradients, strict=True))
        signs = [ops.sign(m * self.beta1 + d * (1 - self.beta1)) for m, d in pairs]
        kept = decayed(weights, rate, decay)
        new = [w - s * of_dtype(rate, w) for w, s in zip(kept, signs, strict=True)]
        return new, {"mean": [m * self.beta2 + d * (1 - self.beta2) for m, d in pairs]}
