"""Gradients between their computation and an update: clipping, and adding up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell
from byparts_graph_ir import ArgumentError, GraphError, Value
from byparts_graph_ir.contract import checked
from byparts_nn.module import Module

Gradients = dict[Cell, Any]  # arrays, or values of a function that is being traced


@checked
def norm_of(gradients: Mapping[Cell, Value]) -> Any:
    """The length of all gradients as one vector, f32[]; f64[] where they are f64.

    Raises:
        GraphError: there are none.
    """
    if not gradients:
        raise GraphError("norm_of: there are no gradients; is every parameter frozen?")
    dtype = "f64" if any(d.type.dtype == "f64" for d in gradients.values()) else "f32"
    return ops.sqrt(
        ops.add_n([ops.sum(ops.square(ops.cast(d, dtype))) for d in gradients.values()])
    )


@checked
def clip_by_norm(gradients: Mapping[Cell, Value], limit: float) -> tuple[Gradients, Any]:
    """The gradients, shortened to `limit` if together they are longer; and how long they were."""
    _check("clip_by_norm", limit)
    norm = norm_of(gradients)
    factor = ops.minimum(limit / (norm + 1e-6), 1)
    return {c: d * ops.cast(factor, d.type.dtype) for c, d in gradients.items()}, norm


@checked
def clip_by_value(gradients: Mapping[Cell, Value], limit: float) -> Gradients:
    """The gradients with each element held between -limit and limit."""
    _check("clip_by_value", limit)
    return {cell: ops.clip(d, -limit, limit) for cell, d in gradients.items()}


def _check(name: str, limit: float) -> None:
    if not limit > 0:
        raise ArgumentError(f"{name}: the limit is {limit!r:.60}, which is not above 0")


class Accumulator(Module):
    """Gradients of several batches, added up before one update: a large batch in little memory.

    Two compiled functions take turns: one that adds, and one that adds, takes and updates.
    """

    hidden_fields = Module.hidden_fields | {"_sums"}

    def __init__(self) -> None:
        self.count: Any = Cell(np.zeros((), np.int64))
        self.__dict__["_sums"] = {}

    def follow(self, cells: Iterable[Cell]) -> None:
        """Make the sums of weights that have none yet: before they are read from a file."""
        for cell in cells:
            self._sums.setdefault(cell, Cell(cell.type))

    def add(self, gradients: Mapping[Cell, Value]) -> None:
        """Add gradients of one batch."""
        self.count = self.count + 1
        self.follow(gradients)
        for cell, d in gradients.items():
            self._sums[cell].value = self._sums[cell].value + d

    def take(self) -> Gradients:
        """The mean of what was added; begins anew.

        Raises:
            GraphError: nothing was ever added.
        """
        if not self._sums:
            raise GraphError("Accumulator.take: nothing was added")
        result = {}
        for cell, total in self._sums.items():
            result[cell] = total.value / ops.cast(self.count, cell.type.dtype)
            total.value = ops.zeros_like(total.value)
        self.count = ops.zeros_like(self.count)
        return result

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Fields, then the sums: "sum.layers.0.weight"."""
        yield from super().parts()
        yield from ((f"sum.{c.name or i}", s) for i, (c, s) in enumerate(self._sums.items()))
