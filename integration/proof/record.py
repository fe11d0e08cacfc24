"""Writes the programs that every combination runs: `python -m proof.record FOLDER`.

Runs once, where all parts are.  The answers are those of `evaluate`, which no kernel, pass or
planner has a part in; so even the environment that records them has something to prove.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, specialize, to_json
from byparts_memplan import plan
from byparts_opset.evaluate import evaluate
from proof.own_op import Blend
from proof.stand_in import facts_of

RATE = 0.1


def main(folder: str) -> None:
    """Write all programs."""
    random = np.random.default_rng(0)
    shapes = {"x": (16, 8), "w1": (8, 32), "b1": (32,), "w2": (32, 4), "b2": (4,)}
    layers = {name: _input(name, shape) for name, shape in shapes.items()}
    labels = Input(TensorType("i64", (16,)), None, "labels")
    arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
    values = [a.astype("float32") for a in arrays.values()]
    classes = random.integers(0, 4, 16)
    x, *weights = layers.values()
    loss = _loss(x, labels, weights)
    news = [w - dw * RATE for w, dw in zip(weights, gradients(loss, weights), strict=True)]
    given = [values[0], classes, *values[1:]]
    inputs = [x, labels, *weights]
    out = Path(folder)
    _write(out, "mlp_loss", Graph.of(inputs, [loss]), given)
    _write(out, "mlp_step", Graph.of(inputs, [loss, *news]), given, updates=len(weights))
    _write(out, "convolution", _convolution(), _draws(random, (4, 1, 8, 8), *FILTERS))
    _write(out, "composite", _composite(), _draws(random, (3, 4), (3, 4)))


FILTERS = ((6, 1, 3, 3), (6, 1, 1), (96, 10), (10,))


def _loss(x: Value, labels: Value, weights: Sequence[Value]) -> Value:
    """Of a perceptron with one hidden layer."""
    w1, b1, w2, b2 = weights
    logits = ops.tanh(x @ w1 + b1) @ w2 + b2
    return ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))


def _convolution() -> Graph:
    """A small LeNet on any number of images: the symbol n is bound when it is built."""
    x = Input(TensorType("f32", ("n", 1, 8, 8)), None, "images")
    w, b, dense, bias = (_input(f"w{i}", shape) for i, shape in enumerate(FILTERS))
    y = ops.relu(ops.conv2d(x, w, padding="SAME") + b)
    y = ops.reshape(ops.max_pool(y, (2, 2), (2, 2)), (-1, 96))
    return Graph.of([x, w, b, dense, bias], [ops.softmax(y @ dense + bias)])


def _composite() -> Graph:
    """Ops made of others, one of them a third party's, which nobody has a kernel for."""
    x, y = _input("x", (3, 4)), _input("y", (3, 4))
    mixed = Blend(0.25)(x, y)
    outputs = [mixed, ops.logsumexp(mixed, 1), ops.tile(x, (2, 1)), ops.einsum("ij,kj->ik", x, y)]
    return Graph.of([x, y], outputs)


def _write(
    folder: Path, name: str, graph: Graph, arrays: Sequence[Any], *, updates: int = 0
) -> None:
    types = [TensorType(v.type.dtype, a.shape) for v, a in zip(graph.inputs, arrays, strict=True)]
    static = specialize(graph, types)
    facts = {
        "text": str(graph),
        "specialized": str(static),
        "types": [(t.dtype, t.shape) for t in types],
        "arena_bytes": plan(static).arena_bytes,
        "ops": facts_of([graph, static]),
        "updates": updates,
    }
    named: dict[str, Any] = {f"input_{i:02}": a for i, a in enumerate(arrays)}
    named |= {f"answer_{i:02}": a for i, a in enumerate(evaluate(graph, *arrays))}
    np.savez(folder / f"{name}.npz", **named)
    (folder / f"{name}.graph.json").write_text(to_json(graph), encoding="utf-8")
    (folder / f"{name}.facts.json").write_text(json.dumps(facts), encoding="utf-8")


def _input(name: str, shape: tuple[int, ...]) -> Input:
    return Input(TensorType("f32", shape), None, name)


def _draws(random: np.random.Generator, *shapes: tuple[int, ...]) -> list[Any]:
    return [random.normal(size=shape).astype("float32") for shape in shapes]


if __name__ == "__main__":
    main(sys.argv[1])
