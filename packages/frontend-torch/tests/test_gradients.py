"""Gradients where a slope is infinite, undefined or one of several: those of torch's autograd.

First order: equal to torch's.  Second order: finite wherever torch's is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import exporting
import numpy as np
import pytest
import torch
from torch.nn import functional

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Value
from byparts_opset.evaluate import evaluate

Case = tuple[Callable[..., Any], Any]


def of(*rows: Any) -> Any:
    return torch.tensor(rows, dtype=torch.float64)


ZEROS = of([0, 0, 0], [1, -2, 3], [0, 1, 2])
ROWS = of([1, 2, 3], [4, 5, 7], [0, 1, 2])
EQUAL = of([1, 1, 1], [1, 2, 4])
TIES = of([1, 1, 0], [2, 2, 2])
BOUNDS = of(-3, -1, -0.5, 0, 0.5, 1, 3, 6, 7)
SURE, TARGET = of(0, 1, 0, 1, 0.5), of(0, 1, 1, 0, 0.3)
MASKED = of([-inf, -inf], [1, -inf], [0, 1])
OTHERS = of([0, 1, 1], [0, 0, 0], [1, 2, 3])
SEEN = torch.tensor([[False, False, False], [True, False, True], [True, True, True]])

CASES: dict[str, Case] = {
    **{
        f"norm {p}": (lambda x, p=p: torch.linalg.vector_norm(x, p, 1), ZEROS)
        for p in (0.5, 1, 1.5, 2, 3, -1, inf, -inf)
    },
    **{f"cdist {p}": (lambda x, p=p: torch.cdist(x, x, p), ROWS) for p in (1.0, 1.5, 2.0, 3.0)},
    **{f"std {c}": (lambda x, c=c: torch.std(x, 1, correction=c), EQUAL) for c in (0, 1)},
    "std and mean": (lambda x: torch.std_mean(x, 1)[0], EQUAL),
    "binary cross entropy": (lambda x: functional.binary_cross_entropy(x, TARGET), SURE),
    "weighted": (
        lambda x: functional.binary_cross_entropy(x, TARGET, SURE + 1, reduction="sum"),
        SURE,
    ),
    "sinc": (torch.sinc, BOUNDS),
    "atan2": (lambda x: torch.atan2(x, of(0, 0, -1)), of(0, 1, 0)),
    "masked softmax": (lambda x: torch.ops.aten._safe_softmax(x, -1), MASKED),
    "masked attention": (
        lambda x: functional.scaled_dot_product_attention(x, x, x, SEEN),
        ROWS[None, None] / 4,
    ),
    "normalize": (lambda x: functional.normalize(x, dim=-1), ZEROS),
    "normalize by cubes": (lambda x: functional.normalize(x, 3.0, dim=-1), ZEROS),
    "cosine similarity": (lambda x: functional.cosine_similarity(x, OTHERS, -1), ZEROS),
    "cosine similarity of zeros": (lambda x: functional.cosine_similarity(x, x, -1), ZEROS),
    "clamp": (lambda x: x.clamp(-1, 1), BOUNDS),
    "clamp by values": (lambda x: x.clamp(of(-1.0)[0], of(1.0)[0]), BOUNDS),
    "clamp from below": (lambda x: x.clamp(min=-1), BOUNDS),
    "hardtanh": (functional.hardtanh, BOUNDS),
    "relu6": (functional.relu6, BOUNDS),
    "hardsigmoid": (functional.hardsigmoid, BOUNDS),
    "hardswish": (functional.hardswish, BOUNDS),
    "elu": (functional.elu, BOUNDS),
    "selu": (functional.selu, BOUNDS),
    "celu": (functional.celu, BOUNDS),
    "logsigmoid": (functional.logsigmoid, BOUNDS),
    "maximum": (lambda x: torch.maximum(x, x.flip(0)), BOUNDS),
    "minimum": (lambda x: torch.minimum(x, of(0.5)), BOUNDS),
    "maximum along an axis": (lambda x: x.max(1)[0], TIES),
    "minimum along an axis": (lambda x: x.min(1)[0], TIES),
    "maximum of all": (lambda x: x.max(), TIES),
    "shared maximum": (lambda x: x.amax(1), TIES),
    "fmod": (lambda x: torch.fmod(x, 2.0), BOUNDS),
    "powers of 0": (lambda x: 0.0**x, of(-1, 0, 1)),
}


def gradients_of_torch(function: Callable[..., Any], x: Any) -> list[Any]:
    """y and its first two gradients, by autograd."""
    x = x.clone().requires_grad_()
    y = function(x)
    (dx,) = torch.autograd.grad(
        (y * torch.from_numpy(weights(y.shape))).sum(), x, create_graph=True
    )
    return [v.numpy(force=True) for v in (y, dx, second_of_torch(dx, x))]


def second_of_torch(dx: Any, x: Any) -> Any:
    """nan where torch has no second derivative of the op."""
    total = (dx * torch.from_numpy(weights(dx.shape))).sum()
    try:
        ddx = torch.autograd.grad(total, x, allow_unused=True)[0] if total.requires_grad else None
    except RuntimeError as error:
        if "not implemented" not in str(error) and "not differentiable" not in str(error):
            raise
        return torch.full_like(x, torch.nan)
    return torch.zeros_like(x) if ddx is None else ddx


def our_gradients(function: Callable[..., Any], x: Any) -> tuple[Any, ...]:
    made = exporting.imported(exporting.Function(function), x.clone())
    (given,), (y,) = made.graph.inputs[:1], made.graph.outputs[:1]
    (dx,) = gradients(weighed(y), given, unreachable="zeros")
    (ddx,) = gradients(weighed(dx), given, unreachable="zeros")  # of what is linear
    graph = Graph.of(made.graph.inputs, [y, dx, ddx])
    return evaluate(graph, x.numpy(), *made.weights.values())


def weighed(y: Value) -> Value:
    return ops.sum(y * ops.constant(weights(y.type.dims)))


def weights(shape: Any) -> Any:
    return np.cos(np.arange(int(np.prod(shape)), dtype=np.float64)).reshape(tuple(shape))


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_torch(name: str) -> None:
    """At zeros, ties, bounds and masked rows."""
    want, got = gradients_of_torch(*CASES[name]), our_gradients(*CASES[name])

    np.testing.assert_allclose(got[0], want[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-5, atol=1e-8)
    assert (np.isfinite(got[2]) | ~np.isfinite(want[2])).all()
