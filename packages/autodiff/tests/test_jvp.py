"""Forward mode and Hessians, from reverse mode alone."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import GradientError, gradients, hessian_vector_product, jvp
from byparts_graph_ir import Graph, Input, TensorType, Value, verify
from byparts_opset import exp, sin
from byparts_opset.evaluate import evaluate


def f64(*shape: int | str | None, name: str = "x") -> Input:
    return Input(TensorType("f64", shape), None, name)


def test_jvp_is_the_derivative_along_the_tangent() -> None:
    """d/dh of f(x + h t), by differences."""
    x, t = f64(4), f64(4, name="t")
    at, along = np.linspace(0.1, 0.9, 4), np.array([1.0, -2.0, 0.5, 0.0])

    def f(v: Value) -> Value:
        return exp(sin(v) * v)

    (dy,) = evaluate(verify(Graph.of([x, t], jvp(f(x), x, t))), at, along)

    h = 1e-6
    up, down = (evaluate(Graph.of([x], [f(x)]), at + s * h * along)[0] for s in (1, -1))
    np.testing.assert_allclose(dy, (up - down) / (2 * h), rtol=1e-8)


def test_the_dead_half_falls_away() -> None:
    """Of sin(x) there remains cos(x) * t: no trace of the pull-back or its zeros."""
    x, t = f64(4), f64(4, name="t")

    graph = Graph.of([x, t], jvp(sin(x), x, t))

    assert sorted(n.op.name for n in graph.nodes) == ["cos", "mul"]


def test_jvp_adds_over_xs() -> None:
    """Each y moves with all xs; one that depends on none stays."""
    x, z, tx, tz = f64(2), f64(2, name="z"), f64(2, name="tx"), f64(2, name="tz")

    moved, still = jvp([x * z, exp(z)], [x, z], [tx, tz])[0], jvp(exp(z), x, tx)[0]

    ones = np.ones(2)
    graph = Graph.of([x, z, tx, tz], [moved, still])
    a, b = evaluate(graph, 2 * ones, 3 * ones, 5 * ones, 7 * ones)
    assert a.tolist() == [29, 29]
    assert b.tolist() == [0, 0]


def test_jvp_of_unknown_shapes_stands_alone() -> None:
    """Where a shape is not known the zeros' types are still read, and nothing is left open."""
    x, b, t = f64("n", 3), f64(3, name="b"), f64(3, name="t")

    graph = verify(Graph.of([x, b, t], jvp(exp(x * b), b, t)))

    at = np.arange(6.0).reshape(2, 3) / 6
    (dy,) = evaluate(graph, at, np.ones(3), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(dy, np.exp(at) * at * [1, 2, 3])


def test_forward_over_forward() -> None:
    """The second derivative of sin along t is -sin(x) t t."""
    x, t = f64(3), f64(3, name="t")
    (first,) = jvp(sin(x), x, t)

    (second,) = evaluate(Graph.of([x, t], jvp(first, x, t)), np.arange(3.0), 2 * np.ones(3))

    np.testing.assert_allclose(second, -4 * np.sin(np.arange(3.0)), atol=1e-15)


def test_hessian_vector_product_agrees_with_the_matrix() -> None:
    """For x y + x x, with H = [[2, 1], [1, 0]]."""
    x, y, u, v = (f64(name=n) for n in "xyuv")

    graph = Graph.of([x, y, u, v], hessian_vector_product(x * y + x * x, [x, y], [u, v]))

    assert [float(a) for a in evaluate(graph, 3.0, 4.0, 10.0, 1.0)] == [21, 10]


def test_tangents_have_to_fit() -> None:
    """One for each x, of its type."""
    x, t = f64(2), f64(3, name="t")

    with pytest.raises(GradientError, match="2 tangents for 1 xs"):
        jvp(exp(x), x, [x, x])
    with pytest.raises(GradientError, match=r"tangents\[0\] is f64\[3\] and its x is f64\[2\]"):
        jvp(exp(x), x, t)


def test_modes_agree() -> None:
    """<t, J^T u> = <J t, u>."""
    x, t, u = f64(5), f64(5, name="t"), f64(5, name="u")
    y = exp(sin(x) * x)
    dot = [gradients(y, x, u)[0] * t, jvp(y, x, t)[0] * u]

    random = np.random.default_rng(0)
    left, right = evaluate(Graph.of([x, t, u], dot), *random.normal(size=(3, 5)))

    np.testing.assert_allclose(left.sum(), right.sum())


def test_rules_that_leave_out_zeros_leave_the_tangents() -> None:
    """The gradient of batch norm is that of its parts, and skips what is zeros by construction."""
    kind = TensorType("f64", (3,))
    x, *statistics = (Input(kind) for _ in range(5))
    y = ops.batch_norm_inference(ops.reshape(x, (1, 3)), *statistics)  # type: ignore[arg-type]
    graph = Graph.of((x, *statistics), jvp(y, x, ops.ones_like(x)))

    ones = np.ones(3)

    np.testing.assert_allclose(
        evaluate(graph, ones, 2 * ones, ones, ones, 4 * ones)[0], np.full((1, 3), 1.0), atol=1e-3
    )
