"""Products and their activations: which are one region, what it computes, in how many launches."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from emulation import assert_emulated, compiled, samples

import byparts_opset as ops
from byparts_graph_ir import Fused, Graph, Input, TensorType, Value
from byparts_kernels_cuda.epilogues import epilogue_launches, epilogues
from byparts_kernels_cuda.libraries import cublas

Body = Callable[[Value, Value, Value], Value]
LAYER: Body = lambda x, w, b: ops.relu(ops.AddMatmul()(b, x, w))  # noqa: E731  # a line each


def _graph(m: int, k: int, n: int, body: Body, dtype: str = "f32") -> Graph:
    """Of x, w, b."""
    shapes = ((m, k), (k, n), (n,))
    x, w, b = (Input(TensorType(dtype, shape)) for shape in shapes)
    return Graph.of([x, w, b], [body(x, w, b)])


def _names(graph: Graph) -> list[str]:
    return [node.op.name for node in epilogues(graph).nodes]


@pytest.fixture(autouse=True)
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cublas, "library", lambda: None)


def test_layer_after_layer_is_a_region_each() -> None:
    def two(x: Value, w: Value, b: Value) -> Value:
        return ops.tanh(LAYER(x, w, b) @ w)

    assert _names(_graph(4, 5, 5, two)) == ["fused", "fused"]


def _twice(x: Value, w: Value, b: Value) -> Value:
    y = x @ w
    return ops.relu(y) + y


@pytest.mark.parametrize(
    "body",
    [
        _twice,
        lambda x, w, b: ops.relu(x @ w + b),  # as it is before the pass that adds to products
        lambda x, w, b: ops.cast(x @ w, "f64"),
        lambda x, w, b: ops.softmax(x @ w),
    ],
)
def test_other_readers_stay(body: Body) -> None:
    assert "fused" not in _names(_graph(4, 5, 6, body))


def test_a_library_computes_products_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cublas, "library", object)

    assert "fused" not in _names(_graph(4, 5, 6, LAYER))


@pytest.mark.parametrize(
    ("m", "k", "n", "dtype", "launches"),
    [(1, 40, 9, "f32", 1), (20, 9, 33, "f32", 1), (24, 1100, 20, "f32", 2), (20, 40, 24, "f16", 1)],
)
@compiled
def test_the_activation_is_computed_of_finished_sums(
    m: int, k: int, n: int, dtype: str, launches: int
) -> None:
    """Also where blocks share a sum, and of halves before they are rounded."""
    (node,) = epilogues(_graph(m, k, n, LAYER, dtype)).nodes
    assert isinstance(node.op, Fused)
    made = epilogue_launches(node.op.graph)

    assert len(made.kernels) == launches
    types = [v.type for v in node.inputs]
    assert_emulated(node.op, made, samples(types), 2 if dtype == "f16" else 4)
