"""Gradient descent, with momentum or without."""

from __future__ import annotations

from collections.abc import Iterable

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, Value
from byparts_nn.optimizers.optimizer import (
    Group,
    Optimizer,
    Slots,
    Values,
    with_decay,
)
from byparts_nn.optimizers.rows import rows_of
from byparts_nn.schedules import Schedule


class SGD(Optimizer):
    """w' = w - rate * dw; with momentum v' = momentum * v + dw, and w' = w - rate * v'.

    Without momentum and decay, rows of a table that were not looked up stay what they are, and a
    compiled step does not even read them (`ops.descend_rows`).

    Args:
        momentum: how much of a velocity stays.
        nesterov: look ahead: w' = w - rate * (dw + momentum * v').
        rate, groups: as in `Optimizer`.
        weight_decay: added to gradients, times the weights.
    """

    def __init__(
        self,
        rate: float | Schedule = 1e-2,
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
        results, rows = list(weights), [rows_of(d) for d in ds]
        for i, pairs in enumerate(rows):
            for indices, d in pairs or ():
                results[i] = ops.descend_rows(results[i], indices, d, rate)
        whole = [i for i, pairs in enumerate(rows) if pairs is None]
        if whole:
            some = ([weights[i] for i in whole], [ds[i] for i in whole])
            for i, new_weight in zip(whole, ops.gradient_descent(*some, rate), strict=True):
                results[i] = new_weight
        return results, {}
