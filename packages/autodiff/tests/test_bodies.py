"""Gradients through loops, branches and calls are those of the unrolled program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import GradientError, check_gradient, gradients, jvp
from byparts_graph_ir import Graph, Input, TensorType, Value, specialize, verify
from byparts_opset.evaluate import evaluate

N = 5
SHAPES = ((2, 3), (N, 2, 4), (4, 3), (3, 3), (3,))
Net = Callable[..., Value]


def cell(h: Value, x: Value, w: Value, u: Value, b: Value) -> Value:
    return ops.tanh(x @ w + h @ u + b)


def unrolled(h: Value, xs: Value, *weights: Value) -> Value:
    for t in range(N):
        h = cell(h, xs[t], *weights)
    return h


def scanned(h: Value, xs: Value, *weights: Value) -> Value:
    return ops.scan(cell, (h,), (xs,), weights)[0]


def looped(backward: str, max_rounds: int | None) -> Net:
    def net(h: Value, xs: Value, *weights: Value) -> Value:
        return ops.while_loop(
            lambda i, h, *_: i < N,
            lambda i, h, xs, *weights: (i + 1, cell(h, ops.gather(xs, i), *weights)),
            (ops.fill(0, "i32"), h),
            (xs, *weights),
            max_rounds=max_rounds,
            backward=backward,  # type: ignore[arg-type]
        )[1]

    return net


def chosen(h: Value, xs: Value, *weights: Value) -> Value:
    """The right branch of two, around a call."""
    return ops.cond(
        ops.sum(h) < 1e9,
        lambda *values: ops.call(unrolled, *values),
        lambda h, *_: h,
        (h, xs, *weights),
    )[0]


NETS = {
    "scan": scanned,
    "stack": looped("stack", N + 3),
    "recompute": looped("recompute", None),
    "bounded recompute": looped("recompute", N),
    "if and call": chosen,
}


def program(net: Net, order: str) -> Graph:
    inputs = [Input(TensorType("f64", s)) for s in SHAPES]
    y = net(*inputs)
    if order == "jvp":
        return Graph.of(inputs, (y, *jvp(y, inputs, [ops.ones_like(v) for v in inputs])))
    found = gradients(ops.sum(ops.square(y)), inputs)
    if order == "second":
        found = gradients(ops.add_n([ops.sum(ops.sin(d)) for d in found]), inputs)
    return Graph.of(inputs, (y, *found))


def arrays() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.standard_normal(s) for s in SHAPES]


@pytest.mark.parametrize("order", ["first", "second", "jvp"])
@pytest.mark.parametrize("net", NETS.values(), ids=list(NETS))
def test_as_the_unrolled_program(net: Net, order: str) -> None:
    """Values, gradients, gradients of gradients, and forward mode."""
    graph = verify(program(net, order))

    wanted = evaluate(program(unrolled, order), *arrays())

    for got in (evaluate(graph, *arrays()), evaluate(verify(specialize(graph)), *arrays())):
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("net", NETS.values(), ids=list(NETS))
def test_as_central_differences(net: Net) -> None:
    """In f64."""
    check_gradient(lambda *inputs: ops.sum(net(*inputs)), *arrays())


@pytest.mark.parametrize("rounds", [0, 1, 4])
@pytest.mark.parametrize("backward", ["stack", "recompute"])
def test_a_trip_count_that_depends_on_data(rounds: int, backward: str) -> None:
    """Doubled until it is large: d y / d x = 2 ** rounds; a loop that never runs passes dy on."""
    x = Input(TensorType("f64", ()))
    (y,) = ops.while_loop(
        lambda x: x < 1.0,
        lambda x: x * 2.0,
        (x,),
        max_rounds=20,
        backward=backward,  # type: ignore[arg-type]
    )
    graph = Graph.of((x,), (y, *gradients(y, x)))

    value, slope = evaluate(graph, np.float64(1.5 * 2.0**-rounds))

    assert (value, slope) == (1.5, 2.0**rounds)  # type: ignore[comparison-overlap]


def test_loops_in_loops_and_in_branches() -> None:
    """As the unrolled program: sum over i of (sum over j <= 2 of sin(x) * x) by a branch."""

    def inner(total: Value, x: Value) -> tuple[Value, ...]:
        rows = ops.scan(lambda s, x: (ops.sin(s) + x * s, s), (x,), (), (x,), length=3)
        return ops.cond(
            ops.sum(x) > 0, lambda t, r, x: t + r, lambda t, r, x: t * x, (total, rows[0], x)
        )

    x = Input(TensorType("f64", (2,)))
    (y,) = ops.scan(inner, (x,), (), (x,), length=2)
    total: Value = x
    for _ in range(2):
        s: Value = x
        for _ in range(3):
            s = ops.sin(s) + x * s
        total = ops.select(ops.sum(x) > 0, total + s, total * x)
    graph = Graph.of((x,), (y, *gradients(y, x)))
    plain = Graph.of((x,), (total, *gradients(total, x)))

    for at in (np.array([0.5, 0.25]), np.array([-0.5, 0.25])):
        for a, b in zip(evaluate(graph, at), evaluate(plain, at), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_rows_get_gradients_too() -> None:
    """Those that the scan stacks, from either end."""
    xs, w = Input(TensorType("f64", (4, 2))), Input(TensorType("f64", (2,)))
    for reverse in (False, True):
        _, rows = ops.scan(
            lambda s, x, w: (s * w + x, ops.sin(s) * x), (w,), (xs,), (w,), reverse=reverse
        )
        s, stacked = w, []
        for t in range(4)[:: -1 if reverse else 1]:
            stacked.append(ops.sin(s) * xs[t])
            s = s * w + xs[t]  # type: ignore[assignment]
        plain = ops.stack(stacked[:: -1 if reverse else 1])
        c = ops.constant(np.arange(8.0).reshape(4, 2))
        graphs = [Graph.of((xs, w), gradients(ops.sum(y * c), (xs, w))) for y in (rows, plain)]
        at = np.linspace(-1, 1, 8).reshape(4, 2), np.array([0.5, -2.0])
        for a, b in zip(*(evaluate(g, *at) for g in graphs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_only_what_the_reverse_reads_is_kept() -> None:
    """The reverse of a linear body reads no state: nothing is stacked, the loop runs once."""
    s, xs = Input(TensorType("f64", (2,))), Input(TensorType("f64", (4, 2)))
    (last,) = ops.scan(lambda s, x: (s * 0.5 + x,), (s,), (xs,))

    graph = Graph.of((s, xs), gradients(last, (s, xs)))

    assert [n.op.name for n in graph.nodes].count("scan") == 1


def test_a_loop_without_a_bound_has_a_gradient() -> None:
    """2 ** 4 = d(16 x)/dx, after four rounds from 0.1; the number of rounds is not known before."""
    x = Input(TensorType("f64", ()))
    (free,) = ops.while_loop(lambda x: x < 1.0, lambda x: x * 2.0, (x,))

    (dx,) = evaluate(Graph.of([x], gradients(free, x)), np.float64(0.1))
    assert dx == 16.0


def test_a_gradient_that_cannot_be_taken_says_why() -> None:
    """An op in the body that has no gradient."""
    x = Input(TensorType("f64", ()))
    step = ops.GradientDescent(1)
    (y,) = ops.while_loop(
        lambda x: x < 1.0, lambda x: step.outputs_of(x, x, ops.fill(0.1, "f32"))[0], (x,)
    )
    with pytest.raises(GradientError, match=r"gradient_descent is not differentiable"):
        gradients(y, x)


def test_a_loop_without_a_bound_has_all_orders() -> None:
    """First, second and forward mode of x ** 8, in three rounds."""
    x = Input(TensorType("f64", ()))
    (y,) = ops.while_loop(lambda x: x < 100.0, lambda x: x * x, (x,))
    (dy,) = gradients(y, x)
    (ddy,) = gradients(dy, x)
    (tangent,) = jvp(y, x, ops.fill(1.0, "f64"))
    found = evaluate(Graph.of((x,), (y, dy, ddy, tangent)), np.float64(3))

    assert [float(v) for v in found] == [3**8, 8 * 3**7, 56 * 3**6, 8 * 3**7]
