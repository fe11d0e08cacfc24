"""The part that all optimizers share: a rate, a count of steps, groups, slots of each weight.

    optimizer = AdamW(1e-3, groups=[Group(r"bias|norm", weight_decay=0.0)])
    loss, gradients = value_and_grad(lambda model: cross_entropy(model(x), labels))(model)
    optimizer.update(gradients)

All state is cells: the rate (changing it compiles nothing anew), the count, and the slots (means of
gradients and so on), which are made when a weight first has a gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell
from byparts_graph_ir import ArgumentError, TensorType, Value
from byparts_nn.module import Module
from byparts_nn.schedules import Schedule
from byparts_nn.select import Where, chosen
from byparts_opset.half import sum_dtype, widened

Values = Sequence[Value]
Slots = Mapping[str, Values]


@dataclass(frozen=True)
class Group:
    """Weights that are updated in another way.

    Attributes:
        where: a regular expression that is searched for in the path of a weight, or a function of
            path and cell; of several groups the first that fits is taken.
        rate: a factor of the optimizer's rate.
        weight_decay: in place of the optimizer's; `None` leaves it.
    """

    where: Where
    rate: float = 1.0
    weight_decay: Optional[float] = None


class Optimizer(Module):
    """Subclasses say which `slots` a weight has, and compute one `step`, in f32 for half types.

    Args:
        rate: how far a step goes: a number, or a schedule: a function of the number of steps before
            (see `schedules`).
        weight_decay: how much weights are drawn to 0.
        groups: weights with another rate or decay.
    """

    slots: tuple[str, ...] = ()
    hidden_fields = Module.hidden_fields | {"_slots"}

    def __init__(
        self, rate: float | Schedule, *, weight_decay: float = 0.0, groups: Iterable[Group] = ()
    ) -> None:
        if not callable(rate) and not rate >= 0:
            raise ArgumentError(f"{type(self).__name__}: the rate is {rate!r:.60}")
        self.schedule = rate if callable(rate) else None
        self.rate: Any = Cell(np.array(0.0 if callable(rate) else rate, np.float32))
        self.count: Any = Cell(np.zeros((), np.int64))
        self.weight_decay, self.groups = weight_decay, tuple(groups)
        self.__dict__["_slots"] = {}

    def update(self, gradients: Mapping[Cell, Value]) -> None:
        """Give each weight its next value.

        Args:
            gradients: of weights, as `value_and_grad` gives them for a module.
        """
        if self.schedule is not None:
            self.rate = self.schedule(self.count)
        self.count = self.count + 1
        self.follow(gradients)
        for (factor, decay), cells in self._grouped(gradients).items():
            weights, ds = [widened(c.value) for c in cells], [widened(gradients[c]) for c in cells]
            slots = {n: [self._slots[c][n].value for c in cells] for n in self.slots}
            rate = self.rate if factor == 1 else self.rate * factor
            new, news = self.step(weights, ds, slots, rate, decay)
            for i, cell in enumerate(cells):
                cell.value = of_dtype(new[i], cell)
                for name in self.slots:
                    self._slots[cell][name].value = news[name][i]

    def step(
        self, weights: Values, gradients: Values, slots: Slots, rate: Value, decay: float
    ) -> tuple[Values, Slots]:
        """The next values of weights and slots; of one group, in one order."""
        raise NotImplementedError

    def follow(self, weights: Module | Iterable[Cell]) -> None:
        """Make the slots of weights, if they have none yet: before they are read from a file."""
        for cell in parameters_of(weights):
            if cell not in self._slots:
                kind = TensorType(sum_dtype(cell.type.dtype), cell.type.shape)
                self._slots[cell] = {name: Cell(kind) for name in self.slots}

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Fields, then the slots: "mean.layers.0.weight"."""
        yield from super().parts()
        for i, (cell, slots) in enumerate(self._slots.items()):
            yield from ((f"{name}.{cell.name or i}", slot) for name, slot in slots.items())

    def _grouped(self, cells: Iterable[Cell]) -> dict[tuple[float, float], list[Cell]]:
        grouped: dict[tuple[float, float], list[Cell]] = {}
        for cell in cells:
            group = next((g for g in self.groups if chosen(g.where, cell.name, cell)), Group(""))
            decay = self.weight_decay if group.weight_decay is None else group.weight_decay
            grouped.setdefault((group.rate, decay), []).append(cell)
        return grouped


def parameters_of(weights: Module | Iterable[Cell]) -> Iterable[Cell]:
    """The parameters of a module, or the cells that are given."""
    return weights.parameters().values() if isinstance(weights, Module) else weights


def of_dtype(x: Value, like: Value | Cell) -> Value:
    """x, a rate or a new weight, in the dtype of a weight."""
    return ops.cast(x, like.type.dtype)


def with_decay(weights: Values, gradients: Values, decay: float) -> list[Value]:
    """Gradients of the loss + decay / 2 * |w|²."""
    if not decay:
        return list(gradients)
    return [g + w * decay for w, g in zip(weights, gradients, strict=True)]


def decayed(weights: Values, rate: Value, decay: float) -> list[Value]:
    """Weights drawn to 0 apart from their gradients (Loshchilov and Hutter 2019)."""
    if not decay:
        return list(weights)
    return [w * (1 - of_dtype(rate, w) * decay) for w in weights]
