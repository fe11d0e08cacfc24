"""A graph repeated while another says so."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import (
    Graph,
    GraphError,
    Input,
    Node,
    ShapeError,
    TensorType,
    Value,
    parse,
    specialize,
)
from byparts_opset import While
from byparts_opset.evaluate import evaluate

I32, F64 = TensorType("i32", ()), TensorType("f64", (2,))
X = np.array([3.0, -1.0])


def powers(n: int, max_rounds: int | None = None) -> Graph:
    """x * w, n times."""
    i, x, w = Input(I32, None, "i"), Input(F64, None, "x"), Input(F64, None, "w")
    states = ops.while_loop(
        lambda i, x, w: i < n, lambda i, x, w: (i + 1, x * w), (i, x), (w,), max_rounds=max_rounds
    )
    return Graph.of((i, x, w), states)


@pytest.mark.parametrize("rounds", [0, 1, 7])
def test_so_many_rounds(rounds: int) -> None:
    """None gives the first states."""
    i, x = evaluate(powers(rounds), np.int32(0), X, X)

    assert i == rounds
    np.testing.assert_allclose(x, X ** (rounds + 1))


def test_no_more_than_the_bound() -> None:
    """Whatever `cond` says."""
    assert evaluate(powers(100, max_rounds=3), np.int32(0), X, X)[0] == 3
    assert evaluate(powers(100, max_rounds=0), np.int32(0), X, X)[0] == 0


def test_an_error_says_in_which_round() -> None:
    """Counted from 1."""
    x = Input(TensorType("f64", (6,)))
    i = ops.fill(0, "i32")
    graph = Graph.of(
        (x,),
        ops.while_loop(
            lambda i, s, x: i < 10,
            lambda i, s, x: (i + 1, s + ops.gather(x, i)),
            (i, ops.fill(0.0, "f64")),
            (x,),
        ),
    )

    with pytest.raises(GraphError, match="6") as caught:
        evaluate(graph, np.arange(6.0))

    assert "in body of while, round 7" in caught.value.__notes__  # type: ignore[attr-defined]
    assert any("evaluating gather" in note for note in caught.value.__notes__)  # type: ignore[attr-defined]


def test_states_keep_their_types() -> None:
    """Or both are said, and what to do."""
    x, i = Input(F64), Input(I32)
    with pytest.raises(ShapeError, match=r"state 0 is f64\[2\], and the body makes f64\[4\] of it"):
        ops.while_loop(lambda x: ops.sum(x) < 9, lambda x: ops.concat((x, x)), (x,))
    with pytest.raises(ShapeError, match=r"state 0 is i32\[\], .* f32\[\] .* cast .* to 'i32'"):
        ops.while_loop(lambda i: i < 9, lambda i: ops.cast(i, "f32"), (i,))
    with pytest.raises(ShapeError, match=r"body returned 1 values for 2 states"):
        ops.while_loop(lambda x, i: i < 9, lambda x, i: x, (x, i))
    with pytest.raises(
        ShapeError, match=r"what cond gives is \(bool\[2\]\); expected one bool\[\]"
    ):
        ops.while_loop(lambda x: x < 9, lambda x: x, (x,))
    with pytest.raises(ShapeError, match=r"max_rounds is -1; at least 0"):
        ops.while_loop(lambda i: i < 9, lambda i: i + 1, (i,), max_rounds=-1)


def test_a_state_of_unknown_size_may_grow() -> None:
    """A dimension with a name keeps it; one that grows is unknown after the loop."""
    x = Input(TensorType("f64", ("n", None)))
    same = ops.while_loop(lambda x: ops.sum(x) < 9, lambda x: x + 1, (x,))
    grown = Graph.of(
        (x,), ops.while_loop(lambda x: ops.sum(x) < 9, lambda x: ops.concat((x, x), 1), (x,))
    )

    assert same[0].type == x.type
    static = specialize(grown, [TensorType("f64", (2, 3))])
    assert specialize(Graph.of((x,), same), [TensorType("f64", (2, 3))]).outputs[0].type.static
    assert static.outputs[0].type == TensorType("f64", (2, None))
    assert parse(str(static), ops.OPS) == static
    ones = np.ones((2, 3))
    for graph in (grown, static):
        np.testing.assert_array_equal(evaluate(graph, ones)[0], np.ones((2, 6)))


def test_a_state_grows_only_where_its_size_is_unknown() -> None:
    """Not along an axis with a name or a number, nor in rank or dtype."""
    x = Input(TensorType("f64", ("n", None)))
    wide = Graph.of(
        (x,), ops.while_loop(lambda x: ops.sum(x) < 9, lambda x: ops.concat((x, x)), (x,))
    )
    with pytest.raises(ShapeError, match=r"state 0 is f64\[2,3\], and the body makes f64\[4,3\]"):
        specialize(wide, [TensorType("f64", (2, 3))])
    with pytest.raises(ShapeError, match=r"state 0 is f64\[n,\?\], and the body makes f64"):
        ops.while_loop(lambda x: ops.sum(x) < 9, lambda x: ops.expand_dims(x, 0), (x,))


def test_a_loop_that_never_runs_is_nothing() -> None:
    """As its types are bound."""
    x = Input(F64)
    never = ops.while_loop(lambda x: ops.fill(False, "bool"), lambda x: x + 1, (x,))
    bound = ops.while_loop(lambda x: ops.sum(x) > 0, lambda x: x + 1, (x,), max_rounds=0)

    assert specialize(Graph.of((x,), (*never, *bound))).nodes == ()


def test_invariants_are_not_states() -> None:
    """They are inputs that the body gives nothing for."""
    node = powers(3).nodes[0]
    assert isinstance(node, Node) and isinstance(node.op, While)
    assert (node.op.states, len(node.inputs), len(node.outputs)) == (2, 3, 2)


def test_flops_are_those_of_all_rounds() -> None:
    """Two for the counter, two for the product."""
    node = powers(3, max_rounds=10).nodes[0]
    types: list[TensorType] = [v.type for v in node.inputs]
    one: Value = powers(3).nodes[0].outputs[0]

    assert node.op.flops(*types) == 10 * (1 + 1 + 1 + 1 + 2)
    assert one.node is not None and one.node.op.flops(*types) == 6
