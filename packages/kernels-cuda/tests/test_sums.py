"""Products that something is added to are one op."""

from __future__ import annotations

import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_kernels_cuda.sums import PASSES


def _after(a: TensorType, b: TensorType, c: TensorType, transpose_a: bool = False) -> list[str]:
    """The ops of c + a @ b after the pass."""
    x, w, more = Input(a), Input(b), Input(c)
    product = ops.MatMul(transpose_a)(x, w)
    run, _ = PASSES
    graph = run.run(Graph.of([x, w, more], [product + more]))
    return [n.op.name for n in graph.nodes]


def _f32(*dims: int) -> TensorType:
    return TensorType("f32", dims)


@pytest.mark.parametrize("c", [(4,), (2, 4), (1, 4)])
def test_a_bias_or_a_sum_is_added_to_a_product(c: tuple[int, ...]) -> None:
    assert _after(_f32(2, 3), _f32(3, 4), _f32(*c)) == ["add_matmul"]


def test_all_rows_of_a_batch_get_the_bias() -> None:
    assert _after(_f32(5, 2, 3), _f32(3, 4), _f32(4)) == ["add_matmul"]


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (_f32(2, 3), _f32(3, 4), _f32(2, 1)),
        (_f32(5, 2, 3), _f32(5, 3, 4), _f32(4)),
        (_f32(2, 0), _f32(0, 4), _f32(4)),
        (TensorType("i32", (2, 3)), TensorType("i32", (3, 4)), TensorType("i32", (4,))),
    ],
)
def test_what_a_product_cannot_add_stays_a_sum(a: TensorType, b: TensorType, c: TensorType) -> None:
    assert _after(a, b, c) == ["matmul", "add"]


def test_transposed_matrices_of_a_batch_stay_a_product() -> None:
    assert _after(_f32(5, 3, 2), _f32(3, 4), _f32(4), True) == ["matmul", "add"]
