"""The loops of regions of elementwise ops, broadcasts and reductions, against `evaluate`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from region_graphs import arrays_of, graphs_that_reduce, input_of

import byparts_opset as ops
from byparts_graph_ir import Graph, Refused, Region, reads_of
from byparts_op_loops.regions.joins import joins
from byparts_op_loops.regions.region import RegionLoops
from byparts_opset.evaluate import evaluate
from byparts_tensor_ir.interpret import interpret


@given(graphs_that_reduce(), st.sampled_from([0, 16]), st.sampled_from([2, 20]))
@settings(deadline=None)
def test_the_loops_of_a_region_compute_what_its_ops_do(
    graph: Graph, few_columns: int, dear: int
) -> None:
    """However many columns are few, and whatever is dear."""
    loops, arrays = _loops(graph, few_columns, dear), arrays_of(graph)
    if loops is None:
        return
    expected = evaluate(graph, *arrays)
    results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
    _interpret(loops, [*arrays, *results])
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5, err_msg=str(loops.func))


@given(graphs_that_reduce(), st.sampled_from([0, 16]))
@settings(deadline=None)
def test_in_place_is_in_place(graph: Graph, few_columns: int) -> None:
    """Each pair (input, output) may be one array."""
    if _loops(graph, few_columns) is not None:
        _check_in_place(graph, few_columns)


def _loops(graph: Graph, few_columns: int = 0, dear: int = 20) -> RegionLoops | None:
    """The loops of a region; none where its values have no axes in common."""
    try:
        return RegionLoops(graph, few_columns, dear)
    except Refused:
        return None


def test_an_input_that_is_read_after_a_loop_is_not_written_before_it() -> None:
    """x is read again when the sum is complete, so relu may not lie over it."""
    x, w = input_of(4, 1), input_of(4, 20)
    graph = Graph.of([x, w], [ops.relu(x), x + ops.sum(w, 1, keepdims=True)])
    assert _check_in_place(graph) == ((0, 1),)


def test_what_is_kept_for_a_row_is_read_before_results_are_written() -> None:
    """The exponentials of x are kept, and relu(a) may lie over x only after x was read."""
    a, x = input_of(4, 20), input_of(4, 20)
    e = ops.exp(x)
    graph = Graph.of([a, x], [ops.relu(a), a + e / ops.sum(e, 1, keepdims=True)])
    _check_in_place(graph)


def _check_in_place(graph: Graph, few_columns: int = 0) -> tuple[tuple[int, int], ...]:
    """Run the loops with each pair as one array; the pairs."""
    loops, arrays = RegionLoops(graph, few_columns), arrays_of(graph)
    expected = evaluate(graph, *arrays)
    for i, o in loops.inplace:
        mine = [a.copy() for a in arrays]
        results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
        results[o] = mine[i]
        _interpret(loops, [*mine, *results])
        for got, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5, err_msg=str(loops.func))
    return loops.inplace


def _interpret(loops: RegionLoops, arrays: list[Any]) -> None:
    """Run the loops on views of the arrays in the shapes of the buffers."""
    params = zip(arrays, loops.func.params, strict=True)
    interpret(loops.func, *[a.reshape([d.attr for d in b.shape]) for a, b in params])


def test_softmax_is_one_loop_over_rows() -> None:
    x = input_of(6, 37)
    (y,) = ops.Softmax(-1).decompose(x) or ()
    text = str(RegionLoops(Graph.of([x], [y])).func)
    assert text.count("in range(6)") == 1
    assert text.count("in range(37):  # vectorize") == 3
    assert "f32[37]" in text.split("local", 1)[1]  # one row of exponentials, not all of them


def test_sums_of_few_columns_have_the_loop_over_rows_inside() -> None:
    """Where a backend says how many are few."""
    x = input_of(30, 9)
    graph = Graph.of([x], [ops.sum(x, 0)])
    nests = [re.findall(r"in range\((\d+)\)", str(RegionLoops(graph, n).func)) for n in (0, 8, 9)]
    assert [n[:2] for n in nests] == [["30", "9"], ["30", "9"], ["9", "30"]]


def test_a_joined_region_has_few_inputs() -> None:
    """As many as the backend says."""
    a, b, c = (input_of(4, 4) for _ in range(3))
    graph = Graph.of([a, b, c], [a * b + c])
    first, second = (Region(node, reads_of(graph)) for node in graph.nodes)
    assert joins(first, second, 3) is not None
    assert joins(first, second, 2) is None


def test_what_two_loops_read_is_kept_where_it_is_complete() -> None:
    """Of t = sigmoid(x) * x + y, which a mean over rows and the output read, t itself is kept."""
    x, y = input_of(4, 40), input_of(4, 40)
    t = ops.sigmoid(x) * x + y
    graph = Graph.of([x, y], [t - ops.sum(t, axis=(1,), keepdims=True)])
    text = str(RegionLoops(graph).func)

    assert text.count("sigmoid") == 1 + 1  # where t is stored, and where it is summed
    assert text.rpartition("for")[2].count("in0") == text.rpartition("for")[2].count("in1") == 0
