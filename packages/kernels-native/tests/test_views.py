"""Programs with slices, transposes, concats and paddings inside of regions, against `evaluate`."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from region_graphs import arrays_of, graphs_that_move, input_of

import byparts_opset as ops
from byparts_graph_ir import Fused, Graph, Value
from byparts_opset.evaluate import evaluate
from byparts_runtime import build as build_program

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


@given(graphs_that_move())
@settings(deadline=None, max_examples=10)
def test_programs_with_movements_agree_with_evaluate(graph: Graph) -> None:
    """With the regions that are joined, in the memory that is planned."""
    arrays = arrays_of(graph)
    program = build_program(graph, backends=("native", "numpy"))
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, 2e-5, 2e-5, err_msg=str(graph))


def test_a_cell_of_an_lstm_is_one_region_each_way() -> None:
    """Gates are sums that are cut apart; their gradients are put together where they are made."""
    w, h, c = input_of(2, 12), input_of(2, 12), input_of(2, 3)
    a, f, g, o = ops.split(w + h, 4, 1)
    new = ops.sigmoid(f) * c + ops.sigmoid(a) * ops.tanh(g)
    forward = Graph.of([w, h, c], [ops.sigmoid(o) * ops.tanh(new), new])
    backward = Graph.of([w, h, c], [ops.concat([a * c, f * c, g + c, ops.neg(o)], 1)])
    for graph in (forward, backward):
        program = build_program(graph, backends=("native", "numpy"))
        assert [type(s.node.op) for s in program.steps] == [Fused]
        arrays = arrays_of(graph)
        for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
            np.testing.assert_allclose(got, wanted, 2e-5, 2e-5)


def test_a_dear_value_is_not_computed_again_for_overlapping_slices() -> None:
    x = input_of(2, 64)
    y = ops.exp(x)
    program = build_program(Graph.of([x], [y[:, 1:] + y[:, :-1]]), backends=("native", "numpy"))
    assert len(program.steps) == 2


def test_a_value_whose_shape_alone_is_read_is_no_reason_to_join() -> None:
    x, dy = input_of(4, 6), input_of(4, 3)
    y = ops.exp(x)
    graph = Graph.of([x, dy], [y, ops.SliceGradient((None, 0), (None, 3))(dy, y)])
    program = build_program(graph, backends=("native", "numpy"))
    arrays = arrays_of(graph)
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, 2e-5)


def test_many_values_are_not_kept_alive_for_one_sum() -> None:
    """A sum of forty products would need all of them at once."""
    xs = [input_of(4, 4) for _ in range(40)]
    y: Value = xs[0] @ xs[0]
    for x in xs[1:]:
        y = y + x @ x
    program = build_program(Graph.of(xs, [y]), backends=("native", "numpy"))
    assert max(len(s.node.inputs) for s in program.steps) <= 16
