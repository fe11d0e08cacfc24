"""A matrix that several products read is packed once, and they compute what they did."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value, verify
from byparts_kernels_native.panels import share_panels
from byparts_opset.evaluate import evaluate
from byparts_runtime import build


def f32(*shape: int) -> Input:
    return Input(TensorType("f32", shape))


def arrays_for(graph: Graph) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.standard_normal(v.type.dims).astype("float32") for v in graph.inputs]


def names(graph: Graph) -> list[str]:
    return [n.op.name for n in graph.nodes]


@settings(deadline=None)
@given(
    st.integers(3, 5),
    st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 70)),
    st.tuples(st.booleans(), st.booleans()),
)
def test_products_by_one_matrix_share_its_panels(
    count: int, sizes: tuple[int, int, int], flips: tuple[bool, bool]
) -> None:
    """Whatever the estimate chooses, the values are those of the products; some are added."""
    m, k, n = sizes
    w, c = f32(*((n, k) if flips[1] else (k, n))), f32(m, n)
    many = [f32(*((k, m) if flips[0] else (m, k))) for _ in range(count)]
    products: list[Value] = [
        ops.matmul(a, w, transpose_a=flips[0], transpose_b=flips[1]) for a in many
    ]
    graph = Graph.of([w, c, *many], [*products[1:], ops.tanh(c + products[0])])
    arrays = arrays_for(graph)

    program = build(graph, backends=("native", "numpy"))

    for got, want in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_panels_are_made_once() -> None:
    """Of a matrix that three products read as it is stored; the pass keeps the values."""
    w = f32(64, 256)
    few = [f32(32, 64) for _ in range(3)]
    graph = Graph.of([w, *few], [ops.matmul(a, w) for a in few])
    packed = verify(share_panels(graph))
    arrays = arrays_for(graph)

    assert names(packed) == ["pack_panels", *["panel_matmul"] * 3]
    for got, want in zip(evaluate(packed, *arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_two_products_keep_their_own_copies() -> None:
    w, a, b = f32(64, 256), f32(32, 64), f32(32, 64)
    two = Graph.of([w, a, b], [a @ w, b @ w])

    assert share_panels(two) == two


def test_a_matrix_and_its_transpose_have_panels_of_their_own() -> None:
    """As the weight of a recurrence, in its steps and in their gradients."""
    w, *rest = f32(64, 256), *[f32(32, 64) for _ in range(3)], *[f32(32, 256) for _ in range(3)]
    products = [ops.matmul(a, w) for a in rest[:3]]
    products += [ops.matmul(a, w, transpose_b=True) for a in rest[3:]]
    graph = Graph.of([w, *rest], products)
    packed = verify(share_panels(graph))
    arrays = arrays_for(graph)

    assert sorted(names(packed)) == ["pack_panels"] * 2 + ["panel_matmul"] * 6
    for got in (evaluate(packed, *arrays), build(graph, backends=("native", "numpy"))(*arrays)):
        for one, want in zip(got, evaluate(graph, *arrays), strict=True):
            np.testing.assert_allclose(one, want, rtol=1e-4, atol=1e-4)
