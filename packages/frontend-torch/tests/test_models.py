"""Whole models against torch: what they give, and our gradients against its autograd."""

from __future__ import annotations

from typing import Any

import exporting
import numpy as np
import pytest
import torch
from torch_models import models

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Value
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

NAMES = list(models())


def outputs_of(model: Any, x: Any) -> list[Any]:
    y = model(x)
    return list(y) if isinstance(y, tuple) else [y]


def weighted(like: Any, shape: tuple[int, ...]) -> Any:
    """Numbers that make a scalar of an output, so that every element counts differently."""
    size = int(np.prod(shape))
    return np.cos(np.arange(size, dtype=np.float64)).reshape(shape).astype(like)


def loss_of(outputs: tuple[Value, ...]) -> Value:
    terms = [
        ops.sum(y * ops.constant(weighted({"f32": "f4", "f64": "f8"}[y.type.dtype], y.type.dims)))
        for y in outputs
    ]
    return ops.add_n(terms)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_model_gives(name: str) -> None:
    """In evaluation mode and f32: by the reference, and as a planned program."""
    model, x = models()[name]
    made = exporting.imported(model.eval(), x)
    expected = [y.detach().numpy() for y in outputs_of(model, x)]

    arrays = (x.numpy(), *made.weights.values())
    for results in (evaluate(made.graph, *arrays), build(made.graph)(*arrays)):
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_model_gives_on_torch_kernels(name: str) -> None:
    pytest.importorskip("byparts_kernels_torch", reason="needs kernels-torch")
    model, x = models()[name]
    made = exporting.imported(model.eval(), x)

    results = build(made.graph, backends=("torch", "numpy"))(x.numpy(), *made.weights.values())

    for got, y in zip(results, outputs_of(model, x), strict=True):
        np.testing.assert_allclose(got, y.detach().numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_a_model(name: str) -> None:
    """Of a weighting of all outputs, by every parameter, in f64."""
    model, x = models()[name]
    model = model.double().train("GPT" not in name)
    x = x.double() if x.is_floating_point() else x
    made = exporting.imported(model, x)
    outputs = made.graph.outputs[: len(made.outputs)]
    loss = loss_of(outputs)
    trained = [made.values[n] for n in made.parameters]
    graph = Graph.of(made.graph.inputs, (loss, *gradients(loss, trained)))

    got = build(graph)(x.numpy(), *made.weights.values())

    terms = [(y * torch.tensor(weighted("f8", tuple(y.shape)))).sum() for y in outputs_of(model, x)]
    sum(terms).backward()
    wanted = [dict(model.named_parameters())[n].grad for n in made.parameters]
    np.testing.assert_allclose(got[0], float(sum(terms).detach()), rtol=1e-10)
    for n, dw, want in zip(made.parameters, got[1:], wanted, strict=True):
        scale = max(1.0, float(want.abs().max()))
        np.testing.assert_allclose(dw, want.numpy(), rtol=1e-10, atol=1e-10 * scale, err_msg=n)


def test_a_step_of_batch_norm_updates_its_statistics() -> None:
    """Running mean, variance and count are outputs, under the names of what they update."""
    model, x = models()["ResNet-18"]
    x = x.double()
    made = exporting.imported(model.double().train(), x)
    results = evaluate(made.graph, x.numpy(), *made.weights.values())
    model(x)

    state = model.state_dict()
    assert "stem.1.running_var" in made.updates and "stem.1.num_batches_tracked" in made.updates
    for name, new in zip(made.updates, results[len(made.outputs) :], strict=True):
        np.testing.assert_allclose(new, state[name].numpy(), rtol=1e-10, err_msg=name)
