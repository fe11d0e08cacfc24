"""Slices, transposes, concats and paddings inside of regions, against `evaluate`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_graph_ir import Fused, Graph, Input, Refused, TensorType, Value
from byparts_kernels_native.region import RegionLoops
from byparts_opset.evaluate import evaluate
from byparts_runtime import build as build_program
from byparts_tensor_ir.interpret import interpret

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
UNARY = (ops.exp, ops.tanh, ops.neg, ops.relu)
MOVES: dict[str, Callable[[Value], Value]] = {
    "transpose": lambda x: ops.transpose(x, (1, 0)),
    "reverse": lambda x: ops.reverse(x, (1,)),
    "first": lambda x: x[:, : x.type.dims[1] // 2],
    "last": lambda x: x[:, -(x.type.dims[1] // 2) :],
    "every second": lambda x: x[::2, 1::2],
    "pad": lambda x: ops.pad(x, ((0, 1), (2, 0)), 3),
    "put back": lambda x: ops.SliceGradient((None, 1), (None, None), (1, 2))(
        x, Input(TensorType("f32", (x.type.dims[0], 2 * x.type.dims[1] + 1)))
    ),
    "twice": lambda x: ops.concat([x, x], 1),
    "tile": lambda x: ops.tile(x, (2, 3)),
    "rows": lambda x: ops.mean(x, 1, keepdims=True),
    "columns": lambda x: ops.max(x, 0, keepdims=True),
}


def _graph(data: st.DataObject) -> Graph:
    """Elementwise ops and movements of matrices, joined where their shapes agree."""
    rows, columns = data.draw(st.sampled_from([(3, 8), (4, 4), (2, 34), (6, 1)]))
    shapes = [(rows, columns), (rows, 2 * columns), (columns, rows), (columns,), (rows, columns)]
    inputs = [Input(TensorType("f32", s), name=f"x{i}") for i, s in enumerate(shapes)]
    values: list[Value] = list(inputs)
    for _ in range(data.draw(st.integers(1, 8))):
        x = data.draw(st.sampled_from([*values, *values[-2:]]))
        kind = data.draw(st.sampled_from(["unary", "binary", "concat", *MOVES]))
        if kind == "unary":
            values.append(data.draw(st.sampled_from(UNARY))(x))
        elif kind == "binary":
            same = [y for y in values if y.type == x.type]
            values.append(data.draw(st.sampled_from([ops.add, ops.mul]))(x, same[-1]))
        elif x.type.rank == 2 and kind == "concat":
            some = [y for y in values if y.type.rank == 2 and y.type.dims[0] == x.type.dims[0]]
            values.append(ops.concat([x, *some[-2:]], 1))
        elif x.type.rank == 2 and x.type.size < 500:
            y = MOVES[kind](x)
            values += [y] if y.type.size else []
    made = values[len(inputs) :]
    likes = {v for y in made if y.node for v in y.node.inputs if isinstance(v, Input)}
    unnamed = [v for v in likes if v not in inputs]
    return Graph.of([*inputs, *unnamed], made[-data.draw(st.integers(1, 3)) :])


def _arrays(graph: Graph) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.uniform(-1, 1, v.type.dims).astype(np.float32) for v in graph.inputs]


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_region_with_movements_computes_what_its_ops_do(data: st.DataObject) -> None:
    """Apart, and with each pair (input, output) as one array."""
    graph = _graph(data)
    try:
        loops = RegionLoops(graph)
    except Refused:
        return
    expected = evaluate(graph, *_arrays(graph))
    for pair in (None, *loops.inplace):
        arrays = _arrays(graph)
        results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
        if pair is not None:
            results[pair[1]] = arrays[pair[0]]
        params = zip([*arrays, *results], loops.func.params, strict=True)
        interpret(loops.func, *[a.reshape([d.attr for d in b.shape]) for a, b in params])
        for got, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, wanted, 2e-5, 2e-5, err_msg=f"{loops.func}\n{pair}")


@needs_compiler
@given(st.data())
@settings(deadline=None, max_examples=10)
def test_programs_with_movements_agree_with_evaluate(data: st.DataObject) -> None:
    """With the regions that are joined, in the memory that is planned."""
    graph = _graph(data)
    arrays = _arrays(graph)
    program = build_program(graph, backends=("native", "numpy"))
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, 2e-5, 2e-5, err_msg=str(graph))


def _input(*dims: int) -> Input:
    return Input(TensorType("f32", dims))


def _pairs(inputs: list[Input], *outputs: Value) -> tuple[tuple[int, int], ...]:
    return RegionLoops(Graph.of(inputs, outputs)).inplace


def test_an_output_lies_over_an_input_only_where_it_is_read_at_that_index() -> None:
    x, y = _input(4, 4), _input(4, 4)
    assert _pairs([x, y], y + ops.reverse(x, (0,))) == ((1, 0),)
    assert _pairs([x, y], y + ops.transpose(x, (1, 0))) == ((1, 0),)


def test_parts_that_are_read_and_written_in_place_are_in_place() -> None:
    """The gates of a cell: each part is read where it is written, and nowhere else."""
    x = _input(2, 8)
    assert _pairs([x], ops.concat([ops.exp(x[:, :4]), ops.tanh(x[:, 4:])], 1)) == ((0, 0),)


def test_parts_that_change_places_are_not_in_place() -> None:
    x = _input(2, 8)
    assert _pairs([x], ops.concat([x[:, 4:], x[:, :4]], 1)) == ()


def test_an_input_that_is_read_whole_before_is_overwritten_in_any_order() -> None:
    """The row of exponentials is kept, so it is written back reversed only when it is complete."""
    x = _input(3, 8)
    e = ops.exp(x)
    assert _pairs([x], e / ops.sum(e, 1, keepdims=True)) == ((0, 0),)
    assert _pairs([x], ops.reverse(x, (1,)) / ops.sum(x, 1, keepdims=True)) == ()


def test_a_reshape_that_moves_more_than_ones_is_refused() -> None:
    x = _input(4, 6)
    with pytest.raises(Refused, match="reshape from f32\\[4,6\\] to f32\\[6,4\\] has no axes"):
        RegionLoops(Graph.of([x], [ops.exp(ops.reshape(x, (6, 4)))]))


@needs_compiler
def test_a_cell_of_an_lstm_is_one_region_each_way() -> None:
    """Gates are sums that are cut apart; their gradients are put together where they are made."""
    w, h, c = _input(2, 12), _input(2, 12), _input(2, 3)
    a, f, g, o = ops.split(w + h, 4, 1)
    new = ops.sigmoid(f) * c + ops.sigmoid(a) * ops.tanh(g)
    forward = Graph.of([w, h, c], [ops.sigmoid(o) * ops.tanh(new), new])
    backward = Graph.of([w, h, c], [ops.concat([a * c, f * c, g + c, ops.neg(o)], 1)])
    for graph in (forward, backward):
        program = build_program(graph, backends=("native", "numpy"))
        assert [type(s.node.op) for s in program.steps] == [Fused]
        arrays = _arrays(graph)
        for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
            np.testing.assert_allclose(got, wanted, 2e-5, 2e-5)


def test_what_is_transposed_is_read_once_for_several_loops() -> None:
    """The elements of a row are far from each other: the row is kept, not read three times."""
    x = _input(40, 30)
    (y,) = ops.Softmax(-1).decompose(ops.transpose(x, (1, 0))) or ()
    first, *later = str(RegionLoops(Graph.of([x], [y])).func).split("in range(40)")[1:]
    assert "in0[" in first
    assert not any("in0[" in loop for loop in later)


@needs_compiler
def test_a_dear_value_is_not_computed_again_for_overlapping_slices() -> None:
    x = _input(2, 64)
    y = ops.exp(x)
    program = build_program(Graph.of([x], [y[:, 1:] + y[:, :-1]]), backends=("native", "numpy"))
    assert len(program.steps) == 2


@needs_compiler
def test_a_value_whose_shape_alone_is_read_is_no_reason_to_join() -> None:
    x, dy = _input(4, 6), _input(4, 3)
    y = ops.exp(x)
    graph = Graph.of([x, dy], [y, ops.SliceGradient((None, 0), (None, 3))(dy, y)])
    program = build_program(graph, backends=("native", "numpy"))
    arrays = _arrays(graph)
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, 2e-5)


@needs_compiler
def test_many_values_are_not_kept_alive_for_one_sum() -> None:
    """A sum of forty products would need all of them at once."""
    xs = [_input(4, 4) for _ in range(40)]
    y: Value = xs[0] @ xs[0]
    for x in xs[1:]:
        y = y + x @ x
    program = build_program(Graph.of(xs, [y]), backends=("native", "numpy"))
    assert max(len(s.node.inputs) for s in program.steps) <= 16
