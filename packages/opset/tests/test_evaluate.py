"""The interpreter: what a graph means, and what it lets go."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Input, Op, TensorType, Types, Value
from byparts_opset.evaluate import evaluate

X = Input(TensorType("f32", ("n", 3)), None, "x")
AT = np.ones((2, 3), np.float32)


def test_outputs_in_order() -> None:
    """An input may be an output, and an output may be given twice."""
    y = X * 2

    a, b, c = evaluate(Graph.of([X], [y, X, y]), AT)

    assert a is c
    np.testing.assert_array_equal(a, 2 * AT)
    np.testing.assert_array_equal(b, AT)


def test_inputs_have_to_fit() -> None:
    """In number, dtype and shape."""
    graph = Graph.of([X], [X * 2])

    with pytest.raises(GraphError, match="2 arrays for 1 inputs"):
        evaluate(graph, AT, AT)
    with pytest.raises(GraphError, match=r"array 0 is f64\[2,3\], and the input is f32\[n,3\]"):
        evaluate(graph, np.ones((2, 3)))
    with pytest.raises(GraphError, match=r"array 0 is f32\[2,4\]"):
        evaluate(graph, np.ones((2, 4), np.float32))


class Watch(Op):
    """y = x, and fails if the array two steps before is still held."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        gc.collect()
        assert sum(r() is not None for r in _seen) <= 1, "an array outlived its last use"
        y = x.copy()
        _seen.append(weakref.ref(y))
        return (y,)


_seen: list[weakref.ref[np.ndarray]] = []


@pytest.mark.long
def test_values_are_let_go_after_their_last_use() -> None:
    """A chain holds one array beside the one it makes."""
    _seen.clear()
    y: Value = X
    for _ in range(5):
        y = Watch()(y)

    evaluate(Graph.of([X], [y]), AT)

    assert len(_seen) == 5  # the assert in `Watch.evaluate` ran in each of the nodes


class Broken(Op):
    """Fails."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        raise RuntimeError("no")


def test_an_error_says_where() -> None:
    """The op and the user's line are a note."""
    with pytest.raises(RuntimeError, match="no") as caught:
        evaluate(Graph.of([X], [Broken()(ops.exp(X))]), AT)
    notes = "\n".join(getattr(caught.value, "__notes__", [])) or str(caught.value)
    assert "evaluating broken, created at" in notes
    assert "test_evaluate.py" in notes
