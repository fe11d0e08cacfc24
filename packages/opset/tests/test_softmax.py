"""Softmax and its logarithm."""

import numpy as np
import pytest
from numeric import Array, call, check_gradient, present, run

from byparts_graph_ir import Graph, Input, Node, ShapeError, TensorType
from byparts_opset import LogSoftmax, Softmax, log_softmax, softmax

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(3, 4))


def test_softmax_of_ones_is_even() -> None:
    """TF-OP-15: rows of four ones give 0.25 everywhere."""
    assert np.array_equal(call(softmax, np.ones((2, 4))), np.full((2, 4), 0.25))


def test_softmax_of_logarithms_gives_the_odds_back() -> None:
    """Odds 1 : 2 : 5 along axis 0, which sum to 8."""
    x = np.log(np.array([[1.0, 2, 5]]).T)

    y = call(lambda v: softmax(v, axis=0), x)

    np.testing.assert_allclose(y[:, 0], [1 / 8, 2 / 8, 5 / 8])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_n2_softmax_gradient(axis: int) -> None:
    """N2: y * (dy - sum(dy * y)), where NNVM had y - y * sum(dy * y)."""
    check_gradient(Softmax(axis), X, unranked=True)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_n3_log_softmax_gradient(axis: int) -> None:
    """N3: dy - softmax * sum(dy), where NNVM had the log-softmax in its place."""
    check_gradient(LogSoftmax(axis), X, unranked=True)


def test_n3_log_softmax_gradient_by_hand() -> None:
    """Logits 0, 0 and dy = (1, 0): (1, 0) - (1/2, 1/2) * 1."""
    x, dy = (Input(TensorType("f64", (2,))) for _ in range(2))
    node = Node(LogSoftmax(), (x,))
    (dx,) = node.op.gradient(node, dy)

    (found,) = run(Graph.of((x, dy), [present(dx)]), np.zeros(2), np.array([1.0, 0]))

    np.testing.assert_allclose(found, [0.5, -0.5])


@pytest.mark.parametrize(("f", "expected"), [(softmax, [0.5, 0, 0.5]), (log_softmax, -np.log(2.0))])
def test_a_row_with_minus_infinity_is_a_row_without_it(f: object, expected: Array) -> None:
    """nan comes only from rows that have no softmax: nothing but -inf."""
    inf = np.inf
    y = call(f, np.array([[1e4, -inf, 1e4], [-inf, -inf, -inf]]))

    np.testing.assert_allclose(y[0, [0, 2]], np.broadcast_to(expected, 3)[[0, 2]])
    assert y[0, 1] == (0 if f is softmax else -inf)
    assert np.isnan(y[1]).all()


def test_half_types_round_once() -> None:
    """f16 in, f16 out, equal to the f32 result rounded."""
    x = X.astype(np.float16)

    y = Softmax().evaluate(x)[0]

    assert np.array_equal(y, Softmax().evaluate(x.astype(np.float32))[0].astype(np.float16))


@pytest.mark.parametrize("op", [Softmax(1), LogSoftmax(-2)])
def test_decomposition_agrees(op: Softmax | LogSoftmax) -> None:
    """What a backend without a kernel runs."""
    x = Input(TensorType("f64", (3, 4)))

    np.testing.assert_allclose(_decomposed(op, x, X), op.evaluate(X)[0])


def test_the_axis_must_exist() -> None:
    """Said when the node is made."""
    x = Input(TensorType("f32", (2, 3)))

    with pytest.raises(ShapeError, match="softmax: axis 2 is out of range for rank 2"):
        softmax(x, axis=2)
    with pytest.raises(ShapeError, match="log_softmax: takes floats, got i32"):
        log_softmax(Input(TensorType("i32", (2,))))


def _decomposed(op: Softmax | LogSoftmax, x: Input, array: Array) -> Array:
    (y,) = op.decompose(x) or ()
    return run(Graph.of([x], [y]), array)[0]
