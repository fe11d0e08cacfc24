import math

import numpy as np
import pytest
from numeric import call, check_gradient, ops_of, present, run, slopes, type_of

from byparts_graph_ir import Graph, Input, Op, ShapeError, TensorType, specialize
from byparts_opset.binary import (
    Atan2,
    Maximum,
    Minimum,
    Pow,
    add,
    add_n,
    floordiv,
    maximum,
    mod,
    mul,
    pow,
)
from byparts_opset.constant import fill

X, Y = np.array([[1.5, 2.5], [4.25, 5.5]]), np.array([[2.0], [3.0]])
OPS = [op() for op in ops_of("binary")]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_gradients_with_broadcasting(op: Op) -> None:
    """Either operand broadcast, on static, symbolic and unknown shapes."""
    check_gradient(op, X, Y, unranked=True)
    check_gradient(op, Y[:, 0], X, unranked=True)
    check_gradient(op, X, np.array(2.0), unranked=True)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_division_rounds_down_and_remainders_follow_the_divisor(dtype: type[np.generic]) -> None:
    """As Python's // and %, of every sign."""
    x, y = np.array([7, -7, 7, -7], dtype), np.array([2, 2, -2, -2], dtype)

    np.testing.assert_array_equal([7 // 2, -7 // 2, 7 // -2, -7 // -2], call(floordiv, x, y))
    np.testing.assert_array_equal([7 % 2, -7 % 2, 7 % -2, -7 % -2], call(mod, x, y))


def test_powers_of_zero_have_gradients() -> None:
    """0**2 has slope 0, 0**1 has 1, 0**0 has 0; no nan, though the logarithm of 0 is near."""
    dx, dy = slopes(Pow(), np.zeros(3), np.array([2.0, 1.0, 0.0]))

    np.testing.assert_array_equal([0, 1, 0], dx)
    np.testing.assert_array_equal([0, 0, 0], dy)


@pytest.mark.parametrize(("power", "slope"), [(0, 0), (1, 1), (2, 0), (3, 0)])
def test_constant_powers_of_zero_have_gradients(power: int, slope: int) -> None:
    """Also where the exponent is a number in the program."""
    x, dy = Input(TensorType("f64", ())), Input(TensorType("f64", ()))
    node = present((x**power).node)
    slope_of_x = present(node.op.gradient(node, dy)[0])
    (dx,) = run(Graph.of((x, dy), [slope_of_x]), np.array(0.0), np.array(1.0))

    assert slope == dx


def test_squares_become_squares() -> None:
    """`x ** 2` and `x ** 1` are simpler as soon as the graph is specialised."""
    x = Input(TensorType("f32", (2,)))
    graph = specialize(Graph.of((x,), [(x**1) ** 2]))

    assert [n.op.name for n in graph.nodes] == ["square"]


def test_powers_of_integers() -> None:
    """They wrap: (-2)^7 is the least i8, and 3^5 is 243 - 256."""
    x, y = np.array([3, 5, -2, -2, 3], np.int8), np.array([2, 0, 3, 7, 5], np.int8)

    np.testing.assert_array_equal(np.array([9, 1, -8, -128, -13], np.int8), call(pow, x, y))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_negative_powers_of_integers(dtype: type[np.signedinteger]) -> None:
    """Of 1 and -1 what they are, of all others 0: what torch gives."""
    x = np.array([0, 1, -1, -1, 2, -3, 1], dtype)
    y = np.array([-1, -5, -3, -2, -1, -2, np.iinfo(dtype).min], dtype)

    np.testing.assert_array_equal(
        np.array([0, 1, -1, 1, 0, 0, 1], dtype), call(pow, x, y), strict=True
    )


def test_negative_powers_of_zero_have_infinite_gradients() -> None:
    """No nan: the value is infinite, too.  As torch."""
    _, dy = slopes(Pow(), np.zeros(1), np.array([-1.0]))

    np.testing.assert_array_equal([-math.inf], dy)


def test_nan_wins_over_numbers() -> None:
    """Both ways round."""
    y = call(maximum, np.array([math.nan, 1.0]), np.array([1.0, math.nan]))

    assert np.isnan(y).all()


@pytest.mark.parametrize("op", [Maximum(), Minimum()], ids=lambda op: op.name)
def test_ties_halve_the_gradient(op: Op) -> None:
    """As torch; beside a nan both get all of it, as there."""
    dx, dy = slopes(op, np.array([1, math.nan, 0]), np.array([1, 0, math.nan]))

    np.testing.assert_array_equal([[0.5, 1, 1], [0.5, 1, 1]], [dx, dy])


def test_the_origin_has_an_angle_without_gradient() -> None:
    """Of every pair of zeros: 0, as torch."""
    y, x = np.array([0.0, -0.0, 0.0]), np.array([0.0, 0.0, -0.0])

    np.testing.assert_array_equal(np.zeros((2, 3)), slopes(Atan2(), y, x))


def test_add_n_is_a_balanced_tree() -> None:
    """Seven terms are three levels deep, and all are counted."""
    inputs = [Input(TensorType("f64", ())) for _ in range(7)]
    depth: dict[object, int] = {}
    graph = Graph.of(inputs, [add_n(inputs)])
    for node in graph.nodes:
        depth[node.outputs[0]] = 1 + max(depth.get(v, 0) for v in node.inputs)

    assert max(depth.values()) == 3
    assert run(graph, *(np.array(2.0**i) for i in range(7)))[0] == 127


def test_add_n_of_nothing_is_refused() -> None:
    """It would have no type."""
    with pytest.raises(ShapeError, match="add_n: needs a value at least, got none"):
        add_n([])


def test_shapes_pass_backwards_where_nothing_else_can_give_them() -> None:
    """An unknown axis beside a 1 is that of the result."""
    x, y = TensorType("f32", (None, None)), TensorType("f32", (1, "n"))
    z = TensorType("f32", (4, 5))

    assert (TensorType("f32", (4, None)), y) == add.infer_inputs((x, y), (z,))


def test_narrow_integers_wrap() -> None:
    """Dtypes stay as they are."""
    x = np.array([100], np.int8)

    np.testing.assert_array_equal(np.array([-56], np.int8), call(mul, x, np.array(2, np.int8)))
    assert type_of(x) == add.infer(type_of(x), type_of(x))[0]


def test_fill_of_any_shape_counts_as_a_number_only_when_0d() -> None:
    """`x ** fill(2, shape)` may broadcast x, so it stays."""
    x = Input(TensorType("f32", (1,)))
    graph = specialize(Graph.of((x,), [pow(x, fill(2, "f32", (3,)))]))

    assert "pow" in [n.op.name for n in graph.nodes]
