"""Slices, transposes, concats and paddings inside of regions, against `evaluate`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from region_graphs import arrays_of, graphs_that_move, input_of

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Refused, Value
from byparts_op_loops.regions.region import RegionLoops
from byparts_opset.evaluate import evaluate
from byparts_tensor_ir.interpret import interpret


@given(graphs_that_move())
@settings(deadline=None, max_examples=200)
def test_a_region_with_movements_computes_what_its_ops_do(graph: Graph) -> None:
    """Apart, and with each pair (input, output) as one array."""
    try:
        loops = RegionLoops(graph)
    except Refused:
        return
    expected = evaluate(graph, *arrays_of(graph))
    for pair in (None, *loops.inplace):
        arrays = arrays_of(graph)
        results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
        if pair is not None:
            results[pair[1]] = arrays[pair[0]]
        params = zip([*arrays, *results], loops.func.params, strict=True)
        interpret(loops.func, *[a.reshape([d.attr for d in b.shape]) for a, b in params])
        for got, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, wanted, 2e-5, 2e-5, err_msg=f"{loops.func}\n{pair}")


def _pairs(inputs: list[Input], *outputs: Value) -> tuple[tuple[int, int], ...]:
    return RegionLoops(Graph.of(inputs, outputs)).inplace


def test_an_output_lies_over_an_input_only_where_it_is_read_at_that_index() -> None:
    x, y = input_of(4, 4), input_of(4, 4)
    assert _pairs([x, y], y + ops.reverse(x, (0,))) == ((1, 0),)
    assert _pairs([x, y], y + ops.transpose(x, (1, 0))) == ((1, 0),)


def test_parts_that_are_read_and_written_in_place_are_in_place() -> None:
    """The gates of a cell: each part is read where it is written, and nowhere else."""
    x = input_of(2, 8)
    assert _pairs([x], ops.concat([ops.exp(x[:, :4]), ops.tanh(x[:, 4:])], 1)) == ((0, 0),)


def test_parts_that_change_places_are_not_in_place() -> None:
    x = input_of(2, 8)
    assert _pairs([x], ops.concat([x[:, 4:], x[:, :4]], 1)) == ()


def test_an_input_that_is_read_whole_before_is_overwritten_in_any_order() -> None:
    """The row of exponentials is kept, so it is written back reversed only when it is complete."""
    x = input_of(3, 8)
    e = ops.exp(x)
    assert _pairs([x], e / ops.sum(e, 1, keepdims=True)) == ((0, 0),)
    assert _pairs([x], ops.reverse(x, (1,)) / ops.sum(x, 1, keepdims=True)) == ()


def test_a_reshape_that_moves_more_than_ones_is_refused() -> None:
    x = input_of(4, 6)
    with pytest.raises(Refused, match="reshape from f32\\[4,6\\] to f32\\[6,4\\] has no axes"):
        RegionLoops(Graph.of([x], [ops.exp(ops.reshape(x, (6, 4)))]))


def test_what_is_transposed_is_read_once_for_several_loops() -> None:
    """The elements of a row are far from each other: the row is kept, not read three times."""
    x = input_of(40, 30)
    (y,) = ops.Softmax(-1).decompose(ops.transpose(x, (1, 0))) or ()
    first, *later = str(RegionLoops(Graph.of([x], [y])).func).split("in range(40)")[1:]
    assert "in0[" in first
    assert not any("in0[" in loop for loop in later)
