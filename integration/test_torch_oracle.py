"""The standard ops against PyTorch, in f64: an oracle that shares nothing with ours.

Values, and the gradient of a random weighting of them by every float input, taken there by its own
autograd.  Needs torch: `hatch run full:test`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, Op, TensorType, Value
from byparts_runtime import build

torch = pytest.importorskip("torch", reason="needs torch")
F = torch.nn.functional

Case = tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]

LABELS = np.array([2, 0, 1, 2])

CASES: dict[str, Case] = {
    "conv stride 2, padding": (
        lambda x, w: ops.conv2d(x, w, strides=(2, 1), padding=((1, 1), (2, 2))),
        lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=(1, 2)),
        [(2, 3, 7, 6), (4, 3, 3, 2)],
    ),
    "conv dilated, in groups": (
        lambda x, w: ops.conv2d(x, w, dilations=(2, 3), groups=2),
        lambda x, w: F.conv2d(x, w, dilation=(2, 3), groups=2),
        [(2, 4, 8, 9), (6, 2, 3, 2)],
    ),
    "conv transposed": (
        lambda x, w: ops.conv2d_transpose(
            x, w, strides=(2, 3), padding=((1, 1), (0, 0)), output_padding=(1, 2)
        ),
        lambda x, w: F.conv_transpose2d(x, w, stride=(2, 3), padding=(1, 0), output_padding=(1, 2)),
        [(2, 3, 4, 3), (3, 4, 3, 2)],
    ),
    "max pool": (
        lambda x: ops.max_pool(x, (3, 2), (2, 1), ((1, 1), (0, 0))),
        lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0)),
        [(2, 3, 7, 6)],
    ),
    "max pool, ceil": (
        lambda x: ops.max_pool(x, (2, 3), (2, 2), ceil_mode=True),
        lambda x: F.max_pool2d(x, (2, 3), (2, 2), ceil_mode=True),
        [(2, 3, 7, 6)],
    ),
    "average pool": (
        lambda x: ops.average_pool(x, (3, 2), (2, 2), ((1, 1), (1, 1)), count_include_pad=True),
        lambda x: F.avg_pool2d(x, (3, 2), (2, 2), (1, 1), count_include_pad=True),
        [(2, 3, 7, 6)],
    ),
    "average pool, without padding": (
        lambda x: ops.average_pool(x, (3, 3), (2, 2), ((1, 1), (1, 1)), count_include_pad=False),
        lambda x: F.avg_pool2d(x, (3, 3), (2, 2), (1, 1), count_include_pad=False),
        [(2, 3, 7, 6)],
    ),
    "batch norm": (
        lambda x, g, b: ops.batch_norm(x, g, b, axis=1, epsilon=1e-3)[0],
        lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True, eps=1e-3),
        [(4, 3, 5, 2), (3,), (3,)],
    ),
    "layer norm": (
        lambda x, g, b: ops.layer_norm(x, g, b, epsilon=1e-3),
        lambda x, g, b: F.layer_norm(x, (5,), g, b, 1e-3),
        [(4, 3, 5), (5,), (5,)],
    ),
    "softmax": (lambda x: ops.softmax(x, 1), lambda x: F.softmax(x, 1), [(3, 4, 2)]),
    "log softmax": (lambda x: ops.log_softmax(x, 0), lambda x: F.log_softmax(x, 0), [(3, 4)]),
    "sparse cross entropy": (
        lambda x: ops.sparse_softmax_cross_entropy(x, ops.constant(LABELS, "i64")),
        lambda x: F.cross_entropy(x, torch.tensor(LABELS), reduction="none"),
        [(4, 3)],
    ),
    "gelu": (ops.gelu, F.gelu, [(5, 3)]),
    "gelu by tanh": (
        lambda x: ops.gelu(x, approximate=True),
        lambda x: F.gelu(x, approximate="tanh"),
        [(5, 3)],
    ),
    "relu": (ops.relu, F.relu, [(5, 3)]),
    "sigmoid": (ops.sigmoid, F.sigmoid, [(5, 3)]),
    "tanh": (ops.tanh, torch.tanh, [(5, 3)]),
    "attention": (
        ops.attention,
        F.scaled_dot_product_attention,
        [(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 2)],
    ),
    "attention, scaled": (
        lambda q, k, v: ops.attention(q, k, v, scale=0.3),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3),
        [(2, 4, 5), (2, 6, 5), (2, 6, 5)],
    ),
    "attention, causal": (
        lambda q, k, v: ops.attention(q, k, v, causal=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [(2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5)],
    ),
    "attention, causal, more keys than queries": (
        lambda q, k, v: ops.attention(q, k, v, causal=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)],
    ),
    "attention, causal, fewer keys than queries": (
        lambda q, k, v: ops.attention(q, k, v, causal=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [(1, 2, 5, 4), (1, 2, 3, 4), (1, 2, 3, 4)],
    ),
    "softplus": (ops.softplus, F.softplus, [(5, 3)]),
    "elu": (ops.elu, F.elu, [(5, 3)]),
    "selu": (ops.selu, F.selu, [(5, 3)]),
    "silu": (ops.silu, F.silu, [(5, 3)]),
    "erf": (ops.erf, torch.erf, [(5, 3)]),
    "logsumexp": (
        lambda x: ops.logsumexp(x, (0, 2)),
        lambda x: torch.logsumexp(x, (0, 2)),
        [(3, 4, 2)],
    ),
    "prod": (lambda x: ops.prod(x, 1), lambda x: torch.prod(x, 1), [(3, 4)]),
    "cumsum": (lambda x: ops.cumsum(x, 1), lambda x: torch.cumsum(x, 1), [(3, 4)]),
    "einsum": (
        lambda x, y: ops.einsum("bij,bkj->bik", x, y),
        lambda x, y: torch.einsum("bij,bkj->bik", x, y),
        [(2, 3, 4), (2, 5, 4)],
    ),
    "matmul of a batch": (ops.matmul, torch.matmul, [(2, 1, 3, 4), (5, 4, 2)]),
    "maximum": (ops.maximum, torch.maximum, [(4, 1), (3,)]),
    "atan2": (ops.atan2, torch.atan2, [(4, 3), (3,)]),
    "pad by reflection": (
        lambda x: ops.pad(x, ((0, 0), (0, 0), (1, 2), (2, 1)), mode="reflect"),
        lambda x: F.pad(x, (2, 1, 1, 2), mode="reflect"),
        [(2, 3, 4, 4)],
    ),
    "gather": (
        lambda x: ops.gather(x, ops.constant(LABELS, "i64"), 1),
        lambda x: x[:, torch.tensor(LABELS)],
        [(2, 3)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_agree_with_torch(name: str) -> None:
    """To 1e-10, through every pass and the planned program."""
    ours, theirs, shapes = CASES[name]
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1.5, 1.5, shape) for shape in shapes]
    inputs = [Input(TensorType("f64", shape), None, f"x{i}") for i, shape in enumerate(shapes)]
    y = first(ours(*inputs))
    weights = rng.uniform(-1, 1, y.type.dims)
    dxs = gradients(y, inputs, ops.constant(weights))
    found = build(Graph.of(inputs, (y, *dxs)))(*arrays)

    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    want = theirs(*tensors)
    (want * torch.tensor(weights)).sum().backward()
    for got, expected in zip(found, (want, *(t.grad for t in tensors)), strict=True):
        np.testing.assert_allclose(got, expected.detach().numpy(), rtol=1e-10, atol=1e-10)


BACKWARD = torch.ops.aten
SHAPES: list[tuple[int, ...]] = [(5, 3), (5, 3)]

# Ours and theirs take the same arrays, the first of them a gradient.
GRADIENT_OPS: dict[str, Case] = {
    "relu": (ops.relu_gradient, lambda dy, y: BACKWARD.threshold_backward(dy, y, 0), SHAPES),
    "sigmoid": (ops.sigmoid_gradient, BACKWARD.sigmoid_backward, SHAPES),
    "tanh": (ops.tanh_gradient, BACKWARD.tanh_backward, SHAPES),
    "silu": (ops.silu_gradient, BACKWARD.silu_backward, SHAPES),
    "gelu": (ops.gelu_gradient, BACKWARD.gelu_backward, SHAPES),
    "gelu by tanh": (
        lambda dy, x: ops.gelu_gradient(dy, x, approximate=True),
        lambda dy, x: BACKWARD.gelu_backward(dy, x, approximate="tanh"),
        SHAPES,
    ),
    "softmax": (
        lambda dy, y: ops.softmax_gradient(dy, y, 0),
        lambda dy, y: BACKWARD._softmax_backward_data(dy, y, 0, dy.dtype),
        SHAPES,
    ),
    "log softmax": (
        lambda dy, y: ops.log_softmax_gradient(dy, y, 0),
        lambda dy, y: BACKWARD._log_softmax_backward_data(dy, y, 0, dy.dtype),
        SHAPES,
    ),
}


@pytest.mark.parametrize("name", GRADIENT_OPS)
def test_gradient_ops_agree_with_torch(name: str) -> None:
    """On any arrays, whether or not an activation could have given them."""
    ours, theirs, shapes = GRADIENT_OPS[name]
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1.5, 1.5, shape) for shape in shapes]
    inputs = [Input(TensorType("f64", shape)) for shape in shapes]

    (found,) = build(Graph.of(inputs, [first(ours(*inputs))]))(*arrays)

    want = theirs(*map(torch.tensor, arrays))
    np.testing.assert_allclose(found, want.numpy(), rtol=1e-12, atol=1e-14)


# Of one weight: ours is an op and how many states it has, theirs an optimizer.
STEPS: dict[str, tuple[Op, int, Callable[..., Any]]] = {
    "gradient descent": (ops.GradientDescent(1), 0, lambda w: torch.optim.SGD(w, lr=0.125)),
    "momentum": (
        ops.Momentum(1, 0.75),
        1,
        lambda w: torch.optim.SGD(w, lr=0.125, momentum=0.75),
    ),
    "nesterov": (
        ops.Momentum(1, 0.75, nesterov=True),
        1,
        lambda w: torch.optim.SGD(w, lr=0.125, momentum=0.75, nesterov=True),
    ),
    "adam": (
        ops.Adam(1, 0.8, 0.95, 1e-3),
        2,
        lambda w: torch.optim.Adam(w, lr=0.125, betas=(0.8, 0.95), eps=1e-3),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_five_steps_agree_with_torch(name: str) -> None:
    """From states of zeros, with another gradient at each step."""
    op, states, make = STEPS[name]
    rng = np.random.default_rng(0)
    old = [rng.normal(size=(3, 2)), *[np.zeros((3, 2))] * states]
    weight = torch.tensor(old[0], requires_grad=True)
    theirs = make([weight])
    types = [TensorType("f64", (3, 2))] * (2 + states)
    scalars = [TensorType("f32", ())] * (2 if name == "adam" else 1)
    inputs = [Input(t) for t in (*types, *scalars)]
    step = build(Graph.of(inputs, op.outputs_of(*inputs)))
    for number in range(1, 6):
        dw = rng.normal(size=(3, 2))
        old = list(step(*old, dw, *(0.125, number)[: len(scalars)]))
        weight.grad = torch.tensor(dw)
        theirs.step()

    np.testing.assert_allclose(old[0], weight.detach().numpy(), rtol=1e-12)


def first(y: Value | tuple[Value, ...]) -> Value:
    return y if isinstance(y, Value) else y[0]
