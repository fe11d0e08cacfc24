"""Products that are added to a sum: right in place and apart, and used where they fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from waiting import wait

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, ShapeError, TensorType, Value
from byparts_runtime import Variable, build


@given(
    st.tuples(*[st.integers(1, 9)] * 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["f32", "f64"]),
    st.sampled_from([1.0, -0.25]),
)
@settings(deadline=None, max_examples=20)
def test_a_product_is_added_to_a_sum(
    sizes: tuple[int, int, int], ta: bool, tb: bool, dtype: str, sign: float
) -> None:
    """c + a b for all ways to store a and b, c read again afterwards or not."""
    m, k, n = sizes
    shapes = [(m, n), (k, m) if ta else (m, k), (n, k) if tb else (k, n)]
    c, a, b = (Input(TensorType(dtype, s)) for s in shapes)
    (y,) = ops.AddMatmul(ta, tb, sign).outputs_of(c, a, b)
    random = np.random.default_rng(m + 10 * k + 100 * n)
    arrays = [random.standard_normal(s).astype(dtype.replace("f", "float")) for s in shapes]
    want = arrays[0] + sign * (arrays[1].T if ta else arrays[1]) @ (
        arrays[2].T if tb else arrays[2]
    )

    once, again = Graph.of([c, a, b], [y]), Graph.of([c, a, b], [y, c + c])
    wait([once, again], ("native",))

    (apart,) = build(once, backends=("native",))(*arrays)
    twice = build(again, backends=("native",))(*arrays)

    for got in (apart, twice[0]):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)
    np.testing.assert_array_equal(twice[1], arrays[0] + arrays[0])


def test_gradients_over_time_are_added_as_they_are_made() -> None:
    """Of four products one is computed apart, and no region adds two of them."""
    shapes = {"w": (8, 8), "x": (4, 8)}
    w, x = (Input(TensorType("f32", s), name=n) for n, s in shapes.items())
    h: Value = x
    for _ in range(4):
        h = ops.tanh(h @ w)
    (dw,) = gradients(ops.sum(h), [w])
    graph = Graph.of([w, x], ops.gradient_descent((w,), (dw,), 0.1))
    random = np.random.default_rng(0)
    first = random.standard_normal(shapes["w"]).astype("float32")
    given_x = random.standard_normal(shapes["x"]).astype("float32")
    results = []
    for backend in ("native", "numpy"):
        state = Variable("w", first.copy())
        program = build(graph, backends=(backend, "numpy"), variables=[state], updates=[state])
        program(given_x)
        results.append(np.array(state.read()))
        if backend == "native":
            names = [step.node.op.name for step in program.steps]
            assert names.count("add_matmul") == 3  # to the first, each of the others
            assert names.count("fused") < 8

    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-6)


def test_a_dtype_without_blas_is_left_to_others() -> None:
    i, j = Input(TensorType("i32", (3, 3))), Input(TensorType("i32", (3, 3)))
    graph = Graph.of([i, j], [i @ j + i])
    x = np.arange(9, dtype=np.int32).reshape(3, 3)

    program = build(graph, backends=("native", "numpy"))

    np.testing.assert_array_equal(program(x, x)[0], x @ x + x)
    assert "add_matmul" not in [s.node.op.name for s in program.steps]
    with pytest.raises(ShapeError, match=r"add_matmul.*i32"):
        ops.AddMatmul()(i, i, j)
