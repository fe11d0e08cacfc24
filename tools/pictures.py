"""Draws the pictures of the documentation, with the library itself.

    python tools/pictures.py            # writes docs/pictures/*.svg

The same bytes every run: a test draws them again and compares.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, inherit
from byparts_memplan import curve_svg, live_bytes, order, plan
from byparts_optimize import optimize
from byparts_recompute import rematerialize, tradeoff, tradeoff_svg
from layers import layers_svg
from memory.networks import training

ROOT = Path(__file__).parent.parent
MIB = 2**20
FOLDER = ROOT / "docs" / "pictures"


def given(name: str, *shape: int, dtype: str = "f32") -> Input:
    return Input(TensorType(dtype, shape), None, name, "")


def training_step(logits: Value, labels: Value, weights: Sequence[Value]) -> list[Value]:
    """The loss, and the new value of every weight."""
    with inherit("in loss"):
        loss = ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))
        moved = zip(weights, gradients(loss, weights), strict=True)
    with inherit("in update"):
        return [loss, *(w - 0.1 * dw for w, dw in moved)]


def mlp() -> Graph:
    """One step of a network with one hidden layer; 100 images of 8 by 8."""
    x, labels = given("images", 100, 64), given("labels", 100, dtype="i64")
    w1, b1 = given("w1", 64, 32), given("b1", 32)
    w2, b2 = given("w2", 32, 10), given("b2", 10)
    with inherit("in hidden"):
        y = ops.tanh(x @ w1 + b1)
    with inherit("in output"):
        logits = y @ w2 + b2
    weights = [w1, b1, w2, b2]
    return Graph.of([x, labels, *weights], training_step(logits, labels, weights))


def lenet() -> Graph:
    """One step of two convolutions with pooling and two dense layers; 100 images of 28 by 28."""
    x, labels = given("images", 100, 1, 28, 28), given("labels", 100, dtype="i64")
    f1, f2 = given("filter1", 20, 1, 5, 5), given("filter2", 50, 20, 5, 5)
    w1, w2 = given("w1", 800, 500), given("w2", 500, 10)
    with inherit("in conv1"):
        y = ops.max_pool(ops.tanh(ops.conv2d(x, f1)), (2, 2), (2, 2))
    with inherit("in conv2"):
        y = ops.max_pool(ops.tanh(ops.conv2d(y, f2)), (2, 2), (2, 2))
    with inherit("in dense1"):
        y = ops.tanh(ops.reshape(y, (100, 800)) @ w1)
    with inherit("in dense2"):
        logits = y @ w2
    weights = [f1, f2, w1, w2]
    return Graph.of([x, labels, *weights], training_step(logits, labels, weights))


def resnet18() -> dict[str, str]:
    """Its memory over time, and what extra work buys; PyTorch's points are those of its traces."""
    with inherit(""):
        graph, weights = training("resnet18")
        graph = optimize(graph)
    better = order(graph, external=weights)
    again = rematerialize(better, 120 * MIB, external=weights, effort=0)
    curves = {
        "as written": live_bytes(graph, external=weights),
        "in order": live_bytes(better, external=weights),
        "computed again": live_bytes(again, external=weights),
    }
    ours = {"byparts": tradeoff(graph, external=weights, points=12, effort=0)}
    theirs = {
        "partitioner": [(int(166.5 * MIB), 0.0006), (int(196.3 * MIB), 0.0)],
        "checkpoint": [(int(172.6 * MIB), 0.1655), (int(142.6 * MIB), 0.3339)],
    }
    return {
        "resnet18-memory.svg": curve_svg(curves, budget_bytes=120 * MIB),
        "resnet18-tradeoff.svg": tradeoff_svg(ours, baselines=theirs, title="ResNet-18, batch 8"),
    }


def readme() -> str:
    """The plan of the program in the README, which is run for it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (example,) = [block for block in blocks if "program = build(" in block]
    space: dict[str, Any] = {"__name__": "__main__"}
    with inherit(""), redirect_stdout(io.StringIO()):  # no line numbers in the picture
        exec(example, space)
    return str(space["program"].plan.svg())


def pictures() -> dict[str, str]:
    """File name -> SVG text.  Weights live outside the arena."""
    with inherit(""):  # no lines of this file in the pictures
        small, large = optimize(mlp()), optimize(lenet())
    outside = range(2, 6)
    return {
        "parts.svg": layers_svg(),
        "readme-plan.svg": readme(),
        "mlp-graph.svg": small.svg("rows"),
        "lenet-graph.svg": large.svg("rows"),
        "lenet-plan.svg": plan(large, external=outside).svg(),
        **resnet18(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)
