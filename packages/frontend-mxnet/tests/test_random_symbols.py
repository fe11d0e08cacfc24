"""Random networks: bound as symbols and recorded on arrays they are the same numbers."""

import random
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd

UNARY = ("tanh", "sigmoid", "square", "negative", "relu", "softmax", "BlockGrad", "Flatten")
BINARY = ("elemwise_add", "elemwise_mul", "broadcast_sub", "broadcast_maximum")


def _network(draw: random.Random, namespace: Any, leaves: dict[str, Any]) -> list[Any]:
    """All values [4, 3] of a random network, which `namespace` makes of the leaves."""
    values, number = [leaves["x"], leaves["y"]], 0
    for _ in range(draw.randint(3, 8)):
        a, b = draw.choice(values), draw.choice(values)
        kind, number = draw.randrange(6), number + 1
        if kind == 0:
            weight, bias = leaves[f"w{number % 2}"], leaves["b"]
            values.append(namespace.FullyConnected(a, weight, bias, num_hidden=3))
        elif kind == 1:
            values.append(namespace.split(namespace.concat(a, b, dim=1), num_outputs=2, axis=1)[1])
        elif kind == 2:
            norm = [leaves[n] for n in ("gamma", "b", "mean", "var")]
            values.append(namespace.BatchNorm(a, *norm, fix_gamma=False))
        elif kind == 3:
            values.append(getattr(namespace, draw.choice(BINARY))(a, b))
        elif kind == 4:
            values.append((a * 0.5 - 1) / (b * b + 1))
        else:
            values.append(getattr(namespace, draw.choice(UNARY))(a))
    return values[2:]


@pytest.mark.parametrize("seed", range(12))
def test_random_symbols_are_those_of_arrays(seed: int) -> None:
    """Outputs, gradients and running statistics agree, with gradients of the outputs or ones."""
    shapes: dict[str, Any] = {"x": (4, 3), "y": (4, 3), "w0": (3, 3), "w1": (3, 3)}
    shapes |= dict.fromkeys(("b", "gamma", "mean", "var"), (3,))
    numbers = np.random.RandomState(seed)
    arrays = {n: mx.nd.array(numbers.uniform(0.2, 1.0, s)) for n, s in shapes.items()}
    aux = ("mean", "var")
    symbols = _network(random.Random(seed), mx.sym, {n: mx.sym.Variable(n) for n in shapes})
    net = mx.sym.Group(symbols)
    own = {n: arrays[n].copy() for n in net.list_inputs()}
    heads = [mx.nd.array(numbers.uniform(size=(4, 3))) for _ in symbols] if seed % 2 else None
    bound = {n: x for n, x in own.items() if n in net.list_arguments()}
    states = {n: x for n, x in own.items() if n in net.list_auxiliary_states()}
    grads = {n: mx.nd.zeros(x.shape) for n, x in bound.items()}
    executor = net.bind(mx.cpu(), bound, grads, "write", states)
    executor.forward(is_train=True)
    executor.backward(heads)

    for n, x in arrays.items():
        if n not in aux:
            x.attach_grad()
    with autograd.record():
        outputs = _network(random.Random(seed), mx.nd, arrays)
    autograd.backward(outputs, heads)
    for a, b in zip(executor.outputs, outputs, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)
    for n in bound:
        expected: Any = arrays[n].grad
        np.testing.assert_allclose(
            grads[n].asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-5, err_msg=n
        )
    for n, x in states.items():
        np.testing.assert_allclose(x.asnumpy(), arrays[n].asnumpy(), rtol=1e-5, err_msg=n)
