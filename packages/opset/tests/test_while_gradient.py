"""The gradient of a while loop: rounds forwards on a stack, and backwards from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_graph_ir import (
    Graph,
    Input,
    Node,
    ShapeError,
    TensorType,
    Value,
    from_json,
    infer_inputs,
    parse,
    specialize,
    to_json,
    verify,
)
from byparts_opset import WhileGradient
from byparts_opset.bodies import pull_back
from byparts_opset.evaluate import evaluate

I32 = TensorType("i32", ())
Body = Callable[..., Sequence[Value]]


def f64(*shape: int | str | None) -> TensorType:
    return TensorType("f64", shape)


F64 = f64(2)


def step(x: Value, y: Value, w: Value) -> tuple[Value, Value]:
    return ops.sin(x * w) + y, y * ops.exp(-x)


def looped(rounds: int, body: Body = step, kind: TensorType = F64) -> Graph:
    """The last x and y after so many rounds, of (x, y, w)."""
    x, y, w = (Input(kind, None, name) for name in "xyw")
    _, *states = ops.while_loop(
        lambda i, x, y, w: i < rounds,
        lambda i, x, y, w: (i + 1, *body(x, y, w)),
        (ops.fill(0, "i32"), x, y),
        (w,),
    )
    return Graph.of((x, y, w), states)


def unrolled(rounds: int, body: Body = step) -> Graph:
    """The same without a loop."""
    inputs: list[Value] = [Input(f64(2), None, name) for name in "xyw"]
    x, y, w = inputs
    for _ in range(rounds):
        x, y = body(x, y, w)
    return Graph.of(inputs, (x, y))


def reverse(graph: Graph) -> Graph:
    """(inputs, dy of each output) -> dx of each input."""
    return pull_back(graph, range(len(graph.outputs)), range(len(graph.inputs)))


def numbers(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(count)
    return [rng.uniform(0.2, 0.9, 2) for _ in range(count)]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_gradients_are_those_of_the_unrolled_loop(rounds: int, order: int) -> None:
    """Of the first order and of the second, for no rounds too."""
    loop, twin = looped(rounds), unrolled(rounds)
    for _ in range(order):
        loop, twin = reverse(loop), reverse(twin)
    arrays = numbers(len(loop.inputs))

    for got, want in zip(evaluate(loop, *arrays), evaluate(twin, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


BODIES: tuple[Body, ...] = (
    lambda x, y, w: (y, x),
    lambda x, y, w: (x * y, y),
    lambda x, y, w: (ops.tanh(x + w), x * w),
    lambda x, y, w: (ops.sin(y) - x, ops.cos(w) * y),
    lambda x, y, w: (w, x / (y + 2.0)),
)


@given(which=st.lists(st.sampled_from(BODIES), min_size=1, max_size=3), rounds=st.integers(0, 4))
@settings(deadline=None, max_examples=40)
def test_random_bodies(which: list[Body], rounds: int) -> None:
    """Composed of parts that swap states, keep them and drop them."""

    def body(x: Value, y: Value, w: Value) -> Sequence[Value]:
        for part in which:
            x, y = part(x, y, w)
        return x, y

    loop, twin, arrays = reverse(looped(rounds, body)), reverse(unrolled(rounds, body)), numbers(5)
    for got, want in zip(evaluate(loop, *arrays), evaluate(twin, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_a_loop_in_a_loop() -> None:
    """The body backwards has a stack of its own."""

    def inner(x: Value, y: Value, w: Value) -> Sequence[Value]:
        _, x, y = ops.while_loop(
            lambda i, *_: i < 2,
            lambda i, x, y, w: (i + 1, *step(x, y, w)),
            (ops.fill(0, "i32"), x, y),
            (w,),
        )
        return x, y

    loop, twin, arrays = reverse(looped(3, inner)), reverse(unrolled(6)), numbers(5)
    for got, want in zip(evaluate(loop, *arrays), evaluate(twin, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def gradient_node(graph: Graph) -> Node:
    (node,) = [n for n in reverse(graph).nodes if isinstance(n.op, WhileGradient)]
    return node


def test_only_states_that_the_reverse_reads_are_kept() -> None:
    """Neither the counter nor a sum."""
    kept = {
        "all": gradient_node(looped(3)),
        "one": gradient_node(looped(3, lambda x, y, w: (ops.sin(x), y + w))),
        "none": gradient_node(looped(3, lambda x, y, w: (x + w, y - x))),
    }

    assert {name: n.op.kept for name, n in kept.items() if isinstance(n.op, WhileGradient)} == {
        "all": (1, 2),
        "one": (1,),
        "none": (),
    }


def test_a_loop_without_floats_has_no_gradient() -> None:
    """Nothing is carried."""
    i = Input(I32)
    (last,) = ops.while_loop(lambda i: i < 3, lambda i: i + 1, (i,))
    assert last.node is not None and last.node.op.gradient(last.node, last) == (None,)


def test_it_prints_and_loads() -> None:
    """Text and JSON."""
    graph = verify(reverse(looped(3)))

    assert parse(str(graph), ops.OPS) == graph
    assert from_json(to_json(graph), ops.OPS) == graph


def test_named_dimensions_are_bound() -> None:
    """A gradient for any n, specialized, is that for this n; and shapes are found backwards."""
    named = verify(reverse(looped(3, kind=f64("n"))))
    static = verify(specialize(named, [f64(2), *[None] * 4]))
    node = gradient_node(looped(3))
    arrays = numbers(5)

    assert [v.type for v in static.outputs] == [f64(2)] * 3
    for got, want in zip(evaluate(static, *arrays), evaluate(named, *arrays), strict=True):
        np.testing.assert_array_equal(got, want)
    given = [TensorType(v.type.dtype, (None,) * len(v.type.dims)) for v in node.inputs]
    inputs = [Input(t) for t in (*given[:1], f64(2), *given[2:])]
    found = infer_inputs(Graph.of(inputs, node.op.outputs_of(*inputs)))
    assert list(found) == [v.type for v in node.inputs]


def test_what_is_not_asked_for_is_left_out() -> None:
    """A gradient of one input alone carries less."""
    node = gradient_node(looped(3))
    op, inputs, outputs = node.op.narrow((0,)) or pytest.fail("it narrows")

    assert outputs == (0, 1) and isinstance(op, WhileGradient)  # without the sum for w
    arrays = [np.int32(0), *numbers(len(node.inputs) - 1)]
    whole, less = node.op.evaluate(*arrays), op.evaluate(*[arrays[i] for i in inputs])
    for o, got in zip(outputs, less, strict=True):
        np.testing.assert_array_equal(got, whole[o])


def test_an_error_says_in_which_round() -> None:
    """Of the body forwards, and of the body backwards, where the last round is the first."""
    table, x = Input(f64(6)), Input(f64())
    cond = Graph.of((i := Input(I32), v := Input(f64()), w := Input(f64(6))), (i < 9,))
    body = Graph.of((i, v, w), (i + 1, v + ops.gather(w, i)))
    dv, j = Input(f64()), Input(I32)
    back = Graph.of((dv, j, w), (dv * ops.gather(w, 9 - j),))
    zero = ops.fill(0, "i32")
    forwards = WhileGradient(cond, body, back, (0,)).outputs_of(zero, x, x, table)
    backwards = WhileGradient(cond, body, back, (0,), 5).outputs_of(zero, x, x, table)

    said = "body of while_gradient, round 7", "back of while_gradient, round 2"
    for outputs, where in zip((forwards, backwards), said, strict=True):
        with pytest.raises(Exception, match="out of range") as caught:
            evaluate(Graph.of((table, x), outputs), np.arange(6.0), np.float64(1))
        notes = "\n".join(caught.value.__notes__)  # type: ignore[attr-defined]
        assert f"in {where}" in notes


def test_what_does_not_fit_is_refused() -> None:
    """With the types."""
    x, node = Input(f64(2)), gradient_node(looped(3))
    op = node.op
    assert isinstance(op, WhileGradient)
    with pytest.raises(ShapeError, match=r"kept is \(1, 7\); the body has 3 states"):
        WhileGradient(op.cond, op.body, op.back, (1, 7))
    with pytest.raises(ShapeError, match=r"takes at least 6 inputs, got 1"):
        op.infer(x.type)
    wrong = [v.type for v in node.inputs]
    wrong[3] = f64(5)
    with pytest.raises(ShapeError, match=r"f64\[5\]"):
        op.infer(*wrong)


def test_flops_are_those_of_all_three() -> None:
    """For one round, or so many as there are at most."""
    node = gradient_node(looped(3))
    op, types = node.op, [v.type for v in node.inputs]
    assert isinstance(op, WhileGradient)
    bounded = WhileGradient(op.cond, op.body, op.back, op.kept, 10)

    assert op.flops(*types) > 3 and bounded.flops(*types) == 10 * op.flops(*types)
