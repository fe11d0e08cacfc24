"""Imports a model from PyTorch and trains it without: our gradients, our plan, our kernels.

python integration/examples/torch_import.py         # needs torch, to say what the model is

A small convolutional network with batch norm and dropout, in training mode, learns to tell where a
bright square is.  The weights and what the model updates itself are variables of one program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_frontend_torch import Imported, from_exported
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import Program, Variable, build

BATCH, SIZE, STEPS, RATE = 32, 12, 60, 0.2


def model() -> Any:
    """Nine classes: the square is in one of three rows and three columns."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(8 * (SIZE // 2) ** 2, 9),
    )


def batch(rng: np.random.Generator) -> tuple[Any, Any]:
    """Noise with a square in it, and where that is."""
    labels = rng.integers(0, 9, BATCH)
    images = rng.normal(0, 1, (BATCH, 1, SIZE, SIZE)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        row, column = (int(i) * SIZE // 3 for i in divmod(label, 3))
        image[0, row : row + 3, column : column + 3] += 2
    return images, labels


def training_step(imported: Imported) -> tuple[Program, dict[str, Variable]]:
    """One program: (images, labels) to the loss; it updates all that the model and we change."""
    given = imported.graph.inputs
    logits, *updated = imported.graph.outputs
    labels = Input(TensorType("i64", (BATCH,)), None, "labels")
    loss = ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))

    trained = [imported.values[name] for name in imported.parameters]
    steps = zip(trained, gradients(loss, trained), strict=True)
    new = [w - RATE * dw for w, dw in steps]
    graph = Graph.of([given[0], labels, *given[1:]], [loss, *updated, *new])

    variables = {name: Variable(name, array) for name, array in imported.weights.items()}
    changed = [*imported.updates, *imported.parameters]
    program = build(
        graph, variables=tuple(variables.values()), updates=[variables[n] for n in changed]
    )
    return program, variables


def main() -> None:
    images, _ = batch(np.random.default_rng(0))
    exported = torch.export.export(model().train(), (torch.from_numpy(images),))
    program, variables = training_step(from_exported(exported, seed=0))
    print(
        f"{len(program.steps)} steps, {program.plan.arena_bytes} bytes, {len(variables)} variables"
    )

    rng = np.random.default_rng(1)
    for i in range(STEPS):
        (loss,) = program(*batch(rng))
        if i % 10 == 0 or i == STEPS - 1:
            print(f"step {i:2}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
