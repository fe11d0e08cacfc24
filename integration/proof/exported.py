"""frontend-torch brings a model of PyTorch to whatever kernels are here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

import torch

from byparts_frontend_torch import Imported, from_exported
from byparts_graph_ir.parts.hub import parts
from byparts_opset.evaluate import evaluate
from proof.recorded import assert_close
from proof.spec import Check, Spec, about


def checks(spec: Spec) -> Iterator[Check]:
    """What the model gives in torch is what its graph means, and what each backend computes."""
    yield its_graph_means_what_the_model_computes
    if spec.has("runtime"):
        run = import_module("proof.run")
        for name in parts.names("backends"):
            order = run.with_the_rest(name)
            if run.backend(name) is not None and order is not None:
                yield from about(name, _runs(order))


def its_graph_means_what_the_model_computes() -> None:
    """Without runtime and kernels."""
    imported, x, y = _model()
    assert_close(evaluate(imported.graph, x, *imported.weights.values())[0], y, "evaluate")


def _runs(order: tuple[str, ...]) -> Check:
    def its_graph_runs() -> None:
        imported, x, y = _model()
        program = import_module("byparts_runtime").build(imported.graph, backends=order)
        assert_close(program(x, *imported.weights.values())[0], y, order[0])

    return its_graph_runs


@cache
def _model() -> tuple[Imported, Any, Any]:
    """A perceptron, its input and torch's own answer."""
    torch.manual_seed(0)
    layers = torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    model, x = torch.nn.Sequential(*layers), torch.randn(3, 4)
    with catch_warnings():
        simplefilter("ignore")  # torch warns of what it does itself
        imported = from_exported(torch.export.export(model, (x,)))
    return imported, x.numpy(), model(x).detach().numpy()
