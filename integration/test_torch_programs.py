"""Whole programs on torch: what the graph means, and what NumPy computes.  Needs torch."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers

from byparts_conformance.compare import difference
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Graph
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("byparts_kernels_torch", reason="needs byparts-kernels-torch")

workload_graphs: Any = pytest.importorskip("workload_graphs")
live_bytes: Any = pytest.importorskip("live_bytes")
table: Any = pytest.importorskip("byparts_kernels_torch.table")
backend: Any = pytest.importorskip("byparts_kernels_torch").make()


@settings(max_examples=50)
@given(graphs(effects=False), integers(0, 9))
def test_a_program_computes_what_the_graph_means(graph: Graph, seed: int) -> None:
    """Through every pass, joined, in the planned arena, with shared scratch, twice."""
    arrays = arguments(graph, seed)
    program = build(graph, backends=("torch",))
    wants = evaluate(graph, *arrays)
    for _ in range(2):
        for got, want, v in zip(program(*arrays), wants, graph.outputs, strict=True):
            assert not (wrong := difference(np.asarray(got), want, v.type)), f"{wrong}\n{graph}"


def normal(*shape: int, scale: float = 1.0) -> Any:
    size = int(np.prod(shape))
    rng = np.random.default_rng(size)
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def labels(count: int) -> Any:
    return np.eye(10, dtype=np.float32)[np.arange(count) % 10]


def mlp() -> SimpleNamespace:
    widths = (784, 16, 12, 10)
    pairs = enumerate(pairwise(widths))
    weights = {f"W{i}": normal(m, n, scale=0.1) for i, (m, n) in pairs}
    biases = {f"b{i}": normal(n, scale=0.1) for i, n in enumerate(widths[1:])}
    hp = {"opt": "adam", "lr": 1e-3}
    return SimpleNamespace(
        inputs={"x": normal(8, 784), "y": labels(8)}, params={**weights, **biases}, hp=hp
    )


def lenet() -> SimpleNamespace:
    params = {
        **{"c1": normal(20, 1, 5, 5, scale=0.2), "cb1": normal(20, scale=0.1)},
        **{"c2": normal(50, 20, 5, 5, scale=0.05), "cb2": normal(50, scale=0.1)},
        **{"W1": normal(800, 30, scale=0.05), "b1": normal(30, scale=0.1)},
        **{"W2": normal(30, 10, scale=0.1), "b2": normal(10, scale=0.1)},
    }
    return SimpleNamespace(
        inputs={"x": normal(6, 1, 28, 28), "y": labels(6)},
        params=params,
        hp={"opt": "sgd", "lr": 0.05},
    )


def lstm() -> SimpleNamespace:
    params = {"Wx": normal(6, 24, scale=0.3), "Wh": normal(6, 24, scale=0.2), "b": normal(24)}
    return SimpleNamespace(
        inputs={"x": normal(5, 3, 6), "t": normal(5, 3, 6)},
        params=params,
        hp={"opt": "mom", "lr": 0.1, "mom": 0.9, "T": 5, "H": 6},
    )


def gpt() -> SimpleNamespace:
    params = {"lnfg": normal(16), "lnfb": normal(16)}
    for layer in range(2):
        for name, shape in {
            **{"ln1g": (16,), "ln1b": (16,), "wqkv": (16, 48), "bqkv": (48,), "wo": (16, 16)},
            **{"bo": (16,), "ln2g": (16,), "ln2b": (16,), "w1": (16, 64), "b1": (64,)},
            **{"w2": (64, 16), "b2": (16,)},
        }.items():
            params[f"l{layer}.{name}"] = normal(*shape, scale=0.3)
    return SimpleNamespace(
        inputs={"x": normal(2, 5, 16), "t": normal(2, 5, 16)},
        params=params,
        hp={"opt": "mom", "lr": 0.1, "mom": 0.9, "L": 2, "heads": 4, "eps": 1e-5},
    )


NETWORKS = [("w2", mlp()), ("w3", lenet()), ("w5", lstm()), ("w6", gpt())]


@pytest.mark.parametrize(("workload", "spec"), NETWORKS)
def test_training_gives_the_weights_that_numpy_gives(workload: str, spec: Any) -> None:
    """Three steps of each kind of network and optimizer, updates in place."""
    ours, theirs = (workload_graphs.build(workload, spec, (b,)) for b in ("torch", "numpy"))

    losses = [(ours.step(), theirs.step()) for _ in range(3)]

    assert losses == [(pytest.approx(b, rel=1e-4), b) for _, b in losses]
    for name, want in theirs.params().items():
        np.testing.assert_allclose(ours.params()[name], want, rtol=1e-3, atol=2e-5, err_msg=name)
    assert "updated in place" in ours.program.explain()


@pytest.mark.parametrize(("workload", "spec"), NETWORKS)
def test_a_step_takes_no_memory_beside_its_plan(workload: str, spec: Any) -> None:
    """But for what torch returns where it has no `out=`, and some numbers when it is built."""
    made: list[Any] = []
    kept, _ = live_bytes.requested(
        lambda: made.append(workload_graphs.build(workload, spec, ("torch",)))
    )
    made[0].step()
    steps = made[0].run._machine.cycle().all_steps
    with backend.around():
        taken = {type(s.node.op) for s in steps if any(live_bytes.requests(s.run))}

    assert kept < 1024
    assert taken <= set(table.allocates)
