"""Sums of products against NumPy's operators, and against their own decomposition."""

import numpy as np
import pytest
from numeric import Array, call, check_gradient, present, run

from byparts_graph_ir import Dimension, Graph, Input, Sample, ShapeError, TensorType
from byparts_opset.einsum import Einsum, einsum
from byparts_opset.matmul import MatMul

RANDOM = np.random.default_rng(0)
SAMPLES = list(Einsum.samples())


def f32(*shape: Dimension) -> Input:
    return Input(TensorType("f32", shape))


def drawn(sample: Sample) -> list[Array]:
    return [RANDOM.normal(size=t.dims) for t in sample.types]


def test_named_axes() -> None:
    """Products, transposes, sums, outer products and traces by their usual names."""
    a, b, v = (RANDOM.normal(size=s) for s in ((2, 3), (3, 4), (3,)))

    np.testing.assert_allclose(a @ b, call(lambda *x: einsum("ij,jk->ik", *x), a, b))
    np.testing.assert_allclose((a @ b).T, call(lambda *x: einsum("ij,jk->ki", *x), a, b))
    np.testing.assert_allclose(a.sum(0), call(lambda x: einsum("ij->j", x), a))
    np.testing.assert_allclose(np.outer(v, v), call(lambda *x: einsum("i,j->ij", *x), v, v))
    np.testing.assert_allclose(np.trace(a @ a.T), call(lambda *x: einsum("ij,ij->", *x), a, a))
    np.testing.assert_allclose(a * v, call(lambda *x: einsum("ij,j->ij", *x), a, v))


def test_without_an_arrow_letters_that_occur_once_are_kept() -> None:
    """In alphabetical order, as in NumPy."""
    a, b = RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(3, 4))

    np.testing.assert_allclose((b.T @ a.T), call(lambda *x: einsum("zj, jk", *x), a, b))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_gradients(sample: Sample) -> None:
    """Also of letters that only one operand has."""
    check_gradient(sample.op, *drawn(sample), unranked=True)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_decomposes_into_what_it_means(sample: Sample) -> None:
    """Products of matrices, sums and transposes give the same."""
    given, inputs = drawn(sample), [Input(TensorType("f64", t.shape)) for t in sample.types]
    graph = Graph.of(inputs, present(sample.op.decompose(*inputs)))
    (expected,), (found,) = sample.op.evaluate(*given), run(graph, *given)

    np.testing.assert_allclose(expected, found, atol=1e-12)


def test_attention_is_two_products_without_a_copy() -> None:
    """Batch axes and a transposed operand are MatMul's own business."""
    q, k = f32("b", "h", "q", 8), f32("b", "h", "k", 8)
    (y,) = present(Einsum("bhqd,bhkd->bhqk").decompose(q, k))

    assert [MatMul(transpose_b=True)] == [node.op for node in Graph.of((q, k), (y,)).nodes]


def test_shapes_are_known_as_far_as_they_can_be() -> None:
    """What one operand does not know another may; the rule runs backwards."""
    assert str(einsum("ij,jk->ik", f32("n", 3), f32(None, 5)).type) == "f32[n,5]"
    assert str(einsum("ij->ji", Input(TensorType("f32", None))).type) == "f32[?,?]"
    types = (TensorType("f32", ("n", 3)), TensorType("f32", None))
    found = Einsum("ij,jk->ik").infer_inputs(types, (TensorType("f32", (None, 7)),))
    assert str(found[1]) == "f32[3,7]"


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("...i->i", ((2, 3),), "for '...' write out"),
        ("ii->i", ((2, 2),), "'ii' in 'ii->i' has a letter twice; for a diagonal"),
        ("ij->k", ((2, 2),), "a letter in the result only"),
        ("ij,jk->ik", ((2, 3),), "takes 2 operands, got 1"),
        ("ij->i", ((2, 3, 4),), r"'ij' names 2 axes, and x is f32\[2,3,4\]"),
        (
            "ij,jk->ik",
            ((2, 3), (4, 5)),
            r"dimensions of j differ in 'ij,jk->ik' of f32\[2,3\], f32\[4,5\], so 3 meets 4",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    equation: str, shapes: tuple[tuple[int, ...], ...], message: str
) -> None:
    """With the equation and the shapes."""
    with pytest.raises(ShapeError, match=message):
        einsum(equation, *(f32(*s) for s in shapes))
