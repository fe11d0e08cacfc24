"""Dropout: the mask is a value."""

import numpy as np
import pytest
from numeric import call, check_gradient, present, run

from byparts_graph_ir import Graph, GraphError, Input, Node, ShapeError, TensorType, specialize
from byparts_opset import Bernoulli, Dropout, dropout, fill, next_counter

X = np.random.default_rng(8).normal(size=(50, 40)).astype(np.float32)


def test_a_quarter_is_dropped_and_the_rest_grows() -> None:
    """2000 elements at rate 0.25: 500 zeros within four deviations (77)."""
    y = call(lambda v: dropout(v, 1, 2, 0.25), X)

    kept = y != 0
    assert abs((~kept).sum() - 500) < 77
    np.testing.assert_allclose(y[kept], X[kept] / np.float32(0.75), rtol=1e-6)


def test_the_gradient_reads_the_same_mask() -> None:
    """Nothing is drawn again: dx is dy where y is kept, and one draw is in the graph."""
    x = Input(TensorType("f32", X.shape))
    y = dropout(x, 1, 2, 0.25)
    assert y.node is not None
    dx, none = y.node.op.gradient(y.node, x)
    graph = Graph.of([x], [y, present(dx)])

    ops = [n.op.name for n in graph.nodes]
    out, back = run(graph, X)
    assert ops.count("bernoulli") == 1 and none is None
    assert np.array_equal(out, back)  # dy was x


def test_gradient_and_broadcast_masks() -> None:
    """Whole channels: the mask has 1 where it is repeated."""
    dropped = np.array([True, False, True])[:, None]

    check_gradient(Dropout(0.4), X[:3, :4], dropped)


def test_whole_slices_are_dropped_by_a_mask_shape() -> None:
    """A mask of (50, 1) drops rows."""
    y = call(lambda v: dropout(v, 1, 2, 0.5, shape=(50, 1)), X)

    rows = (y == 0).mean(axis=1)
    assert set(rows.tolist()) == {0.0, 1.0}


def test_a_batch_of_unknown_size_draws_what_it_needs() -> None:
    """The mask is shaped like x; specialised, its shape is a number."""
    x = Input(TensorType("f32", (None, 40)))
    graph = Graph.of([x], [dropout(x, 1, 2, 0.25), next_counter(fill(7, "i64"), x)])

    static = specialize(graph, (TensorType("f32", (50, 40)),))

    assert np.array_equal(run(graph, X)[0], call(lambda v: dropout(v, 1, 2, 0.25), X))
    assert np.array_equal(run(static, X)[0], run(graph, X)[0])
    assert [int(g[1]) for g in (run(graph, X), run(static, X))] == [2007, 2007]
    assert Bernoulli(0.25, (50, 40)) in {n.op for n in static.nodes}


def test_the_rate_may_be_fed() -> None:
    """A 0-d value, as TF1 programs have it; 0 is no dropout."""
    rate = np.float32(0)

    assert np.array_equal(call(lambda v, r: dropout(v, 1, 2, r), X, rate), X)
    half = call(lambda v, r: dropout(v, 1, 2, r), X, np.float32(0.5))
    assert np.array_equal(half, call(lambda v: dropout(v, 1, 2, 0.5), X))


def test_what_is_no_rate_and_no_mask() -> None:
    """Each is named."""
    x = Input(TensorType("f32", (3,)))

    with pytest.raises(GraphError, match=r"dropout: the rate is 1.0, which is not in \[0, 1\)"):
        dropout(x, 1, 2, 1.0)
    with pytest.raises(ShapeError, match="dropout: dropped is a bool, got f32"):
        Node(Dropout(0.5), (x, x))
    with pytest.raises(ShapeError, match="rank 1 and 2"):
        Dropout(0.5)(x, Input(TensorType("bool", (4, 3))))
