"""Gradients of random smooth programs: reverse against forward mode, and against differences.

Along a random direction d, the gradient's product with d (reverse mode), the derivative along d
(forward mode) and the limit of (y(x + h d) - y(x - h d)) / 2 h must agree.  How closely is computed
from the program: the noise of both graphs, and for the differences the change from step h to h / 2
(Richardson 1911).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients, jvp
from byparts_conformance.programs.bounds import expected
from byparts_conformance.programs.noise import Array
from byparts_conformance.programs.program import Program
from byparts_graph_ir import Graph, Value
from byparts_opset.evaluate import evaluate

_STEP = 1e-4
_MOST_UNSURE = 1e-3  # of the size of a derivative: differences less sure than this say nothing


@dataclass(frozen=True)
class Derivatives:
    """The derivative of a program along one direction, found in three ways, and how sure each is.

    Attributes:
        reverse, forward: by `gradients` and by `jvp`.
        noise: how far apart these two may be.
        quotient: by differences.
        unsure: how far the quotient may be off.
        size: the sum of the sizes of the terms.
    """

    reverse: float
    forward: float
    noise: float
    quotient: float
    unsure: float
    size: float

    @property
    def says_something(self) -> bool:
        """Whether the differences are sure enough to tell a wrong gradient."""
        return self.unsure < _MOST_UNSURE * max(self.size, 1e-30)

    def difference(self) -> str:
        """A sentence that says which of the three differ, or ""."""
        if not all(map(np.isfinite, (self.reverse, self.forward, self.noise, self.quotient))):
            return ""
        if abs(self.reverse - self.forward) > self.noise:
            return f"reverse mode {self.reverse}, forward mode {self.forward}"
        if self.says_something and abs(self.reverse - self.quotient) > self.unsure + self.noise:
            return f"reverse mode {self.reverse}, differences {self.quotient}"
        return ""


def derivatives(program: Program) -> Derivatives:
    """The derivatives of a program that `smooth` gave."""
    graph, (y,) = program.graph, program.graph.outputs
    numbers = np.random.default_rng(program.seed)
    direction = [
        numbers.uniform(-1, 1, a.shape) if a.dtype == np.float64 else np.zeros_like(a)
        for a in program.arrays
    ]  # labels stay as they are
    moved = [(x, d) for x, d in zip(graph.inputs, direction, strict=True) if d.dtype == np.float64]
    xs, steps = [x for x, _ in moved], [d for _, d in moved]
    dxs = gradients(y, xs, unreachable="zeros")
    reverse, size, noise = _sum_of_products(program, dxs, steps)
    (dy,) = jvp([y], xs, [ops.constant(d) for d in steps])
    forward = expected(_with_output(program, dy))[0]
    near = noise + float(forward.near.reshape(-1)[0]) + 1e-13 * size
    quotient, unsure = _quotient(program, direction)
    return Derivatives(reverse, float(forward.value), near, quotient, unsure, size)


def _sum_of_products(
    program: Program, dxs: tuple[Value, ...], direction: list[Array]
) -> tuple[float, float, float]:
    """The gradient's product with the direction, the size of its terms, and their noise."""
    graph = Graph.of(program.graph.inputs, dxs)
    wants = expected(replace(program, graph=graph))
    pairs = list(zip(wants, direction, strict=True))
    total = sum(float(np.sum(w.value * d)) for w, d in pairs)
    size = sum(float(np.sum(np.abs(w.value * d))) for w, d in pairs)
    return total, size, sum(float(np.sum(w.near * np.abs(d))) for w, d in pairs)


def _with_output(program: Program, y: Value) -> Program:
    return replace(program, graph=Graph.of(program.graph.inputs, [y]))


def _quotient(program: Program, direction: list[Array]) -> tuple[float, float]:
    """The limit of the differences, and how far it may be off."""

    def at(step: float) -> float:
        pairs = zip(program.arrays, direction, strict=True)
        moved = [(a + step * d).astype(a.dtype) for a, d in pairs]
        return float(evaluate(program.graph, *moved)[0])

    def slope(step: float) -> float:
        return (at(step) - at(-step)) / (2 * step)

    wide, half = slope(_STEP), slope(_STEP / 2)
    limit = (4 * half - wide) / 3
    rounding = float(expected(program)[0].near.reshape(-1)[0]) / _STEP
    return limit, 10 * abs(limit - half) + 4 * rounding
