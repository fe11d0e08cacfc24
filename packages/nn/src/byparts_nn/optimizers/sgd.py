"""Gradient descent, with momentum or without."""

from __future__ import annotations

from collections.abc import Iterable

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, Value
from byparts_nn.optimizers.optimizer import (
    Group,
    Optimizer,
    Rate,
    Slots,
    Values,
    of_dtype,
    with_decay,
)
from byparts_nn.optimizers.rows import rows_of


class SGD(Optimizer):
    """w' = w - rate * dw; with momentum v' = momentum * v + dw, and w' = w - rate * v'.

    Without momentum and decay, a table that is only looked up (`Embedding`) is written in the rows
    that were looked up, and nowhere else.

    Args:
        rate: how far a step goes, a number or a schedule.
        momentum: how much of a velocity stays.
        nesterov: look ahead: w' = w - rate * (dw + momentum * v').
        weight_decay: added to gradients, times the weights.
        groups: weights with another rate or decay.
    """

    def __init__(
        self,
        rate: Rate = 1e-2,
        *,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
        groups: Iterable[Group] = (),
    ) -> None:
        super().__init__(rate, weight_decay=weight_decay, groups=groups)
        if nesterov and not momentum:
            raise ArgumentError("SGD: nesterov looks ahead along a velocity; give momentum, too")
        self.momentum, self.nesterov = momentum, nesterov
        self.slots = ("velocity",) if momentum else ()

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Velocities where there is momentum."""
        ds = with_decay(weights, gradients, decay)
        if self.momentum:
            old = slots["velocity"]
            how = (rate, self.momentum, self.nesterov)
            new, velocities = ops.momentum(weights, old, ds, *how)
            return new, {"velocity": velocities}
        rows = [rows_of(d) for d in ds]
        whole = [i for i, row in enumerate(rows) if row is None]
        results = list(weights)
        for i, row in enumerate(rows):
            if row is not None:
                results[i] = _written(weights[i], ds[i], row, rate)
        if whole:
            some = ([weights[i] for i in whole], [ds[i] for i in whole])
            for i, w in zip(whole, ops.gradient_descent(*some, rate), strict=True):
                results[i] = w
        return results, {}


def _written(w: Value, dw: Value, rows: Value, rate: Value) -> Value:
    """w with the step in these rows alone; a row that stands twice is written twice, alike."""
    step = ops.gather(dw, rows) * of_dtype(rate, w)
    return ops.scatter(w, rows, ops.gather(w, rows) - step)
