"""Reverse mode: what it builds, what it refuses, and where it does not look."""

from __future__ import annotations

import numpy as np
import pytest

from byparts_autodiff import GradientError, gradients
from byparts_graph_ir import (
    FLOATS,
    ArgumentError,
    Graph,
    Input,
    Node,
    Op,
    TensorType,
    Types,
    Value,
    verify,
)
from byparts_opset import argmax, cast, exp, print_value, stop_gradient
from byparts_opset.evaluate import evaluate

X23 = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def f32(*shape: int | str | None, name: str = "x") -> Input:
    return Input(TensorType("f32", shape), None, name)


def gradient_of(y: Value, xs: list[Value], dys: Value | None = None) -> Graph:
    inputs = [v for v in (*xs, dys) if isinstance(v, Input)]
    return verify(Graph.of(inputs, gradients(y, xs, dys)))


class Opaque(Op):
    """y = x, by an op that says nothing of gradients."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: object) -> tuple[object, ...]:
        return (x,)


class Halves(Op):
    """Two outputs, and an integer one that counts."""

    def infer(self, x: TensorType) -> Types:
        return (x, x, TensorType("i32", ()))

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (x / 2, x / 2, np.asarray(x.size, np.int32))

    def gradient(self, node: Node, dy: Value, dz: Value, dn: Value) -> tuple[Value, ...]:
        assert dn.type == TensorType("i32", ())
        return (dy * 0.5 + dz * 0.5,)


class Wrong(Op):
    """y = x, with a gradient rule that is not right."""

    how: str

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        other = {"dtype": cast(dy, "f64"), "shape": f32(7)}
        return (dy, dy) if self.how == "count" else (other[self.how],)


def test_tf_gr_1_a_sum_passes_the_gradient_on() -> None:
    """TF-GR-1: the gradients of x + y are ones."""
    x, y = f32(2, 3), f32(2, 3, name="y")

    dx, dy = evaluate(gradient_of(x + y, [x, y]), X23, X23)

    np.testing.assert_array_equal(dx, np.ones((2, 3)))
    np.testing.assert_array_equal(dy, np.ones((2, 3)))


def test_tf_gr_2_a_factor_is_the_gradient() -> None:
    """TF-GR-2: the gradient of 14 x is 14."""
    x = f32(2, 3)

    np.testing.assert_array_equal(evaluate(gradient_of(14 * x, [x]), X23)[0], np.full((2, 3), 14))


def test_nn_gr_11_is_the_program_one_would_write() -> None:
    """NN-GR-11: the gradient of exp(x0 * x1) by x0, with a head gradient, is (dy * y) * x1."""
    x0, x1, dy = f32(2, name="x0"), f32(2, name="x1"), f32(2, name="dy")
    y = exp(x0 * x1)

    graph = Graph.of([x0, x1, dy], gradients(y, x0, dy))

    assert [n.op.name for n in graph.nodes] == ["mul", "exp", "mul", "mul"]
    _, e, first, second = graph.nodes
    assert first.inputs == (dy, e.outputs[0])
    assert second.inputs == (first.outputs[0], x1)


def test_contributions_are_added_as_they_arrive() -> None:
    """The gradient of x * x + x is (dy + dy * x) + dy * x, as NNVM's n-ary sum had it."""
    x, dy = f32(2), f32(2, name="dy")

    graph = Graph.of([x, dy], gradients(x * x + x, x, dy))

    assert [n.op.name for n in graph.nodes] == ["mul", "add", "mul", "add"]
    first, inner, second, outer = graph.nodes
    assert first.inputs == second.inputs == (dy, x)
    assert inner.inputs == (dy, first.outputs[0])
    assert outer.inputs == (inner.outputs[0], second.outputs[0])


@pytest.mark.parametrize("recurrence_first", [False, True])
def test_a_weight_of_a_recurrence_is_summed_from_the_last_step(recurrence_first: bool) -> None:
    """So that no gradient has to wait for that of the first step, whichever way it is written."""
    w, h = f32(2, 2, name="w"), f32(2, 2, name="h")
    inputs = [f32(2, 2, name=f"x{t}") for t in range(4)]
    y: Value = h
    for x in inputs:
        y = exp(y) + x * w if recurrence_first else x * w + exp(y)
    (dw,) = gradients(y, [w])
    summed: list[Value] = []
    while dw.node and dw.node.op.name == "add":
        dw, term = dw.node.inputs
        summed.insert(0, term)

    read = [[v for v in term.node.inputs if v in inputs] for term in (dw, *summed) if term.node]
    assert read == [[x] for x in reversed(inputs)]


def test_t2_second_and_third_order() -> None:
    """T2: gradients have gradients; for x * x they are 2 x, 2 and 0, for exp all are exp."""
    x = f32(2, 3)
    for y, expected in ((x * x, (2 * X23, 2 + 0 * X23, 0 * X23)), (exp(x), (np.exp(X23),) * 3)):
        for want in expected:
            (y,) = gradients(y, x, unreachable="zeros")
            np.testing.assert_allclose(evaluate(Graph.of([x], [y]), X23)[0], want, rtol=1e-6)


