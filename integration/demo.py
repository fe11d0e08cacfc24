"""Train three networks on handwritten digits, with the best kernels that are there.

    python integration/demo.py [softmax] [mlp] [lenet] [--seed 0] [--out out]

Each is defined as a graph, differentiated, planned and run, by generated code where there is a
compiler.  Printed are its progress and how much memory was planned; at the end a summary: accuracy
on digits it has not seen, seconds, bytes, kernels.  Into `--out` go the picture of each plan as
SVG, and a text: every step with its kernel (`explain`), and the whole report of the plan.  The
same seed gives the same numbers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_memplan import Plan
from byparts_runtime import Program, Variable, build

Array = NDArray[np.float32]
Parameters = list[tuple[Input, Array]]  # each with its first value
BATCH = 100
_BLANK = "\n\n"  # ends the first part of a report


class Layers:
    """Makes parameters as layers ask for them; the seed decides their first values."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.parameters: Parameters = []

    def parameter(self, name: str, shape: tuple[int, ...], stdev: float) -> Input:
        value = (self.rng.standard_normal(shape) * stdev).astype("float32")
        made = Input(TensorType("f32", shape), None, name)
        self.parameters.append((made, value))
        return made

    def dense(self, name: str, x: Value, width: int, units: int) -> Value:
        """x: [n, width] -> [n, units]."""
        w = self.parameter(f"{name}_weight", (width, units), (2 / width) ** 0.5)
        return x @ w + self.parameter(f"{name}_bias", (units,), 0.0)

    def conv(self, name: str, x: Value, channels: int, filters: int) -> Value:
        """3 by 3, same size.  x: [n, channels, h, w] -> [n, filters, h, w]."""
        w = self.parameter(f"{name}_weight", (filters, channels, 3, 3), (2 / channels / 9) ** 0.5)
        b = self.parameter(f"{name}_bias", (filters, 1, 1), 0.0)
        return ops.conv2d(x, w, padding="SAME") + b


def softmax(layers: Layers, x: Value) -> Value:
    """One layer."""
    return layers.dense("out", x, 64, 10)


def mlp(layers: Layers, x: Value) -> Value:
    """Two layers."""
    return layers.dense("out", ops.relu(layers.dense("hidden", x, 64, 128)), 128, 10)


def lenet(layers: Layers, x: Value) -> Value:
    """Two convolutions with pooling, two dense layers; images of 8 by 8."""
    y = ops.reshape(x, (-1, 1, 8, 8))
    y = ops.max_pool(ops.tanh(layers.conv("conv1", y, 1, 16)), (2, 2), (2, 2))
    y = ops.max_pool(ops.tanh(layers.conv("conv2", y, 16, 32)), (2, 2), (2, 2))
    y = ops.tanh(layers.dense("hidden", ops.reshape(y, (-1, 128)), 128, 128))
    return layers.dense("out", y, 128, 10)


@dataclass(frozen=True)
class Recipe:
    """A network, and how long to train it."""

    network: Callable[[Layers, Value], Value]
    epochs: int
    rate: float


RECIPES = {
    "softmax": Recipe(softmax, 40, 0.1),
    "mlp": Recipe(mlp, 40, 0.05),
    "lenet": Recipe(lenet, 20, 0.02),
}


def training_step(logits: Value, labels: Value, given: Sequence[Input], rate: float) -> list[Value]:
    """The loss, then the new value of every parameter and of its momentum."""
    weights, momenta = given[: len(given) // 2], given[len(given) // 2 :]
    loss = ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))
    moved = [m * 0.9 + dw for m, dw in zip(momenta, gradients(loss, weights), strict=True)]
    return [loss, *(w - m * rate for w, m in zip(weights, moved, strict=True)), *moved]


