"""Values come into the spaces in which they are read, by as few copies as possible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Copy, Graph, GraphError, Input, Node, TensorType, Value, verify
from byparts_opset.evaluate import evaluate
from byparts_optimize import spaces, transfer

NAMES = ("host", "npu:0", "cuda:0")


def f32(*dims: int) -> TensorType:
    return TensorType("f32", dims)


def by_op(node: Node) -> str:
    """Matrix products on the device, the rest on the host."""
    return "npu:0" if isinstance(node.op, ops.MatMul) else "host"


def copies(graph: Graph) -> list[tuple[Value, str]]:
    return [(n.inputs[0], n.op.space) for n in graph.nodes if isinstance(n.op, Copy)]


def assert_in_place(
    graph: Graph, space_of: Callable[[Node], str], inputs: list[str], outputs: list[str | None]
) -> None:
    """Each node's inputs are in its space; no value is copied to where it is, nor twice."""
    where = spaces(graph, space_of, inputs)
    at = {v: where[i] for v, i in graph.ids.items()}
    for node in graph.nodes:
        if isinstance(node.op, Copy):
            assert at[node.inputs[0]] == node.op.source != node.op.space
            assert not isinstance(getattr(node.inputs[0].node, "op", None), Copy)
        else:
            read = [v for i, v in enumerate(node.inputs) if i not in node.op.ignores]
            assert {at[v] for v in read} <= {space_of(node)}
    assert all(s is None or at[v] == s for v, s in zip(graph.outputs, outputs, strict=True))
    assert len(set(copies(graph))) == len(copies(graph))


def test_a_value_is_copied_once_for_all_who_read_it() -> None:
    x, w = Input(f32(2, 2), None, "x"), Input(f32(2, 2), None, "w")
    y = ops.tanh(x)
    graph = Graph.of([x, w], [ops.matmul(y, w), ops.matmul(y, y), ops.exp(y)])

    after = verify(transfer(graph, by_op, ["host", "npu:0"], ["host", None, "host"]))

    assert [n.op.name for n in after.nodes] == [
        *("tanh", "copy", "matmul", "matmul", "exp", "copy"),
    ]
    assert [space for _, space in copies(after)] == ["npu:0", "host"]
    assert spaces(after, by_op, ["host", "npu:0"]) == (
        *("host", "npu:0", "host", "npu:0", "npu:0", "npu:0", "host", "host"),
    )


def test_what_is_in_its_space_stays_the_same_graph() -> None:
    x = Input(f32(2), None, "x")
    graph = Graph.of([x], [ops.exp(x), x])

    assert transfer(graph, by_op, ["host"], ["host", None]) is graph


def test_copies_by_hand_are_kept_or_dropped() -> None:
    """One that nobody needs falls away; one there and back is the value itself."""
    x = Input(f32(2, 2), None, "x")
    there = Copy("npu:0", "host")(x)
    back = Copy("host", "npu:0")(there)
    graph = Graph.of([x], [ops.exp(back), ops.matmul(x, there)])

    after = verify(transfer(graph, by_op, ["host"], [None, None]))

    assert [n.op.name for n in after.nodes] == ["exp", "copy", "matmul"] or [
        n.op.name for n in after.nodes
    ] == ["copy", "exp", "matmul"]
    assert copies(after) == [(x, "npu:0")]


def test_an_input_that_is_an_output_is_copied_where_it_is_wanted() -> None:
    x = Input(f32(2), None, "x")

    after = transfer(Graph.of([x], [x, x]), by_op, ["npu:0"], ["host", None])

    assert copies(after) == [(x, "host")] and after.outputs[1] is x


def test_a_space_for_each_input_and_output() -> None:
    x = Input(f32(2), None, "x")
    graph = Graph.of([x], [ops.exp(x)])
    with pytest.raises(GraphError, match=r"0 spaces of inputs \(\), and the program has 1 inputs"):
        transfer(graph, by_op, [], [None])
    with pytest.raises(GraphError, match=r"2 spaces of outputs \(None, 'host'\), and the program"):
        transfer(graph, by_op, ["host"], [None, "host"])
    with pytest.raises(GraphError, match="give one for each"):
        spaces(graph, by_op, ["host", "host"])


@given(graph=graphs(), seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=100)
def test_random_programs_in_random_spaces(graph: Graph, seed: int) -> None:
    """Values and effects as before, each node in its space, the fewest copies; once is enough."""

    def space_of(node: Node) -> str:
        return NAMES[crc32(f"{node.op}{seed}".encode()) % 3]

    inputs = [NAMES[(seed + i) % 3] for i in range(len(graph.inputs))]
    wanted = [(*NAMES, None)[(seed // 7 + i) % 4] for i in range(len(graph.outputs))]

    after = verify(transfer(graph, space_of, inputs, wanted))

    assert_in_place(after, space_of, inputs, wanted)
    assert [n.op for n in after.nodes if not isinstance(n.op, Copy)] == [n.op for n in graph.nodes]
    assert len(copies(after)) == _fewest(graph, space_of, inputs, wanted)
    assert transfer(after, space_of, inputs, wanted) is after
    arrays, printed = arguments(graph, seed % 100), [StringIO(), StringIO()]
    results = []
    for program, told in zip((graph, after), printed, strict=True):
        with redirect_stdout(told):
            results.append(evaluate(program, *arrays))
    assert printed[0].getvalue() == printed[1].getvalue()
    for before, now in zip(*results, strict=True):
        np.testing.assert_array_equal(before, now)


def _fewest(
    graph: Graph, space_of: Callable[[Node], str], inputs: list[str], wanted: list[str | None]
) -> int:
    """Pairs of a value and a space that reads it and is not its own."""
    where = spaces(graph, space_of, inputs)
    reads = {
        (v, space_of(node))
        for node in graph.nodes
        for i, v in enumerate(node.inputs)
        if i not in node.op.ignores
    }
    reads |= {(v, s) for v, s in zip(graph.outputs, wanted, strict=True) if s is not None}
    return sum(where[graph.ids[v]] != space for v, space in reads)
