"""Outputs of loops that nobody reads are not computed."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, Op, TensorType, Value, verify
from byparts_opset import If, Scan, While
from byparts_opset.evaluate import evaluate
from byparts_optimize import prune


def given(name: str, *shape: int) -> Input:
    return Input(TensorType("f64", shape), None, name)


def op_of(graph: Graph) -> Op:
    (node,) = (n for n in graph.nodes if n.op.name != "fill")
    return node.op


def test_rows_and_sums_that_nobody_reads() -> None:
    """A state that only feeds itself goes, and so does what only it reads."""
    s, t, xs, ys = given("s"), given("t"), given("xs", 4), given("ys", 4)
    last, _, _ = ops.scan(lambda s, t, x, y: (s + x, t + y, y), (s, t), (xs, ys))
    graph = Graph.of((s, t, xs, ys), (last,))

    pruned = verify(prune(graph))

    op = op_of(pruned)
    assert isinstance(op, Scan) and (op.states, op.sequences) == (1, 1)
    assert len(op.body.nodes) == 1 and pruned.inputs == graph.inputs
    arrays = np.float64(1), np.float64(2), np.arange(4.0), np.arange(4.0)
    assert evaluate(pruned, *arrays) == evaluate(graph, *arrays)
    assert prune(pruned) == pruned


def test_states_that_others_depend_on_stay() -> None:
    """Through any number of rounds; those that the condition asks for too."""
    i, a, b, c = Input(TensorType("i32", ()), None, "i"), given("a"), given("b"), given("c")
    states: tuple[Value, ...] = ops.while_loop(
        lambda i, a, b, c: i < 5,
        lambda i, a, b, c: (i + 1, a + b, ops.sin(b), c * 2.0),
        (i, a, b, c),
    )
    graph = Graph.of((i, a, b, c), (states[1],))

    op = op_of(verify(prune(graph)))

    assert isinstance(op, While) and op.states == 3
    arrays = np.int32(0), np.float64(1), np.float64(2), np.float64(3)
    assert evaluate(prune(graph), *arrays) == evaluate(graph, *arrays)


def test_branches_give_what_is_read() -> None:
    """And take what they read."""
    x, w = given("x", 2), given("w", 2)
    y, _ = ops.cond(ops.sum(x) > 0, lambda x, w: (x, w), lambda x, w: (-x, x * w), (x, w))

    pruned = verify(prune(Graph.of((x, w), (y,))))

    op = pruned.nodes[-1].op
    assert isinstance(op, If) and len(op.then.inputs) == len(op.otherwise.outputs) == 1


def test_an_effect_stays_in_its_loop(capsys: pytest.CaptureFixture[str]) -> None:
    """Though nobody reads what the loop gives; all else goes."""
    s, t = given("s"), given("t")
    states = ops.scan(lambda s, t: (ops.print_value(s + 1, "s"), t * 2), (s, t), length=3)
    graph = Graph.of((s, t), (t,), order=states)

    pruned = verify(prune(graph))
    evaluate(pruned, np.float64(0), np.float64(1))

    op = op_of(pruned)
    assert isinstance(op, Scan) and op.states == 1
    assert capsys.readouterr().out.count("s") == 3


def test_gradients_of_some_inputs_cost_no_others() -> None:
    """Only w is asked for: nothing is stacked for xs."""
    h, xs, w = given("h", 2), given("xs", 4, 2), given("w", 2)
    (last,) = ops.scan(lambda h, x, w: ops.tanh(h * w + x), (h,), (xs,), (w,))
    graph = Graph.of((h, xs, w), gradients(ops.sum(last), w))

    backward = prune(graph).nodes[-1]

    assert len(graph.nodes[-1].outputs) == 3
    assert len(backward.outputs) == 2
