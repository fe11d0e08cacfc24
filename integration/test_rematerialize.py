"""Networks train to the same bits, whatever is computed again, by whatever strategy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Backend, Graph, Value
from byparts_kernels_numpy import make
from byparts_memplan import peak_bytes
from byparts_opset.dropout import Dropout
from byparts_recompute import BudgetError, Recomputation, recomputation, strategies
from byparts_runtime import Store, Variable, build
from memory.deep_chains import training_step, unrolled_lstm
from memory.deep_resnet import narrow_resnet
from memory.networks import External, training
from memory.networks_layers import Inputs, conv_bias, dense, pool

# Of what is alive at the worst step, results aside; or of the cost of a step.
LIMITS: dict[str, dict[str, float]] = {
    "a budget of 4/5": {"budget": 0.8},
    "a budget of 2/3": {"budget": 2 / 3},
    "some more work": {"max_extra_cost": 0.2},
}
STRATEGIES = [s for s in strategies() if s != "exact" or find_spec("ortools")]


def lenet() -> tuple[Graph, External]:
    """Convolutions, pooling, dense layers, and a dropout whose mask is drawn again."""
    net = Inputs(training=True)
    x = net.feed("images", 4, 1, 12, 12)
    for width in (4, 6):
        x = pool(ops.tanh(conv_bias(net, x, width, 3)))
    x = ops.dropout(ops.tanh(dense(net, ops.reshape(x, (4, -1)), 16)), 7, 0, 0.4)
    return training_step(net, dense(net, x, 10))


NETWORKS: dict[str, Callable[[], tuple[Graph, External]]] = {
    "lenet": lenet,
    "resnet": lambda: narrow_resnet(2, batch=4, size=8, width=4),
    "transformer": lambda: training("bert_base", 8, time=8, width=8, layers=1, words=11),
    "lstm": lambda: unrolled_lstm(3, batch=32, width=4),
}

CASES = [
    (name, strategy, limit)
    for name, strategy, limit in product(NETWORKS, STRATEGIES, LIMITS)
    if limit != "some more work" or name == "lenet" or strategy not in ("auto", "greedy")
]  # the others take seconds: one search within a budget after the other


@cache
def step(name: str) -> tuple[Graph, External]:
    """(feeds, weights) -> (loss, gradients, new weights)."""
    graph, weights = NETWORKS[name]()
    old = [graph.inputs[k] for k in sorted(weights)]
    new = [w - 0.1 * dw for w, dw in zip(old, graph.outputs[1:], strict=True)]
    return Graph.of(graph.inputs, (*graph.outputs, *new), order=(*graph.values, *new)), weights


def backend_of(name: str) -> Backend:
    if name == "numpy":
        return make()
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    from byparts_kernels_torch import make as make_torch

    return make_torch()


def trained(name: str, graph: Graph, backend: str) -> list[bytes]:
    """The bits of all that two steps fetch, and of the variables after them."""
    random, store = np.random.default_rng(0), Store()
    external = sorted(step(name)[1])
    inputs, held = step(name)[0].inputs, list[Variable]()
    for k in external:
        value = 0.5 * random.standard_normal(inputs[k].type.dims)
        held.append(store.create(f"v{k}", value.astype(np.float32)))
    read = dict(zip(graph.inputs[external[0] :], held, strict=True))
    program = build(graph, backends=(backend_of(backend),), variables=read, updates=held)
    feeds = [drawn(random, v) for v in inputs[: external[0]]]
    found = [y for _ in range(2) for y in program(*feeds)]
    return [y.tobytes() for y in (*found, *(v.read() for v in held))]


def drawn(random: np.random.Generator, v: Value) -> Any:
    if v.type.dtype == "i64":
        return random.integers(0, 5, v.type.dims)
    return random.standard_normal(v.type.dims).astype(np.float32)


plainly_trained = cache(lambda name, backend: trained(name, step(name)[0], backend))


@cache
def made(name: str, strategy: str, limit: str) -> Recomputation:
    """What is computed again; the best there is where no strategy gets within the budget."""
    graph, external = step(name)
    asked: dict[str, Any] = dict(LIMITS[limit])
    if "budget" in asked:
        results = sum(v.type.size_bytes for v in graph.outputs)
        more = peak_bytes(graph, external) - results
        asked = {"budget_bytes": int(results + asked["budget"] * more)}
    try:
        return recomputation(graph, **asked, external=external, strategy=strategy, effort=0.0)
    except BudgetError as error:
        return error.recomputation


@pytest.mark.long
@pytest.mark.parametrize(("name", "strategy", "limit"), CASES)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_training_gives_the_same_bits(backend: str, name: str, strategy: str, limit: str) -> None:
    """Loss, gradients and new weights of two steps; and the peak is as promised."""
    expected = plainly_trained(name, backend)
    found = made(name, strategy, limit)

    assert trained(name, found.graph(), backend) == expected
    assert peak_bytes(found.graph(), step(name)[1]) <= found.peak_bytes


@pytest.mark.parametrize("name", NETWORKS)
def test_something_is_computed_again_in_each_network(name: str) -> None:
    """Else the test above would say nothing; draws are made again, from the same counters."""
    found = made(name, "auto", "a budget of 2/3")
    again = {type(found.steps.nodes[s].op) for s in found.sequence if found.sequence.count(s) > 1}

    assert found.peak_bytes < found.plain_peak_bytes
    assert again
    assert Dropout in again or name != "lenet"
