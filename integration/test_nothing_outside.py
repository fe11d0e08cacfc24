"""Training on NumPy takes no memory beside its plan: neither when it is built, nor when it runs.

NumPy tells `tracemalloc` of all data of arrays, and of the buffers of its loops: three at most, of
8192 elements each, for strided images (`byparts_kernels_numpy.table.allocates`).
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_runtime import Variable, build

BATCH = 32
BUFFERS_BYTES = 3 * 8192 * 4
SMALL_BYTES = 20_000  # what Python makes during a step
NUMBERS_BYTES = 500  # 0-d arrays


def f32(name: str, *dims: int) -> Value:
    return Input(TensorType("f32", dims), None, name)


def dense(x: Value, labels: Value) -> tuple[list[Value], Value]:
    """gelu(x w + b) v + c."""
    w, b, v, c = f32("w", 784, 256), f32("b", 256), f32("v", 256, 10), f32("c", 10)
    hidden = ops.gelu(ops.matmul(ops.reshape(x, (BATCH, 784)), w) + b)
    return [w, b, v, c], loss_of(ops.matmul(hidden, v) + c, labels)


def convolutional(x: Value, labels: Value) -> tuple[list[Value], Value]:
    """LeNet, with padding and batch normalisation."""
    w1, w2, w3 = f32("w1", 16, 1, 5, 5), f32("w2", 32, 16, 3, 3), f32("w3", 1568, 10)
    gamma, beta = f32("gamma", 16), f32("beta", 16)
    y = ops.conv2d(ops.reshape(x, (BATCH, 1, 28, 28)), w1, padding="SAME")
    y, _, _ = ops.batch_norm(y, gamma, beta)
    y = ops.max_pool(ops.relu(y), (2, 2), (2, 2))
    y = ops.max_pool(ops.relu(ops.conv2d(y, w2, padding="SAME")), (2, 2), (2, 2))
    logits = ops.matmul(ops.reshape(y, (BATCH, 1568)), w3)
    return [w1, w2, w3, gamma, beta], loss_of(logits, labels)


def loss_of(logits: Value, labels: Value) -> Value:
    return ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))


def training(network: Callable[..., tuple[list[Value], Value]]) -> Any:
    """A step of Adam, and its variables."""
    x, labels = f32("x", BATCH, 28, 28), Input(TensorType("i64", (BATCH,)), None, "labels")
    rate, number = f32("rate"), f32("number")
    weights, loss = network(x, labels)
    slots = [[f32(f"{v.name}_{k}", *v.type.dims) for v in weights] for k in "mv"]  # type: ignore[attr-defined]
    slopes = gradients(loss, tuple(weights))
    update = ops.Adam(len(weights))
    new = update.outputs_of(*weights, *slots[0], *slots[1], *slopes, rate, number)
    old = (*weights, *slots[0], *slots[1])
    graph = Graph.of((x, labels, rate, number, *old), (loss, *new))
    values = [drawn(v.type.dims) for v in weights] + [
        np.zeros(v.type.dims, "f4") for v in weights * 2
    ]
    variables = tuple(Variable(v.name, x) for v, x in zip(old, values, strict=True))  # type: ignore[attr-defined]
    return graph, variables


def drawn(dims: Sequence[int]) -> Any:
    return np.random.default_rng(0).normal(0, 0.1, dims).astype(np.float32)


def kept_bytes(work: Callable[[], object]) -> tuple[int, Any]:
    """The data of NumPy that stays, and what `work` gave."""
    data = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    tracemalloc.start()
    try:
        made = work()
        traces = tracemalloc.take_snapshot().filter_traces([data]).traces
        return sum(trace.size for trace in traces), made
    finally:
        tracemalloc.stop()


def peak_bytes(work: Callable[[], object]) -> int:
    """The most that is held meanwhile, of all kinds."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("network", [dense, convolutional])
def test_a_training_step_takes_nothing_outside_its_plan(network: Callable[..., Any]) -> None:
    """Built, it keeps no data of NumPy; run, it takes the buffers of NumPy's loops."""
    graph, variables = training(network)
    options: dict[str, Any] = {"variables": variables, "updates": variables}
    build(graph, backends=("numpy",), **options)  # imports, and fills caches
    kept, step = kept_bytes(lambda: build(graph, backends=("numpy",), **options))
    x, labels = drawn((BATCH, 28, 28)), np.arange(BATCH) % 10
    given = (x, labels, np.array(0.01, np.float32), np.array(1, np.float32))
    first, second = step(*given)[0], step(*given)[0]

    assert kept < NUMBERS_BYTES
    assert peak_bytes(lambda: step(*given)) < BUFFERS_BYTES + SMALL_BYTES
    assert second < first
