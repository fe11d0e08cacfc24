"""Of all ops with bodies: they are closed, typed, printed, and their dimensions have names."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import (
    ArgumentError,
    Graph,
    Input,
    ShapeError,
    TensorType,
    Value,
    from_json,
    has_effect,
    infer_inputs,
    parse,
    specialize,
    to_json,
    verify,
)
from byparts_opset.evaluate import evaluate


def f64(*shape: int | str | None) -> TensorType:
    return TensorType("f64", shape)


def given(name: str, *shape: int | str | None) -> Input:
    return Input(f64(*shape), None, name)


def everything(n: int | str) -> Graph:
    """A scan in a branch in a call, and a loop in a loop."""
    x, w = given("x", n, 3), given("w", 3)

    def inner(i: Value, x: Value, w: Value) -> tuple[Value, ...]:
        (total,) = ops.scan(lambda s, row: (s + row,), (w,), (x,))
        return i + 1, x + total

    def outer(x: Value, w: Value) -> tuple[Value, ...]:
        zero = ops.fill(0, "i32")
        _, y = ops.while_loop(lambda i, *_: i < 2, inner, (zero, x), (w,), max_rounds=9)
        return (y,)

    def chosen(x: Value, w: Value) -> tuple[Value, ...]:
        return ops.cond(ops.sum(w) > 0, outer, lambda x, w: (x * w,), (x, w))

    return Graph.of((x, w), ops.call(chosen, x, w))


def test_programs_of_bodies_print_and_load() -> None:
    """Text and JSON hold graphs in graphs."""
    graph = verify(everything(4))

    assert parse(str(graph), ops.OPS) == graph
    assert from_json(to_json(graph), ops.OPS) == graph


def test_named_dimensions_are_bound_in_bodies() -> None:
    """A program for any n, specialized, is the program for that n."""
    named = verify(everything("n"))
    x, w = np.arange(12.0).reshape(4, 3), np.array([1.0, -0.5, 0.25])

    static = verify(specialize(named, [f64(4, 3), None]))

    assert named.outputs[0].type == f64("n", 3)
    assert static.outputs[0].type == f64(4, 3)
    assert static == specialize(everything(4))
    np.testing.assert_array_equal(evaluate(static, x, w)[0], evaluate(named, x, w)[0])


def test_names_of_a_body_are_its_own() -> None:
    """What the body calls n is m for one caller and k for another; both know their own."""
    x = given("x", "n", 2)
    body = Graph.of((x,), (ops.tanh(x),))
    a, b = given("a", "m", 2), given("b", "k", 2)
    graph = Graph.of((a, b), (*ops.call(body, a), *ops.call(body, b)))

    bound = verify(specialize(graph, [f64(5, 2), None]))

    assert [v.type for v in graph.outputs] == [f64("m", 2), f64("k", 2)]
    assert [v.type for v in bound.outputs] == [f64(5, 2), f64("k", 2)]


def test_a_name_that_no_input_of_a_body_has_is_the_programs() -> None:
    """As where a body fills a shape."""
    x, s = given("x", "n"), given("s")
    body = Graph.of((s,), (s + ops.Fill(2.0, "f64", ("n",))(),))
    graph = Graph.of((x, s), (x * ops.call(body, s)[0],))

    bound = verify(specialize(graph, [f64(4), None]))

    assert graph.outputs[0].type == f64("n")
    assert [v.type for v in bound.outputs] == [f64(4)]


def test_what_the_body_knows_of_its_inputs_is_known_outside() -> None:
    """Shape rules run backwards through bodies."""
    x, w = given("x", 2, 3), given("w", None, None)
    (y,) = ops.call(lambda x, w: x @ w + ops.zeros((2, 5), "f64"), x, w)
    s, xs = given("s", 2, 5), given("xs", 9, 2, 3)
    (last,) = ops.scan(lambda s, x, w: (s + x @ w,), (s,), (xs,), (w,))

    assert infer_inputs(Graph.of((x, w), (y,)))[1] == f64(3, None)
    assert infer_inputs(Graph.of((s, xs, w), (last,)))[2] == f64(3, None)


def test_an_effect_in_a_body_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Once a round, though nobody reads what the loop gives."""
    x = given("x")
    loud = ops.scan(lambda s: ops.print_value(s + 1, "s"), (x,), length=3)
    quiet = ops.scan(lambda s: s + 1, (x,), length=3)

    graph = verify(Graph.of((x,), (x,), order=(*loud, *quiet)))
    evaluate(graph, np.float64(0))

    assert [n.op.name for n in graph.nodes] == ["scan"] and has_effect(graph.nodes[0].op)
    assert capsys.readouterr().out.count("s") == 3


W = given("w", 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: ops.call(lambda x: x * W, x),
        lambda x: ops.cond(ops.sum(x) > 0, lambda x: x, lambda x: x * W, (x,)),
        lambda x: ops.while_loop(lambda x: ops.sum(x) > 0, lambda x: x * W, (x,)),
        lambda x: ops.scan(lambda x: x * W, (x,), length=2),
    ],
    ids=["call", "cond", "while_loop", "scan"],
)
def test_a_body_that_reads_the_program_around_it_is_told_how(make: object) -> None:
    """With the value, where it is read, and what to write."""
    with pytest.raises(
        ArgumentError,
        match=r"depends on the value 'w' \(made at .*\) of type f64\[3\], read at .*, which is none "
        r"of its arguments; a body is closed: pass it in, as in .*\bw\b",
    ):
        make(given("x", 3))  # type: ignore[operator]


def test_what_a_function_returns_is_checked() -> None:
    """Values, or nothing is traced."""
    with pytest.raises(ArgumentError, match=r"call: the function returned 3; return a value"):
        ops.call(lambda x: 3, given("x"))
    with pytest.raises(ArgumentError, match=r"scan: body returned None"):
        ops.scan(lambda x: None, (given("x"),), length=1)


def test_a_graph_of_other_types_is_refused_with_the_way() -> None:
    """The op, what it takes, and what it got."""
    x = given("x", 2)
    body = Graph.of((x,), (ops.neg(x),))
    with pytest.raises(ShapeError, match=r"call: the graph inside takes \(f64\[2\]\), got \(\)"):
        ops.call(body)
    with pytest.raises(ShapeError, match=r"f64\[2\] in the graph and cannot be f64\[3\]") as caught:
        ops.call(body, given("y", 3))
    assert "in a body of call" in caught.value.__notes__  # type: ignore[attr-defined]
