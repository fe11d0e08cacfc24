"""Cross entropy of probabilities, where they are 0 and 1 above all."""

import numpy as np
from numeric import call, check_gradient, present, run, slopes, type_of

from byparts_graph_ir import Graph, Input, Node
from byparts_opset.cross_entropy import BinaryCrossEntropy, binary_cross_entropy

P, T = np.array([0.0, 1.0, 0.0, 1.0, 0.5]), np.array([0.0, 1.0, 1.0, 0.0, 0.3])


def test_logarithms_are_held() -> None:
    """A sure and wrong guess costs 100, by the op as by what it is made of."""
    expected = [0, 0, 100, 100, np.log(2)]

    np.testing.assert_allclose(expected, call(binary_cross_entropy, P, T))
    np.testing.assert_allclose(
        expected, call(lambda p, t: present(binary_cross_entropy.decompose(p, t))[0], P, T)
    )


def test_gradients_at_zero_and_one() -> None:
    """Those of torch for p, recorded; for t the difference of the two logarithms."""
    dp, dt = slopes(BinaryCrossEntropy(), P, T)

    np.testing.assert_allclose([0, 0, -1e12, 1e12, 0.8], dp)
    np.testing.assert_allclose([100, -100, 100, -100, 0], dt)


def test_gradients_of_gradients_are_finite() -> None:
    """At 0 and 1, too."""
    inputs = [Input(type_of(P)) for _ in range(3)]
    first = Node(BinaryCrossEntropy(), tuple(inputs[:2]))
    graph = Graph.of(inputs, [present(g) for g in first.op.gradient(first, inputs[2])])
    assert all(np.isfinite(y).all() for y in run(graph, P, T, np.ones(5)))


def test_gradient() -> None:
    """Inside, against central differences."""
    check_gradient(BinaryCrossEntropy(), P[4:], T[:, None], unranked=True)


def test_halves_are_computed_in_f32() -> None:
    """1e-12 is no f16, and would divide by 0 there."""
    dp, _ = slopes(BinaryCrossEntropy(), P.astype(np.float16), T.astype(np.float16))

    np.testing.assert_array_equal([0, 0, -np.inf, np.inf], dp[:4])