def test_t3_any_number_of_uses() -> None:
    """T3: a value used five times gets five contributions."""
    x = f32(2, 3)

    (dx,) = evaluate(gradient_of(x + x + x + x + x, [x]), X23)

    np.testing.assert_array_equal(dx, np.full((2, 3), 5))


def test_t4_out_of_reach_is_zeros_on_request() -> None:
    """T4: an x that no y depends on gets zeros of its type."""
    x, z = f32(2, 3), f32(4, name="z")
    (dz,) = gradients(x * x, [z], unreachable="zeros")

    assert evaluate(Graph.of([z], [dz]), np.ones(4, np.float32))[0].tolist() == [0, 0, 0, 0]


def test_swapped_arguments_are_an_error_that_says_so() -> None:
    """They gave zeros: a weight does not depend on its loss."""
    w = f32(3, name="w")
    loss = exp(w * w)

    with pytest.raises(GradientError, match=r"computed from ys\[0\]; swap them, as in gradients"):
        gradients([w], loss)


def test_t4_out_of_reach_is_an_error() -> None:
    """T4: the error names the x and where it was made."""
    x, z = f32(2, 3), f32(4, name="z")

    with pytest.raises(GradientError, match=r"xs\[1\] 'z' \(made at .*py:\d+\) of type f32\[4\]"):
        gradients(x * x, [x, z])


def test_an_unknown_word_for_unreachable_is_an_error() -> None:
    """A typo is not taken for "zeros"."""
    with pytest.raises(GradientError, match="'zero' is not 'error' or 'zeros'"):
        gradients(f32(2), f32(2), unreachable="zero")  # type: ignore[arg-type]


def test_t5_an_output_without_a_gradient_gets_zeros() -> None:
    """T5: one output of two is used; the rule sees zeros for the other, and for the integer one."""
    x = f32(2, 3)
    _, half, _ = Halves().outputs_of(x)

    np.testing.assert_array_equal(
        evaluate(gradient_of(half, [x]), X23)[0], np.full((2, 3), 0.5, np.float32)
    )


def test_t6_an_op_that_passes_none_is_named() -> None:
    """T6: through an index no gradient goes; asked for an error, it names the op and its line."""
    x = f32(2, 3)
    y = exp(cast(argmax(x, 1), "f32"))

    with pytest.raises(GradientError, match=r"none passes argmax, created at .*test_gradients"):
        gradients(y, x)


def test_t6_an_op_off_the_path_is_not_asked() -> None:
    """T6: an op without a gradient, on something that no x reaches, is no obstacle."""
    x, z = f32(2, 3), f32(2, 3, name="z")

    (dx,) = gradients(x * Opaque()(z), x)

    np.testing.assert_array_equal(evaluate(Graph.of([x, z], [dx]), X23, 3 * X23)[0], 3 * X23)


def test_an_op_on_the_path_without_a_gradient_is_named() -> None:
    """The error says which op, where it was made, and how to cut the path."""
    x = f32(2, 3)
    y = Opaque()(x)

    with pytest.raises(GradientError, match=r"opaque has no gradient.*\(f32\[2,3\]\)") as caught:
        gradients(y * y, x)
    notes = "\n".join(getattr(caught.value, "__notes__", [])) or str(caught.value)
    assert "test_gradients.py" in notes
    assert "stop_gradient" in notes


def test_stop_gradient_cuts_the_path() -> None:
    """x * stop_gradient(x) has the gradient stop_gradient(x), and what is behind is not asked."""
    x = f32(2, 3)

    (dx,) = evaluate(gradient_of(x * stop_gradient(Opaque()(x)), [x]), X23)

    np.testing.assert_array_equal(dx, X23)


def test_what_stands_behind_stop_gradient_alone_is_not_asked() -> None:
    """As the advice of the error says: wrap the input of an op that has no gradient."""
    x = f32(2, 3)

    (dx,) = evaluate(gradient_of(Opaque()(stop_gradient(x)) * x, [x]), X23)

    np.testing.assert_array_equal(dx, X23)


def test_nn_grad_multi_a_blocked_branch_adds_nothing() -> None:
    """NN-GRAD-multi: two losses, one behind stop_gradient: its own input gets zeros."""
    x, z = f32(2, 3), f32(2, 3, name="z")
    shared = x * x

    ys = [shared * 2, shared + stop_gradient(z * x)]
    dx, dz = gradients(ys, [x, z], unreachable="zeros")

    gx, gz = evaluate(Graph.of([x, z], [dx, dz]), X23, X23)
    np.testing.assert_array_equal(gx, 6 * X23)
    np.testing.assert_array_equal(gz, 0 * X23)


