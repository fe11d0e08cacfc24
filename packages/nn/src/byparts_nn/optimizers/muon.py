"""Muon (Jordan et al. 2024): the momentum of a matrix, made orthogonal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import byparts_opset as ops
from byparts_eager import Cell
from byparts_graph_ir import Value
from byparts_nn.module import Module
from byparts_nn.optimizers.adam import AdamW
from byparts_nn.optimizers.optimizer import (
    Group,
    Optimizer,
    Slots,
    Values,
    decayed,
    of_dtype,
    parameters_of,
)
from byparts_nn.schedules import Schedule
from byparts_nn.select import Where, chosen

# One round of Newton and Schulz: a X + b (X Xᵀ) X + c (X Xᵀ)² X brings singular values towards 1.
QUINTIC = (3.4445, -4.7750, 2.0315)


class Muon(Optimizer):
    """Steps of equal length in all directions of a matrix; other weights are left to `otherwise`.

    Args:
        momentum: how much of the velocity stays; a step looks ahead along it, as Nesterov's does.
        rounds: of the iteration that makes it orthogonal.
        matrices: which weights: matrices whose path has neither "table" nor "embed" by default.
        otherwise: the optimizer of the rest; `AdamW` with its own rate by default.
        rate, groups: as in `Optimizer`.
        weight_decay: times the rate, the part of a weight that goes at each step.
    """

    slots = ("velocity",)

    def __init__(
        self,
        rate: float | Schedule = 2e-2,
        *,
        momentum: float = 0.95,
        rounds: int = 5,
        matrices: Where | None = None,
        otherwise: Optimizer | None = None,
        weight_decay: float = 0.0,
        groups: Iterable[Group] = (),
    ) -> None:
        super().__init__(rate, weight_decay=weight_decay, groups=groups)
        self.momentum, self.rounds = momentum, rounds
        self.matrices: Where = matrices if matrices is not None else is_matrix
        self.otherwise = AdamW() if otherwise is None else otherwise

    def update(self, gradients: Mapping[Cell, Value]) -> None:
        """Matrices by Muon, the rest by `otherwise`."""
        own = {c: d for c, d in gradients.items() if chosen(self.matrices, c.name, c)}
        super().update(own)
        self.otherwise.update({c: d for c, d in gradients.items() if c not in own})

    def follow(self, weights: Module | Iterable[Cell]) -> None:
        """Make the slots of weights, those of `otherwise` too."""
        cells = list(parameters_of(weights))
        own = [c for c in cells if chosen(self.matrices, c.name, c)]
        super().follow(own)
        self.otherwise.follow([c for c in cells if c not in own])

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """Velocities."""
        keep, new, velocities = self.momentum, list[Value](), list[Value]()
        kept = decayed(weights, rate, decay)
        for w, d, old in zip(kept, gradients, slots["velocity"], strict=True):
            velocities.append(old + (d - old) * (1 - keep))
            ahead = d + (velocities[-1] - d) * keep
            rows, columns = w.type.dims
            # Of a wide layer each output moves as far as of a square one.
            longer = max(1.0, columns / rows) ** 0.5
            new.append(w - orthogonal(ahead, self.rounds) * (of_dtype(rate, w) * longer))
        return new, {"velocity": velocities}


def is_matrix(path: str, cell: Cell) -> bool:
    """Whether a weight is a matrix and no table."""
    return len(cell.type.shape or ()) == 2 and not any(n in path for n in ("table", "embed"))


def orthogonal(x: Value, rounds: int = 5) -> Value:
    """A matrix with the singular vectors of x, and singular values of about 1."""
    rows, columns = x.type.dims
    wide = rows <= columns
    y = x if wide else ops.transpose(x)
    y = y * ops.rsqrt(ops.maximum(ops.sum(ops.square(y)), 1e-14))
    a, b, c = QUINTIC
    for _ in range(rounds):
        square = ops.matmul(y, y, transpose_b=True)
        y = y * a + ops.matmul(square * b + ops.matmul(square, square) * c, y)
    return y if wide else ops.transpose(y)
