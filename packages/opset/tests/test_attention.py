"""Attention and its gradient."""

import numpy as np
import pytest
from numeric import Array, check_gradient, present, run

from byparts_graph_ir import Graph, Input, Op, ShapeError, TensorType
from byparts_opset import Attention, AttentionGradient, attention

RANDOM = np.random.default_rng(8)
Q, K, V = (RANDOM.normal(size=s) for s in ((2, 3, 4), (2, 5, 4), (2, 5, 6)))


def by_hand(q: Array, k: Array, v: Array, scale: float, seen: Array) -> Array:
    """The formula, with exp of the scores as they are."""
    weights = np.exp(scale * q @ np.swapaxes(k, -1, -2)) * seen
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ v)


@pytest.mark.parametrize(("scale", "factor"), [(None, 0.5), (2.0, 2.0)])
def test_values(scale: float, factor: float) -> None:
    """Scaled by the root of the width, 4, unless told otherwise."""
    y, logsumexp = Attention(False, scale).evaluate(Q, K, V)

    np.testing.assert_allclose(y, by_hand(Q, K, V, factor, np.ones((3, 5))))
    scores = factor * Q @ np.swapaxes(K, -1, -2)
    np.testing.assert_allclose(logsumexp, np.log(np.exp(scores).sum(-1)))


@pytest.mark.parametrize(("s", "t"), [(3, 3), (2, 5), (5, 2)])
def test_causal_counts_from_the_front(s: int, t: int) -> None:
    """Query i sees keys 0 to i, however many keys there are."""
    q, k, v = RANDOM.normal(size=(s, 4)), RANDOM.normal(size=(t, 4)), RANDOM.normal(size=(t, 2))

    y, _ = Attention(causal=True).evaluate(q, k, v)

    np.testing.assert_allclose(y, by_hand(q, k, v, 0.5, np.tri(s, t)))


@pytest.mark.parametrize("op", [Attention(), Attention(True), Attention(True, 3.0)], ids=str)
def test_decompositions_agree(op: Attention) -> None:
    """On static types, on symbols, and where not even ranks are known."""
    y, logsumexp = op.evaluate(Q, K, V)
    backward = AttentionGradient(op.causal, op.scale)

    check_decomposition(op, Q, K, V)
    check_decomposition(backward, RANDOM.normal(size=y.shape), Q, K, V, y, logsumexp)


def check_decomposition(op: Op, *arrays: Array) -> None:
    """The decomposition computes what `evaluate` does, however little is known of the types."""
    kinds = [
        [TensorType("f64", a.shape) for a in arrays],
        [TensorType("f64", tuple(f"d{n}" for n in a.shape)) for a in arrays],
        [TensorType("f64", None) for _ in arrays],
    ]
    for types in kinds:
        inputs = [Input(t) for t in types]
        found = run(Graph.of(inputs, present(op.decompose(*inputs))), *arrays)
        for got, expected in zip(found, op.evaluate(*arrays), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("op", [Attention(), Attention(True)], ids=str)
def test_gradients_of_both_outputs(op: Attention) -> None:
    """Also where the shapes are not known."""
    check_gradient(op, Q, K, V, unranked=True)


def test_second_order_goes_through_the_decomposition() -> None:
    """Of all three outputs, for all six inputs."""
    y, logsumexp = Attention(True).evaluate(Q, K, V)

    check_gradient(AttentionGradient(True), y[::-1], Q, K, V, y, logsumexp, unranked=True)


def test_large_scores_do_not_overflow() -> None:
    """A score of 10^4 is certain, not infinite."""
    q, k, v = np.array([[100.0]]), np.array([[100.0], [-100.0]]), np.array([[1.0], [2.0]])
    x, y, z = inputs = [Input(TensorType("f64", a.shape)) for a in (q, k, v)]

    assert run(Graph.of(inputs, [attention(x, y, z)]), q, k, v)[0].tolist() == [[1]]
    found = run(Graph.of(inputs, present(Attention().decompose(*inputs))), q, k, v)
    assert [x.tolist() for x in found] == [[[1]], [1e4]]


def test_of_no_keys_it_is_zero() -> None:
    """Of none there is no average: the sum is empty."""
    q, k = np.ones((2, 3)), np.ones((0, 3))
    inputs = [Input(TensorType("f64", a.shape)) for a in (q, k, k)]

    for found in (
        Attention().evaluate(q, k, k),
        run(Graph.of(inputs, present(Attention().decompose(*inputs))), q, k, k),
    ):
        assert [x.tolist() for x in found] == [[[0, 0, 0]] * 2, [-np.inf] * 2]


def test_sums_of_half_types_are_single() -> None:
    """logsumexp is f32 for f16, and the gradient takes it as that."""
    q = TensorType("f16", (2, 3))
    y, logsumexp = Attention().infer(q, q, q)

    assert (y.dtype, logsumexp) == ("f16", TensorType("f32", (2,)))
    with pytest.raises(ShapeError, match=r"attention_gradient: dtypes differ: f32.* and f16"):
        AttentionGradient().infer(q, q, q, q, q, TensorType("f16", (2,)))


def test_sizes_that_do_not_fit_are_named() -> None:
    """With all types, and the two numbers that meet."""
    q, k, v = (TensorType("f32", s) for s in ((2, 3, 4), (2, 5, 4), (2, 6, 4)))

    with pytest.raises(ShapeError, match=r"attention: q is f32\[2,3,4\], .* so 5 meets 6"):
        Attention().infer(q, k, v)
    with pytest.raises(ShapeError, match=r"v is \[..., t, e\] with one batch for all"):
        Attention().infer(q, k, TensorType("f32", (5, 4)))
    with pytest.raises(ShapeError, match="attention: takes floats"):
        Attention().infer(*[TensorType("i32", (2, 2))] * 3)
