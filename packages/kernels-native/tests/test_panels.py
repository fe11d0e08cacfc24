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
    st.booleans(),
)
def test_products_by_one_matrix_share_its_panels(
    count: int, sizes: tuple[int, int, int], flip: bool
) -> None:
    """Whatever the estimate chooses, the values are those of the products; some are added."""
    m, k, n = sizes
    w, c = f32(k, n), f32(m, n)
    many = [f32(*((k, m) if flip else (m, k))) for _ in range(count)]
    products: list[Value] = [ops.matmul(a, w, transpose_a=flip) for a in many]
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


def test_two_products_or_a_transposed_matrix_keep_their_own_copies() -> None:
    w, (a, b, c) = f32(64, 256), [f32(32, 64) for _ in range(3)]
    turned = f32(256, 64)
    two = Graph.of([w, a, b], [a @ w, b @ w])
    three = Graph.of(
        [turned, a, b, c], [ops.matmul(x, turned, transpose_b=True) for x in (a, b, c)]
    )

    assert share_panels(two) == two
    assert share_panels(three) == three
