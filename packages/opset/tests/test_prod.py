import numpy as np
import pytest
from numeric import call, check_gradient, run

from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.prod import Prod, ProdOfOthers, prod, prod_of_others


def test_the_product_of_nothing_is_one() -> None:
    """And keeps its dtype."""
    assert np.int32(1) == call(prod, np.zeros(0, np.int32))


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_gradient_with_zeros(zeros: int) -> None:
    """With one zero only its own factor counts, with two nothing does; never nan."""
    x = np.array([2.0, -3.0, 0.5, 4.0])
    x[:zeros] = 0

    check_gradient(Prod(), x, unranked=True)
    check_gradient(ProdOfOthers(0), x, unranked=True)  # so the second derivative is right as well


@pytest.mark.parametrize("axes", [(0, 2), (-1, 0), (1,), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_gradient_over_several_axes(axes: tuple[int, ...] | None, keepdims: bool) -> None:
    """One axis after the other."""
    x = np.random.default_rng(0).uniform(-2, 2, (2, 3, 2))
    x[0, 1, 1] = x[1, 1, 0] = 0

    check_gradient(Prod(axes, keepdims), x, unranked=True)


def test_products_of_the_others() -> None:
    """Also where the product overflows or vanishes."""
    x = np.array([[2, 3, 5], [0, 7, 1], [1e30, 1e-30, 1e30]], np.float32)

    found = call(lambda v: prod_of_others(v, -1), x)

    expected = np.array([[15, 10, 6], [7, 0, 0], [1, np.inf, 1]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_first_gradient_is_linear_in_memory() -> None:
    """No table of all pairs before second derivatives ask for it."""
    x, dy = Input(TensorType("f32", (100,))), Input(TensorType("f32", ()))
    (dx,) = Prod().gradient(prod(x).node, dy)  # type: ignore[arg-type]
    graph = Graph.of((x, dy), [dx])  # type: ignore[list-item]

    assert max(v.type.size for v in graph.values) == 100
    assert np.all(run(graph, np.ones(100, np.float32), np.float32(2))[0] == 2)
