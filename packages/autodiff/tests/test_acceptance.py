"""What TinyFlow and NNVM promised, or got wrong, of gradients; the names are those of our facts."""

from __future__ import annotations

import sys
from types import FrameType

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_autodiff import check_gradient, gradients, jvp
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import FLOATS, Graph, Input, TensorType, Value, verify
from byparts_opset.evaluate import evaluate

X23 = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def f32(*shape: int, name: str = "x") -> Input:
    return Input(TensorType("f32", shape), None, name)


def spread(*shape: int) -> np.ndarray:
    """Different numbers, none near 0 or each other."""
    size = int(np.prod(shape))
    return (np.random.default_rng(0).permutation(size).reshape(shape) - size / 2 + 0.25) / size


def test_tf_gr_3_sum() -> None:
    """TF-GR-3: the gradient of -14 sum(x) is -14 everywhere."""
    x = f32(2, 3)

    (dx,) = evaluate(Graph.of([x], gradients(-14 * ops.sum(x), x)), X23)

    np.testing.assert_array_equal(dx, np.full((2, 3), -14))


def test_tf_gr_4_mean() -> None:
    """TF-GR-4: the gradient of -14 mean(x) is -14/6 everywhere."""
    x = f32(2, 3)

    (dx,) = evaluate(Graph.of([x], gradients(-14 * ops.mean(x), x)), X23)

    np.testing.assert_allclose(dx, np.full((2, 3), -14 / 6), rtol=1e-6)


def test_tf_gr_5_matmul() -> None:
    """TF-GR-5: of 4 x y they are 4 * 1 y' and 4 * x' 1."""
    x, y = f32(2, 3), f32(3, 4, name="y")
    b, ones = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((2, 4), np.float32)

    dx, dy = evaluate(Graph.of([x, y], gradients(4 * (x @ y), [x, y])), X23, b)

    np.testing.assert_allclose(dx, 4 * ones @ b.T)
    np.testing.assert_allclose(dy, 4 * X23.T @ ones)


def test_t5_second_order_of_matmul() -> None:
    """T5: d/dy of the gradient of sum((x y)^2) by x; NNVM had no zero for the unused half."""

    def first(x: Value, y: Value) -> Value:
        (dx,) = gradients(ops.square(x @ y), x)
        return dx

    check_gradient(first, spread(2, 3), spread(3, 2))


def test_n2_softmax() -> None:
    """N2: y * (dy - sum(dy * y)); NNVM gave y - y * sum(dy * y)."""
    check_gradient(lambda x: ops.softmax(x), spread(3, 4))


def test_n3_log_softmax() -> None:
    """N3: dy - softmax * sum(dy); NNVM took its logarithm for the softmax."""
    check_gradient(lambda x: ops.log_softmax(x), spread(3, 4))


def test_n4_extremes_transpose_and_new_axes() -> None:
    """N4: masks come from the input, a transpose goes back by its inverse, all new axes go."""
    check_gradient(lambda x: (ops.max(x, 1), ops.min(x, 0)), spread(3, 4))
    check_gradient(lambda x: ops.sin(ops.transpose(x, (1, 2, 0))), spread(2, 3, 4))
    check_gradient(lambda x: ops.sin(ops.expand_dims(x, (0, 2, 3))), spread(2, 3))


def test_nn_grad_cnn() -> None:
    """NN-GRAD-cnn: one gradient for each input of a small network, in its type, and right."""

    def loss(x: Value, k: Value, v: Value, w: Value) -> Value:
        y = ops.max_pool(ops.relu(ops.conv2d(x, k)), (2, 2))
        y = ops.relu(ops.flatten(y) @ v) @ w
        return -ops.mean(ops.log_softmax(y)[:, 0])

    shapes = (2, 1, 6, 6), (2, 1, 3, 3), (8, 3), (3, 2)
    xs = [f32(*s) for s in shapes]

    assert [dx.type for dx in gradients(loss(*xs), xs)] == [x.type for x in xs]
    check_gradient(loss, *(spread(*s) for s in shapes))


@given(graph=graphs(effects=False, floats_only=True), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=100)
def test_forward_and_reverse_agree(graph: Graph, seed: int) -> None:
    """<u, J t> = <J' u, t> of random programs, kinks included: both take the same side."""
    xs, ys = graph.inputs, [v for v in graph.outputs if v.type.dtype in FLOATS]
    ts, us = [[Input(v.type) for v in vs] for vs in (xs, ys)]
    slopes = gradients(ys, xs, us, unreachable="zeros")
    modes = Graph.of((*xs, *ts, *us), (*slopes, *jvp(ys, xs, ts)))
    random = np.random.default_rng(seed)
    at = [random.normal(size=v.type.dims).astype(_dtype(v)) for v in (*ts, *us)]

    results = evaluate(verify(modes), *arguments(graph, seed), *at)

    back, forth = results[: len(xs)], results[len(xs) :]
    left = [np.sum(a * np.float64(b)) for a, b in zip(back, at[: len(ts)], strict=True)]
    right = [np.sum(a * np.float64(b)) for a, b in zip(forth, at[len(ts) :], strict=True)]
    size = sum(np.abs(np.float64(a)).sum() for a in results)
    assert sum(left) == pytest.approx(sum(right), rel=1e-3, abs=1e-3 + 1e-4 * size)


def calls_for_chain(length: int) -> int:
    """How many functions `gradients` of so many nodes calls."""
    y: Value = f32(2)
    x = y
    for _ in range(length):
        y = -y
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    old = sys.getprofile()
    sys.setprofile(profile)
    try:
        (dx,) = gradients(y, x)
    finally:
        sys.setprofile(old)
    assert dx.type == x.type
    return count


@pytest.mark.long
def test_the_work_for_a_chain_is_linear() -> None:
    """And no recursion at 100,000."""
    assert calls_for_chain(100_000) < 10.5 * calls_for_chain(10_000)


def _dtype(v: Value) -> str:
    return {"f64": "float64", "f32": "float32"}[v.type.dtype]
