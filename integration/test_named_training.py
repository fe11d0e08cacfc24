"""Variables, gradients and draws of named dimensions: training on any batch, decoding of tokens."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, specialize
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, Variable, build
from named_graphs import ROWS, numbers


def test_training_on_batches_of_any_size() -> None:
    """Gradient descent on variables: the same losses as with a program for each size."""
    w = Input(TensorType("f32", (4, 1)), name="w")
    loss = ops.mean(ops.square(ROWS @ w - 1.0))
    (dw,) = gradients(loss, [w])
    graph = Graph.of([ROWS, w], [loss, w - 0.1 * dw])
    named, single = Variable("w", numbers(4, 1)), Variable("w", numbers(4, 1))
    program = build(graph, variables=[named], updates=[named])

    for n in (8, 8, 3, 1, 8):
        at_size = specialize(graph, [TensorType("f32", (n, 4)), w.type])
        alone = build(at_size, variables=[single], updates=[single])
        np.testing.assert_allclose(program(numbers(n, 4)), alone(numbers(n, 4)), rtol=1e-6)
    np.testing.assert_allclose(named.read(), single.read(), rtol=1e-6)


LOSSES = {
    "mean of squares": lambda y: ops.mean((y - 0.5) ** 2),
    "sum of squares": lambda y: ops.sum(y * y),
    "softmax over rows": lambda y: ops.sum(ops.softmax(y, axis=0) ** 2),
    "mean of columns": lambda y: ops.sum(ops.mean(y, (1,)) ** 3),
    "reshaped": lambda y: ops.mean(ops.reshape(y, (-1,)) ** 2),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_a_step_of_training_is_for_every_batch(loss: str, backends: tuple[str, ...]) -> None:
    """Gradients read shapes and counts of what has names ("broadcast as that", "how many")."""
    w = Input(TensorType("f32", (4, 3)), name="w")
    value = LOSSES[loss](ops.relu(ROWS @ w) + ROWS[:, :1])
    (dw,) = gradients(value, [w])
    graph = Graph.of([ROWS, w], [value, w - dw * 0.1])
    weight, wanted = Variable("w", numbers(4, 3)), numbers(4, 3)
    program = build(graph, variables=[weight], updates=[weight], backends=backends)

    assert program.why == "compiled once for every size of f32[n,4]"
    for n in (3, 1, 7, 64, 3):
        (got,) = program(numbers(n, 4))
        at_n = specialize(graph, [TensorType("f32", (n, 4)), w.type])
        total, wanted = evaluate(at_n, numbers(n, 4), wanted)
        np.testing.assert_allclose(got, total, rtol=1e-5)
        np.testing.assert_allclose(weight.read(), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_draws_are_those_of_one_size(backends: tuple[str, ...]) -> None:
    """To the bit: dropout in the shape of an input, and numbers of a shape with a name."""
    counter = Input(TensorType("i64", ()), name="counter")
    normal = ops.random_normal(3, counter, ("n", 4))
    dropped = ops.dropout(ROWS, 7, counter, 0.5)
    graph = Graph.of([ROWS, counter], [dropped, normal * ROWS])
    program = build(graph, backends=backends)

    assert program.why == "compiled once for every size of f32[n,4], i64[]"
    for n in (3, 0, 1, 65):
        alone = build(
            specialize(graph, [TensorType("f32", (n, 4)), counter.type]), backends=backends
        )
        for k in (0, 5):
            feeds = numbers(n, 4), np.int64(k)
            for got, want in zip(program(*feeds), alone(*feeds), strict=True):
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_tokens_are_decoded_by_one_program(backends: tuple[str, ...]) -> None:
    """Attention over the first rows of a cache, how many is a value; from Python, and in a loop."""
    rows, width, count = 16, 4, 12
    token = Input(TensorType("f32", (1, width)), name="token")
    n = Input(TensorType("i64", ()), name="n")
    cache = Input(TensorType("f32", (rows, width)), name="cache")

    def step(x: Value, n: Value, cache: Value) -> tuple[Value, Value, Value]:
        cache = ops.scatter(cache, ops.reshape(n, (1,)), x)
        seen = ops.arange(0, rows, dtype="i64") <= n
        scores = ops.where(seen, x @ ops.transpose(cache, (1, 0)), ops.fill(-np.inf))
        return ops.tanh(ops.softmax(scores, -1) @ cache + x), n + 1, cache

    first, written = numbers(1, width), np.zeros((rows, width), np.float32)
    y, _, new = step(token, n, cache)
    graph, variable = Graph.of([token, n, cache], [y, new]), Variable("cache", written)
    run, x, past = Executor(backends=backends), first, np.empty((0, width), np.float32)
    for i in range(count):
        past = np.concatenate([past, x])
        weights = np.exp(x @ past.T)
        wanted = np.tanh(weights @ past / weights.sum() + x)
        (x,) = run(graph, x, np.int64(i), variables=[variable], updates=[variable])
        np.testing.assert_allclose(x, wanted, rtol=1e-5)
    assert run.statistics.misses == 1

    whole = ops.while_loop(lambda x, n, cache: n < count, step, (token, ops.fill(0, "i64"), cache))
    looped = build(Graph.of([token, cache], [whole[0], whole[2]]), backends=backends)
    last, filled = looped(first, written)
    np.testing.assert_allclose(last, x, rtol=1e-4)
    np.testing.assert_allclose(filled, variable.read(), rtol=1e-4)
