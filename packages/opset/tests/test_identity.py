import ml_dtypes
import numpy as np
import pytest
from numeric import check_gradient, run

from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.identity import (
    Identity,
    Print,
    StopGradient,
    identity,
    print_value,
    stop_gradient,
)

X = Input(TensorType("f32", (2,)))


def test_identity_is_a_view_with_a_gradient() -> None:
    """No bytes move."""
    assert Identity().views(X.type) == ((0, 0, 0),)
    check_gradient(Identity(), np.ones(2), unranked=True)


def test_stop_gradient_stops_it() -> None:
    """The value passes, the gradient does not."""
    node = stop_gradient(X).node
    assert node is not None
    assert StopGradient().views(X.type) == ((0, 0, 0),)
    assert node.op.gradient(node, X) == (None,)


def test_prints_stay_when_nobody_reads_them(capsys: pytest.CaptureFixture[str]) -> None:
    """An effect lives; and what it gives is its input."""
    printed = print_value(X, "x is")
    graph = Graph.of((X,), [identity(X)], order=[printed])

    run(graph, np.array([1, 2], np.float32))

    assert capsys.readouterr().out == "x is [1. 2.]\n"
    assert Print("x is") in [n.op for n in graph.nodes]


def test_a_line_shows_short_dtypes_as_wider_ones() -> None:
    """NumPy shows bf16 and i4, which are strangers to it, in columns of its own."""
    x = np.array([0, 3, -2])

    assert Print("x is").line(x.astype(ml_dtypes.int4)) == "x is [ 0  3 -2]"
    assert Print().line(np.array([0.1], ml_dtypes.bfloat16)) == "[0.10009766]"
    assert Print().line(np.array([0.1], np.float16)) == "[0.1]"
