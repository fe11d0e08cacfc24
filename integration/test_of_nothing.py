"""Axes of no elements: one meaning on every backend, and errors that name the op of the user."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Backend, Graph, Input, ShapeError, TensorType, Value
from byparts_graph_ir.parts.hub import parts
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, build

BACKENDS = [
    *("numpy", "native", "cuda"),
    pytest.param("torch", marks=pytest.mark.skipif(not find_spec("torch"), reason="needs torch")),
]
VALUES = ops.ones((1, 0, 2))
ROWS: dict[str, Callable[[Value], Value]] = {
    "softmax": ops.softmax,
    "log_softmax": lambda x: ops.log_softmax(x, 1),
    "softmax_gradient": lambda x: ops.softmax_gradient(x, x),
    "cross_entropy": lambda x: ops.softmax_cross_entropy(x, x),
    "logsumexp": lambda x: ops.logsumexp(x, 1),
    "in a branch": lambda x: ops.cond(ops.sum(x) < 1, ops.softmax, ops.tanh, (x,))[0],
    "mean": lambda x: ops.mean(x, 1),
    "variance": lambda x: ops.var(x, 1),
    "sum": lambda x: ops.sum(x, 1),
    "prod": lambda x: ops.prod(x, 1),
    "all": lambda x: ops.all(ops.greater(x, 0.0), 1),
    "cumsum": lambda x: ops.cumsum(x, 1),
    "norm": lambda x: ops.norm(x, 1),
    "max of no columns": lambda x: ops.max(x, 0),
    "argmin of no columns": lambda x: ops.argmin(x, 0),
    "top_k": lambda x: ops.top_k(x, 0)[0],
    "attention": lambda x: ops.attention(ops.ones((1, 3, 4)), ops.reshape(x, (1, 0, 4)), VALUES),
    "gradient": lambda x: gradients(ops.sum(ops.softmax(x)), [x])[0],
}


def on(name: str, monkeypatch: pytest.MonkeyPatch) -> Backend:
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    backend: Backend = parts.backend(name)
    return backend


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("case", ROWS)
@pytest.mark.parametrize("name", BACKENDS)
def test_rows_of_nothing_mean_what_evaluate_says(
    name: str, case: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three rows of no elements."""
    x = Input(TensorType("f32", (3, 0)), name="x")
    graph = Graph.of((x,), (ROWS[case](x if case == "attention" else ops.cast(x, dtype)),))
    given = np.zeros((3, 0), np.float32)

    (y,) = build(graph, backends=(on(name, monkeypatch),))(given)
    np.testing.assert_array_equal(np.asarray(y), evaluate(graph, given)[0])


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3)])
@pytest.mark.parametrize("function", [ops.max, ops.min, ops.argmax, ops.argmin])
@pytest.mark.parametrize("name", BACKENDS)
def test_an_extreme_of_nothing_is_refused_where_one_is_asked_for(
    name: str,
    function: Callable[..., Value],
    shape: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the words of the op; of no rows there are no extremes, and that is no error."""
    x = Input(TensorType("f32", shape), name="x")
    if shape == (3, 0):
        with pytest.raises(ShapeError, match=f"^{function.__name__}: there is none of no elements"):
            function(x, 1)
        return
    program = build(Graph.of((x,), (function(x, 1),)), backends=(on(name, monkeypatch),))

    if shape == (0, 0):
        assert np.asarray(program(np.zeros(shape, np.float32))[0]).shape == (0,)


@pytest.mark.parametrize("function", [ops.softmax, ops.log_softmax])
@pytest.mark.parametrize("name", BACKENDS)
def test_a_size_of_0_may_be_known_only_at_the_run(
    name: str, function: Callable[[Value], Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unknown axis of a feed."""
    x = Input(TensorType("f32", (2, None)), name="x")
    run = Executor(backends=(on(name, monkeypatch),))

    (y,) = run(Graph.of((x,), (function(x),)), np.zeros((2, 0), np.float32))
    assert np.asarray(y).shape == (2, 0)
