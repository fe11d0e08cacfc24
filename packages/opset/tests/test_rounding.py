import numpy as np
import pytest
from numeric import call, slopes

from byparts_graph_ir import Op
from byparts_opset.unary import ceil, floor, round, trunc

X = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6, -2.6])


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (floor, [-3, -2, -1, 0, 1, 2, 2, -3]),
        (ceil, [-2, -1, 0, 1, 2, 3, 3, -2]),
        (round, [-2, -2, 0, 0, 2, 2, 3, -3]),
        (trunc, [-2, -1, 0, 0, 1, 2, 2, -2]),
    ],
)
def test_directions(op: Op, expected: list[float]) -> None:
    """Down, up, to nearest with halves to even, towards 0; flat everywhere."""
    np.testing.assert_array_equal(expected, call(op, X))
    np.testing.assert_array_equal(np.zeros(8), slopes(op, X)[0])


@pytest.mark.parametrize("op", [ceil, trunc], ids=lambda op: op.name)
def test_decompositions(op: Op) -> None:
    """By floor."""
    np.testing.assert_array_equal(op.evaluate(X)[0], call(lambda v: op.decompose(v)[0], X))  # type: ignore[index]
