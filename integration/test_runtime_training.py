"""Programs of real parts: opset, autodiff, optimize, memplan, NumPy kernels, run together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Backend, Graph, Input, Table, TensorType, Value, verify
from byparts_kernels_numpy import make
from byparts_memplan import check_plan, plan
from byparts_optimize import fold, legalize, merge, simplify
from byparts_runtime import Executor, Store, Variable, build
from byparts_runtime.arrays.access import view

OPTIONS: dict[str, Any] = {
    "passes": (fold, simplify, merge),
    "legalize": legalize,
    "planner": plan,
}


def evaluating() -> Backend:
    """Every op by its meaning: the oracle as a backend."""
    functions: Table[Any] = Table("function")
    for op in ops.OPS.values():
        functions.on(op)(lambda op, *arrays: op.evaluate(*arrays))
    return Backend("evaluate", view, functions=functions)


def f64(*shape: Any) -> TensorType:
    """In double precision, so that two right answers differ by 1e-12 and not by rounding."""
    return TensorType("f64", shape)


class Network:
    """tanh -> softmax cross entropy, with momentum: weights w, b, v, c; velocities."""

    def __init__(self, batch: int | str) -> None:
        self.x, self.y = Input(f64(batch, 6), None, "x"), Input(f64(batch, 4), None, "y")
        shapes = {"w": (6, 5), "b": (5,), "v": (5, 4), "c": (4,)}
        self.weights = [Input(f64(*shape), None, name) for name, shape in shapes.items()]
        self.velocities = [Input(v.type, None, f"m_{v.name}") for v in self.weights]
        w, b, v, c = self.weights
        hidden = ops.tanh(ops.matmul(self.x, w) + b)
        logits = ops.matmul(hidden, v) + c
        self.loss = -ops.mean(ops.sum(ops.log_softmax(logits) * self.y, axis=(1,)))

    def step(self, rate: float = 0.5) -> Graph:
        """(x, y, weights, velocities) -> (loss, new weights, new velocities)."""
        slopes = gradients([self.loss], self.weights)
        moved = [m * 0.9 + g for m, g in zip(self.velocities, slopes, strict=True)]
        new = [w - m * rate for w, m in zip(self.weights, moved, strict=True)]
        inputs = [self.x, self.y, *self.weights, *self.velocities]
        return Graph.of(inputs, [self.loss, *new, *moved])


def variables_of(network: Network) -> tuple[Variable, ...]:
    rng, store = np.random.default_rng(0), Store()
    made = []
    for v in (*network.weights, *network.velocities):
        scale = 0.0 if v.name.startswith("m_") else 0.5
        value = (scale * rng.standard_normal(v.type.dims)).astype(np.float64)
        made.append(store.create(v.name, value))
    return tuple(made)


def batches(count: int, size: int = 8) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((count, size, 6)).astype(np.float64)
    y = np.eye(4, dtype=np.float64)[rng.integers(0, 4, (count, size))]
    return list(zip(x, y, strict=True))


@pytest.mark.parametrize("commit", ["auto", "copy"])
def test_training_follows_the_meaning_of_the_ops(commit: Any) -> None:
    """Twenty steps, planned and optimised, against the same graph by `evaluate`, nothing shared."""
    network = Network(8)
    ours, theirs = variables_of(network), variables_of(network)
    fast = build(
        network.step(),
        backends=(make(), evaluating()),
        variables=ours,
        updates=ours,
        commit=commit,
        **OPTIONS,
    )
    slow = build(
        network.step(),
        backends=(evaluating(),),
        variables=theirs,
        updates=theirs,
        passes=(),
        planner=None,
        legalize=None,
    )

    losses = np.array([(fast(x, y)[0], slow(x, y)[0]) for x, y in batches(20)])

    np.testing.assert_allclose(losses[:, 0], losses[:, 1], rtol=1e-10)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.read(), b.read(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("commit", ["auto", "copy"])
def test_the_plan_of_a_training_step_is_valid(commit: Any) -> None:
    """memplan's own oracle on the graph that runs; and sharing saves bytes."""
    network = Network(8)
    variables = variables_of(network)
    program = build(
        network.step(),
        backends=(make(), evaluating()),
        variables=variables,
        updates=variables,
        commit=commit,
        **OPTIONS,
    )

    verify(program.graph)
    check_plan(program.graph, program.plan, kernels=program.kernels)  # type: ignore[arg-type]
    assert program.plan.arena_bytes < program.plan.naive_bytes  # type: ignore[attr-defined]
    assert program.plan.arena_bytes >= program.plan.lower_bound_bytes  # type: ignore[attr-defined]
    assert "bound" in program.explain()


def test_updates_by_gradients_are_simultaneous() -> None:
    """T1, as a user writes it: loss = W0 W1, one step of 0.1 gives 1.7 and 2.8."""
    w0, w1 = (Input(f64(), None, name) for name in ("w0", "w1"))
    slopes = gradients([w0 * w1], [w0, w1])
    store = Store()
    variables = tuple(store.create(n, np.float64(v)) for n, v in (("w0", 2), ("w1", 3)))
    new: list[Value] = [w - g * 0.1 for w, g in zip((w0, w1), slopes, strict=True)]
    graph = Graph.of([w0, w1], new)
    build(graph, backends=(make(),), variables=variables, updates=variables, **OPTIONS)()

    assert [round(float(v.read()), 6) for v in variables] == [1.7, 2.8]


def test_an_executor_fits_a_program_to_each_batch() -> None:
    """One graph of unknown batch size; T7: the last, smaller batch does not evict the others."""
    network = Network("n")
    variables = variables_of(network)
    executor = Executor(backends=(make(), evaluating()), **OPTIONS)
    graph = network.step()
    full, rest = batches(2)[0], batches(1, size=3)[0]

    for x, y in (full, rest, full, rest):
        executor(graph, x, y, variables=variables, updates=variables)

    assert (executor.statistics.misses, executor.statistics.hits) == (2, 2)


def test_bound_training_reads_the_callers_batches() -> None:
    """The hot loop: refill two arrays, call."""
    network = Network(8)
    ours, theirs = variables_of(network), variables_of(network)
    options = {"backends": (make(), evaluating()), **OPTIONS}
    bound_program = build(network.step(), variables=ours, updates=ours, **options)
    program = build(network.step(), variables=theirs, updates=theirs, **options)
    x, y = (a.copy() for a in batches(1)[0])
    bound = bound_program.bind(x, y)

    for a, b in batches(5):
        x[:], y[:] = a, b
        assert bound()[0] == program(a, b)[0]
