import math

import numpy as np
import pytest
from numeric import call, check_gradient, slopes

from byparts_graph_ir import Op, ShapeError
from byparts_opset.activation import (
    Elu,
    LeakyRelu,
    Relu,
    Relu6,
    Selu,
    Sigmoid,
    Softplus,
    Softsign,
    relu6,
    sigmoid,
    softplus,
)
from byparts_opset.gelu import Gelu, Silu

X = np.array([-3.0, -0.5, 0.25, 2.0])
OPS: list[tuple[Op, object]] = [
    (Relu(), lambda x: max(x, 0)),
    (LeakyRelu(0.1), lambda x: x if x > 0 else 0.1 * x),
    (LeakyRelu(3.0), lambda x: x if x > 0 else 3 * x),
    (Elu(0.5), lambda x: x if x > 0 else 0.5 * (math.exp(x) - 1)),
    (
        Selu(),
        lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * (math.exp(x) - 1)),
    ),
    (Sigmoid(), lambda x: 0.5 + 0.5 * math.tanh(x / 2)),
    (Softplus(), lambda x: math.log(1 + math.exp(x))),
    (Softsign(), lambda x: x / (1 + abs(x))),
    (Silu(), lambda x: x * (0.5 + 0.5 * math.tanh(x / 2))),
    (Gelu(), lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2))),
    (
        Gelu(approximate=True),
        lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
]


@pytest.mark.parametrize(("op", "formula"), OPS, ids=lambda p: str(p) if isinstance(p, Op) else "")
def test_values_and_decompositions(op: Op, formula: object) -> None:
    """Against another form of the same equation, number by number."""
    expected = [formula(x) for x in X]  # type: ignore[operator]

    np.testing.assert_allclose(expected, op.evaluate(X)[0], rtol=1e-13)
    np.testing.assert_allclose(expected, call(lambda v: op.decompose(v)[0], X), rtol=1e-13)  # type: ignore[index]


@pytest.mark.parametrize("op", [op for op, _ in OPS], ids=str)
def test_gradients(op: Op) -> None:
    """On static, symbolic and unknown shapes."""
    check_gradient(op, X, unranked=True)


def test_relu_reads_only_its_output() -> None:
    """Its gradient at 0 is 0, and it may have been computed in place."""
    (dx,) = slopes(Relu(), np.array([-1.0, 0.0, 1.0]))

    np.testing.assert_array_equal([0, 0, 1], dx)
    assert Relu().inplace == ((0, 0),)


def test_far_out_nothing_overflows() -> None:
    """Limits, also by the decompositions."""
    x = np.array([-1000.0, 1000.0])

    np.testing.assert_array_equal([0, 1], call(sigmoid, x))
    np.testing.assert_array_equal([0, 1000], call(softplus, x))
    np.testing.assert_array_equal([0, 1], call(lambda v: sigmoid.decompose(v)[0], x))  # type: ignore[index]
    np.testing.assert_array_equal([0, 1000], call(lambda v: softplus.decompose(v)[0], x))  # type: ignore[index]


def test_relu6_is_a_clip() -> None:
    """Between 0 and 6."""
    np.testing.assert_array_equal([0, 3, 6], call(relu6, np.array([-1.0, 3.0, 9.0])))


def test_relu6_reads_only_its_output() -> None:
    """Its gradient at 0, at 6 and at nan is 0, and it may have been computed in place."""
    (dx,) = slopes(Relu6(), np.array([-1.0, 0.0, 3.0, 6.0, 9.0, np.nan]))

    np.testing.assert_array_equal([0, 0, 1, 0, 0, 0], dx)
    assert Relu6().inplace == ((0, 0),)


def test_slopes_below_zero_are_not_negative() -> None:
    """Or the sign of y would not tell that of x."""
    with pytest.raises(ShapeError, match=r"leaky_relu: alpha is -0\.1, and must not be negative"):
        LeakyRelu(-0.1)
