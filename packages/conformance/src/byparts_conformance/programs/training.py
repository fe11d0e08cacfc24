"""Training steps of random programs: losses, gradients of what they read, and new weights.

A step is made of a program of names and of the program of each size in the same way, so whether the
gradient rules take it that a name is no number is seen: both must give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_conformance.programs.growing import is_float
from byparts_conformance.programs.program import Program
from byparts_graph_ir import Graph, Value

# Themes of `generate` with products, convolutions, pooling, losses, slices and optimizers.
THEMES = ("networks", "networks", "everything of f32", "rows", "movement", "chains")


def with_training(program: Program, weights: Sequence[int]) -> Program:
    """The program with losses of its fetches, and gradients of its inputs of floats.

    Args:
        program: of names or of numbers; its seed draws the losses and the optimizer.
        weights: positions of feeds that become variables, each written by an optimizer.

    Raises:
        GraphError: an op on the way has no gradient.
    """
    graph, random = program.graph, Random(program.seed)
    fetches = graph.outputs[: len(graph.outputs) - program.updates]
    losses = [random.choice(_losses(y))(y) for y in dict.fromkeys(fetches) if is_float(y)]
    trained = [graph.inputs[i] for i in weights]
    others = [v for v in graph.inputs if is_float(v) and v not in trained]
    dxs = gradients(losses, [*trained, *others], unreachable="zeros")
    update = random.choice((_descent, _momentum, _adam))
    news = update(trained, dxs[: len(trained)]) if trained else []
    rest = list(dxs[len(trained) :])
    if others and random.random() < 0.3:
        rest += update(others[:1], rest[:1])
    order = [i for i in range(program.feeds) if i not in weights]
    order += [*weights, *range(program.feeds, len(graph.inputs))]
    inputs = [graph.inputs[i] for i in order]
    outputs = (*fetches, *losses, *rest, *news, *graph.outputs[len(fetches) :])
    return replace(
        program,
        graph=Graph.of(inputs, outputs),
        arrays=tuple([program.arrays[i] for i in order]),
        variables=program.variables + len(weights),
        updates=program.updates + len(weights),
    )


def weights_of(program: Program) -> list[int]:
    """Positions of feeds of floats whose dimensions are numbers."""
    feeds = enumerate(program.graph.inputs[: program.feeds])
    return [i for i, v in feeds if is_float(v) and v.type.static]


def _losses(y: Value) -> list[Callable[[Value], Value]]:
    """Functions that make a number of a value of floats."""
    some: list[Callable[[Value], Value]] = [
        ops.sum,
        ops.mean,
        lambda y: ops.mean(ops.square(y)),
        lambda y: ops.mean(ops.abs(ops.sub(y, 0.5))),
    ]
    if y.type.rank == 2:  # not asked of sizes, so that names and numbers have the same losses
        labels = ops.stop_gradient(y)
        some += [
            lambda y: ops.mean(ops.softmax_cross_entropy(y, ops.softmax(ops.neg(labels)))),
            lambda y: ops.sum(ops.sparse_softmax_cross_entropy(y, ops.argmin(labels, 1))),
        ]
    return some


def _descent(w: Sequence[Value], dw: Sequence[Value]) -> list[Value]:
    return list(ops.gradient_descent(w, dw, 0.125))


def _momentum(w: Sequence[Value], dw: Sequence[Value]) -> list[Value]:
    return list(ops.momentum(w, [x * 0.5 for x in dw], dw, 0.125, 0.5)[0])


def _adam(w: Sequence[Value], dw: Sequence[Value]) -> list[Value]:
    squares = [ops.square(x) for x in dw]  # a mean of squares is not negative
    return list(ops.adam(w, [x * 0.5 for x in dw], squares, dw, 0.125, 3.0)[0])
