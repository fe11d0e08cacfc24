"""One of two graphs."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.evaluate import evaluate

F64 = TensorType("f64", (2,))
X = np.array([3.0, -1.0])


def absolute() -> Graph:
    x = Input(F64, None, "x")
    return Graph.of((x,), ops.cond(ops.sum(x) > 0, lambda x: x, lambda x: -x, (x,)))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_of_two_runs(sign: float) -> None:
    """The other is not evaluated."""
    np.testing.assert_array_equal(evaluate(absolute(), sign * X)[0], X)


def test_an_error_says_in_which_branch() -> None:
    """As each body does."""
    x, i = Input(F64), Input(TensorType("i32", ()))
    row = ops.cond(i < 9, lambda x, i: ops.gather(x, i), lambda x, i: x[0], (x, i))

    with pytest.raises(Exception, match="index") as caught:
        evaluate(Graph.of((x, i), row), X, np.int32(5))

    assert "in then of if" in caught.value.__notes__  # type: ignore[attr-defined]


def test_branches_give_the_same_types() -> None:
    """Or both are said."""
    x, c = Input(F64), Input(TensorType("bool", ()))
    with pytest.raises(ShapeError, match=r"output 0 is f64\[2\] in then and f64\[\] in otherwise"):
        ops.cond(c, lambda x: x, lambda x: ops.sum(x), (x,))
    with pytest.raises(ShapeError, match=r"then gives 1 outputs and otherwise 2"):
        ops.cond(c, lambda x: x, lambda x: (x, x), (x,))
    with pytest.raises(ShapeError, match=r"if: the condition is \(bool\[2\]\); expected one bool"):
        ops.cond(x > 0, lambda x: x, lambda x: x, (x,))


def test_a_known_condition_leaves_one_branch() -> None:
    """As specialization finds."""
    x = Input(F64)
    y = ops.cond(ops.fill(False, "bool"), lambda x: x * 2, lambda x: ops.tanh(x), (x,))

    assert [n.op.name for n in specialize(Graph.of((x,), y)).nodes] == ["tanh"]


def test_what_the_branches_do_not_agree_on_is_unknown() -> None:
    """Of a shape, what holds of both."""
    x, y = (Input(TensorType("f64", (2, n))) for n in ("n", "m"))
    (z,) = ops.cond(ops.sum(x) > 0, lambda x, y: x, lambda x, y: y, (x, y))

    assert z.type == TensorType("f64", (2, None))