def test_nn_grad_api_several_ys_with_and_without_dys() -> None:
    """NN-GRAD-api: the given head gradients are what the program reads; others are ones."""
    x, y, d1 = f32(2, 3), f32(2, 3, name="y"), f32(2, 3, name="d1")
    z1, z2 = x * y, x + y

    dx, dy = gradients([z1, z2], [x, y], [d1, None])

    gx, gy = evaluate(Graph.of([x, y, d1], [dx, dy]), X23, 2 * X23, 3 * X23)
    np.testing.assert_array_equal(gx, 6 * X23 * X23 + 1)
    np.testing.assert_array_equal(gy, 3 * X23 * X23 + 1)


def test_a_y_listed_twice_counts_twice() -> None:
    """NNVM kept only the last seed."""
    x, d1, d2 = f32(2), f32(2, name="d1"), f32(2, name="d2")
    y = 3 * x

    graph = Graph.of([x, d1, d2], gradients([y, y], x, [d1, d2]))

    ones = np.ones(2, np.float32)
    assert evaluate(graph, ones, 5 * ones, 7 * ones)[0].tolist() == [36, 36]


def test_x_may_be_an_intermediate_value_or_a_y() -> None:
    """The gradient of y by itself is its seed; by a value in between, the rest of the way."""
    x, dy = f32(2), f32(2, name="dy")
    h = exp(x)
    y = 3 * h

    by_h, by_y = gradients(y, [h, y], dy)

    assert by_y is dy
    assert [n.op.name for n in Graph.of([x, dy], [by_h]).nodes] == ["fill", "mul"]


def test_integers_carry_no_gradient() -> None:
    """What passes through an integer is constant, whatever made it."""
    x = f32(2, 3)
    steps = cast(cast(x, "i32"), "f32")

    np.testing.assert_array_equal(evaluate(gradient_of(x * steps, [x]), X23)[0], X23)


def test_an_integer_y_or_x_is_an_error() -> None:
    """There is nothing to differentiate, and the message says where the value was made."""
    x, i = f32(2), Input(TensorType("i32", (2,)), None, "i")

    with pytest.raises(GradientError, match=r"ys\[0\] \(made at .*\) is i32\[2\]"):
        gradients(cast(x, "i32"), x)
    with pytest.raises(GradientError, match=r"xs\[0\] 'i' \(made at .*\) is i32\[2\]"):
        gradients(x, i)


def test_dys_have_to_fit() -> None:
    """One for each y, of its type."""
    x = f32(2, 3)

    with pytest.raises(GradientError, match=r"dys\[0\] is f32\[3\] and its y is f32\[2,3\]"):
        gradients(x * x, x, f32(3))
    with pytest.raises(GradientError, match="2 dys for 1 ys"):
        gradients(x * x, x, [x, x])
    with pytest.raises(ArgumentError, match=r"gradients: xs is list \[3\]; it takes"):
        gradients(x, [3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("dtype", r"gives f64\[2\] for input 0, which is f32\[2\]"),
        ("shape", r"gives f32\[7\] for input 0, which is f32\[2\]"),
        ("count", "gives 2 gradients for 1 inputs"),
    ],
)
def test_a_wrong_rule_is_reported_with_its_op(how: str, says: str) -> None:
    """A rule's mistake is found where it is made, not three ops later."""
    x = f32(2)

    with pytest.raises(GradientError, match=f"wrong: its gradient rule {says}"):
        gradients(Wrong(how)(x), x)


def test_backward_nodes_carry_the_line_of_the_forward_one() -> None:
    """So an error in a backward kernel names the user's line."""
    x = f32(2, 3)
    y = exp(x)
    line = y.node.where if y.node else ""

    (dx,) = gradients(y * 2, x)

    assert line
    assert dx.node is not None
    assert dx.node.where == line


def test_shapes_may_be_unknown() -> None:
    """A bias of unknown rank gets its gradient summed to its shape, when the program runs."""
    x, b = f32("n", 3), Input(TensorType("f32", None), None, "b")

    graph = gradient_of(x * b, [x, b])

    dx, db = evaluate(graph, X23, np.full(3, 2, np.float32))
    np.testing.assert_array_equal(dx, np.full((2, 3), 2))
    np.testing.assert_array_equal(db, X23.sum(0))


def test_effects_pass_the_gradient_and_happen_once() -> None:
    """Printing is no obstacle, and the backward program does not print again."""
    x = f32(2, 3)
    y = exp(print_value(x))

    graph = Graph.of([x], [y, *gradients(y, x)])

    assert sum(n.op.effect for n in graph.nodes) == 1


@pytest.mark.long
def test_depth_costs_no_stack_and_no_square() -> None:
    """20 000 nodes deep, with every value used twice."""
    x = f32(2)
    y: Value = x
    for _ in range(10_000):
        y = y + y * 1e-6

    graph = Graph.of([x], gradients(y, x))

    (dx,) = evaluate(graph, np.ones(2, np.float32))
    np.testing.assert_allclose(dx, np.full(2, (1 + 1e-6) ** 10_000), rtol=1e-3)


def test_only_what_ys_need_is_visited() -> None:
    """A value computed from x that no y needs gets no gradient nodes."""
    x = f32(2)
    Opaque()(exp(x))

    assert "exp" not in str(Graph.of([x], gradients(x * x, x)))
    assert "f32" in FLOATS