def programs(recipe: Recipe, seed: int, tests: int) -> tuple[Program, Program]:
    """One that trains on a batch, one that classifies the test images; they share the weights."""
    layers = Layers(seed)
    x = Input(TensorType("f32", (BATCH, 64)), None, "images")
    labels = Input(TensorType("i64", (BATCH,)), None, "labels")
    logits = recipe.network(layers, x)
    weights = [v for v, _ in layers.parameters]
    momenta = [Input(v.type, None, f"{v.name}_momentum") for v in weights]
    results = training_step(logits, labels, [*weights, *momenta], recipe.rate)
    values = [Variable(v.name, first) for v, first in layers.parameters]
    moving = [Variable(m.name, m.type) for m in momenta]
    train = build(
        Graph.of((x, labels, *weights, *momenta), results),
        variables=[*values, *moving],
        updates=[*values, *moving],
        backends="auto",
    )
    again, images = Layers(seed), Input(TensorType("f32", (tests, 64)), None, "images")
    guess = ops.argmax(recipe.network(again, images), 1)
    inputs = (images, *(v for v, _ in again.parameters))
    return train, build(Graph.of(inputs, (guess,)), variables=values, backends="auto")


def digits(seed: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """1497 images [n, 64] in [-0.5, 0.5] with labels to train on, 300 to test."""
    with np.load(str(files("byparts_tinyflow") / "data" / "digits.npz")) as file:
        images = file["images"].reshape(-1, 64).astype("float32") / 16 - 0.5
        labels = file["labels"].astype("int64")
    order = np.random.default_rng(seed).permutation(len(images))
    train, test = order[300:], order[:300]
    return (images[train], labels[train]), (images[test], labels[test])


def batches(
    images: Array, labels: Array, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """All full batches, in a new order."""
    order = rng.permutation(len(images))
    for at in range(0, len(images) - BATCH + 1, BATCH):
        yield images[order[at : at + BATCH]], labels[order[at : at + BATCH]]


@dataclass(frozen=True)
class Result:
    """What is said of a network at the end.

    Attributes:
        accuracy: on the test images.
        training_s: seconds, without the build.
        plan: of the training step.
        kernels: backend -> how many steps it runs.
    """

    accuracy: float
    training_s: float
    plan: Plan
    kernels: Mapping[str, int]


def fit(name: str, recipe: Recipe, seed: int, out: Path) -> Result:
    """Build, train, and write what was planned into `out`."""
    train_set, (images, labels) = digits(seed)
    train, classify = programs(recipe, seed, len(images))
    rng, start, loss = np.random.default_rng(seed), time.perf_counter(), np.float32(0)
    for epoch in range(1, recipe.epochs + 1):
        for x, y in batches(*train_set, rng):
            (loss,) = train(x, y)
        done = 20 * epoch // recipe.epochs
        bar = "#" * done + "." * (20 - done)
        print(f"\r{name:8} [{bar}] epoch {epoch:3}  loss {loss:.4f}", end="", flush=True)
    accuracy = float((classify(images)[0] == labels).mean())
    training_s, plan = time.perf_counter() - start, train.plan
    assert isinstance(plan, Plan), "the demo shows what memplan planned"
    print(f"\n{plan.report().partition(_BLANK)[0]}\n")
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}-plan.svg").write_text(plan.svg(), encoding="utf-8")
    text = f"{train.explain(width=100)}\n\n{plan.report()}\n"
    (out / f"{name}-plan.txt").write_text(text, encoding="utf-8")
    kernels = Counter(step.backend for step in train.steps)
    return Result(accuracy, training_s, plan, kernels)


def summary(results: Mapping[str, Result], out: Path) -> str:
    """A row for each network, and where the rest can be read."""
    lines = ["network  accuracy  trained in     bytes planned  kernels"]
    for name, result in results.items():
        kernels = ", ".join(f"{count} of {b}" for b, count in result.kernels.items())
        planned = result.plan.arena_bytes
        share = f"{planned:,} ({planned / result.plan.naive_bytes:.0%})"
        row = f"{name:8} {result.accuracy:8.4f} {result.training_s:9.1f} s {share:>17}  {kernels}"
        lines.append(row)
    names = f"{{{','.join(results)}}}" if len(results) > 1 else next(iter(results))
    return "\n".join([*lines, f"plans and kernels, step by step: {out}/{names}-plan.svg and .txt"])


def main(argv: Sequence[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "networks", nargs="*", metavar=f"{{{','.join(RECIPES)}}}", help="default: all"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the pictures")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.networks if name not in RECIPES]:
        parser.error(f"there is no network {unknown[0]!r}; there are {', '.join(RECIPES)}")
    names = given.networks or RECIPES
    results = {name: fit(name, RECIPES[name], given.seed, given.out) for name in names}
    print(summary(results, given.out))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
