"""A graph repeated along an axis."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, ShapeError, TensorType, Value
from byparts_opset import Scan
from byparts_opset.evaluate import evaluate


def f64(*shape: int | str | None) -> TensorType:
    return TensorType("f64", shape)


def step(s: Value, x: Value, w: Value) -> tuple[Value, Value]:
    new = s * w + x
    return new, new - x


def program(n: int, *, reverse: bool = False) -> Graph:
    s, xs, w = Input(f64(2)), Input(f64(n, 2)), Input(f64(2))
    return Graph.of((s, xs, w), ops.scan(step, (s,), (xs,), (w,), reverse=reverse))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_as_a_loop_in_python(n: int, reverse: bool) -> None:
    """Rows stand where their slices do; no rows are an empty stack."""
    rng = np.random.default_rng(n)
    s, xs, w = rng.normal(size=2), rng.normal(size=(n, 2)), rng.normal(size=2)
    state, rows = s, np.zeros((n, 2))
    for i in range(n)[:: -1 if reverse else 1]:
        state = state * w + xs[i]
        rows[i] = state - xs[i]

    last, stacked = evaluate(program(n, reverse=reverse), s, xs, w)

    np.testing.assert_array_equal(last, state)
    np.testing.assert_array_equal(stacked, rows)


def test_without_sequences_a_length_is_said() -> None:
    """And agrees with the sequences where there are some."""
    s, xs = Input(f64()), Input(f64(4))
    graph = Graph.of((s,), ops.scan(lambda s: (s + 1, s), (s,), length=3))

    assert evaluate(graph, np.float64(2))[1].tolist() == [2, 3, 4]
    with pytest.raises(ShapeError, match=r"there is no sequence to scan; give length="):
        ops.scan(lambda s: s + 1, (s,))
    with pytest.raises(ShapeError, match=r"sequence 0 is f64\[4\], and there are 3 rounds"):
        ops.scan(lambda s, x: s + x, (s,), (xs,), length=3)


def test_what_does_not_fit_is_refused() -> None:
    """With the types."""
    s, xs = Input(f64()), Input(f64(4))
    with pytest.raises(ShapeError, match=r"sequence 1 is f64\[3\], and there are 4 rounds"):
        ops.scan(lambda s, x, y: s + x + y, (s,), (xs, Input(f64(3))))
    with pytest.raises(ShapeError, match=r"a sequence is f64\[\], and has no axis"):
        ops.scan(lambda s, x: s + x, (s,), (s,))
    with pytest.raises(ShapeError, match=r"state 0 is f64\[\], and the body makes f64\[1\] of it"):
        ops.scan(lambda s, x: ops.reshape(s + x, (1,)), (s,), (xs,))
    with pytest.raises(ShapeError, match=r"negative count"):
        Scan(program(1).nodes[0].op.body, -1, 1)  # type: ignore[attr-defined]
    with pytest.raises(ShapeError, match=r"1 states and 1 sequences, got 1 inputs"):
        program(1).nodes[0].op(s)


def test_an_error_says_in_which_round() -> None:
    """Counted from 1, in the order in which they run."""
    x, at = Input(f64(3)), Input(TensorType("i32", (9,)))
    rows = ops.scan(lambda i, x: ops.gather(x, i), (), (at,), (x,))

    with pytest.raises(Exception, match="index") as caught:
        evaluate(Graph.of((x, at), rows), np.zeros(3), np.array([0, 0, 0, 0, 0, 0, 8, 0, 0], "i4"))

    assert "in body of scan, round 7" in caught.value.__notes__  # type: ignore[attr-defined]


def test_the_length_may_have_a_name() -> None:
    """Then so many rows are stacked."""
    s, xs = Input(f64(2)), Input(f64("t", 2))
    last, rows = ops.scan(lambda s, x: (s + x, s), (s,), (xs,))

    assert (last.type, rows.type) == (f64(2), f64("t", 2))
