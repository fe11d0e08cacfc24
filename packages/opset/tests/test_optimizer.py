"""Steps of optimizers."""

import numpy as np
import pytest
from numeric import present, run

from byparts_graph_ir import Graph, Input, Op, ShapeError, TensorType
from byparts_opset import Adam, GradientDescent, Momentum, adam, gradient_descent, momentum

RATE, STEP = np.float32(0.5).reshape(()), np.float32(1).reshape(())
W, V, DW = np.array([1.0, 2.0]), np.array([4.0, -4.0]), np.array([1.0, 3.0])


def test_gradient_descent_goes_against_the_gradient() -> None:
    """w - rate * dw."""
    assert GradientDescent(1).evaluate(W, DW, RATE)[0].tolist() == [0.5, 0.5]


def test_momentum_rolls_on() -> None:
    """v' = v / 2 + dw = (3, 1); by Nesterov the step is dw + v' / 2 = (2.5, 3.5)."""
    plain, v = Momentum(1, 0.5).evaluate(W, V, DW, RATE)
    ahead, _ = Momentum(1, 0.5, nesterov=True).evaluate(W, V, DW, RATE)

    assert v.tolist() == [3, 1]
    assert plain.tolist() == [-0.5, 1.5]
    assert ahead.tolist() == [-0.25, 0.25]


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.999])
def test_the_first_step_of_adam_has_the_size_of_the_rate(beta: float) -> None:
    """From means of 0, corrected, m is dw and sqrt(v) is |dw|, whatever the betas."""
    zeros = np.zeros(2)

    w, _, _ = Adam(1, beta, beta, 0.0).evaluate(W, zeros, zeros, np.array([1e-3, -7.0]), RATE, STEP)

    np.testing.assert_allclose(w, W - [0.5, -0.5], rtol=1e-12)


def test_adam_minimises() -> None:
    """200 steps down a valley that is a hundred times steeper one way than the other."""
    w, m, v = np.array([1.0, 1.0]), np.zeros(2), np.zeros(2)
    for i in range(1, 201):
        step = np.float32(i).reshape(())
        w, m, v = Adam(1).evaluate(w, m, v, w * [1, 100], np.float32(0.05).reshape(()), step)

    assert np.abs(w).max() < 1e-2


@pytest.mark.parametrize("op", [GradientDescent(2), Momentum(2), Momentum(2, 0.5, True), Adam(2)])
def test_decompositions_agree(op: Op) -> None:
    """On weights of two types, whose state is of theirs; near beta = 1 no digit is lost."""
    sample = next(s for s in type(op).samples() if len({t.dtype for t in s.types}) > 1)
    arrays = [np.ones(t.dims, "f4" if t.dtype == "f32" else "f8") * 0.75 for t in sample.types]
    inputs = [Input(t) for t in sample.types]

    found = run(Graph.of(inputs, present(sample.op.decompose(*inputs))), *arrays)

    for got, expected in zip(found, sample.op.evaluate(*arrays), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-13 if got.dtype == "f8" else 1e-6)


def test_each_new_value_may_take_the_place_of_the_old() -> None:
    """The pairs depend on how many there are; equal ops stay equal."""
    assert GradientDescent(2).inplace == ((0, 0), (1, 1))
    assert Adam(1).inplace == ((0, 0), (1, 1), (2, 2))
    assert Momentum(3) == Momentum(3) != Momentum(2)


def test_functions_group_their_results() -> None:
    """New weights, then new states, each as many as there are; numbers become 0-d f32."""
    ws = [Input(TensorType("f64", ("n", 2))), Input(TensorType("f16", (3,)))]
    types = [w.type for w in ws]

    assert [w.type for w in gradient_descent(ws, ws, 0.1)] == types
    assert [[x.type for x in group] for group in momentum(ws, ws, ws, 0.1)] == [types] * 2
    assert [[x.type for x in group] for group in adam(ws, ws, ws, ws, 0.1, 1)] == [types] * 3


def test_unknown_shapes_learn_from_each_other() -> None:
    """A weight, its state and its gradient are of one shape."""
    w, dw = Input(TensorType("f32", None)), Input(TensorType("f32", ("n", 3)))

    assert gradient_descent([w], [dw], 0.1)[0].type == TensorType("f32", ("n", 3))


def test_what_does_not_fit_is_said() -> None:
    """Shapes, the number of inputs, the rate, the constants."""
    w, other = Input(TensorType("f32", (2,))), Input(TensorType("f32", (3,)))
    wide = Input(TensorType("f64", ()))

    with pytest.raises(ShapeError, match=r"gradient_descent: shapes differ: .* so 2 meets 3"):
        gradient_descent([w], [other], 0.1)
    with pytest.raises(ShapeError, match="momentum: takes 1 w, 1 v, 1 dw, rate, got 3 inputs"):
        momentum([w], [w], [], 0.1)
    with pytest.raises(ShapeError, match=r"gradient_descent: rate is a 0-d f32, got f64\[\]; cast"):
        gradient_descent([w], [w], wide)
    with pytest.raises(ShapeError, match="adam: count is 0"):
        Adam(0)
    with pytest.raises(ShapeError, match=r"adam: beta2 is 1.0, and must be in"):
        Adam(1, beta2=1.0)


def test_an_optimizer_has_no_gradient() -> None:
    """Its decomposition has, for whoever learns to learn."""
    w, rate = Input(TensorType("f32", (2,))), Input(TensorType("f32", ()))
    op = GradientDescent(1)

    with pytest.raises(NotImplementedError, match="gradient_descent is not differentiable"):
        op.gradient(gradient_descent([w], [w], rate)[0].node, w)  # type: ignore[arg-type]
    assert len(present(op.decompose(w, w, rate))) == 1
