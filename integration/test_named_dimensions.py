"""Programs of named dimensions: lowered and compiled once, right at every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs.named import named_campaign
from byparts_graph_ir import Graph, GraphError, Input, ShapeError, TensorType
from byparts_graph_ir.passes.sizes import is_sized
from byparts_memplan import plan
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, SymbolicProgram, build
from named_graphs import ROWS, SIZES, network, numbers

BACKENDS = pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)


@BACKENDS
def test_one_program_serves_every_size(backends: tuple[str, ...]) -> None:
    """Also none and one; a size that was seen again."""
    graph, weights = network()
    program = build(graph, backends=backends)

    for n in SIZES:
        feeds = [numbers(n, 4), *weights]
        for got, want in zip(program(*feeds), evaluate(graph, *feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert isinstance(program, SymbolicProgram)
    assert program.feed_types[0] == ROWS.type


def test_a_size_is_a_program_of_its_own() -> None:
    graph, weights = network()
    program = build(graph)

    assert "512*n" not in program.explain() and "32*n bytes" in program.explain()
    sized = program.at(n=6) if isinstance(program, SymbolicProgram) else program
    assert (
        sized.why == program.why == ("compiled once for every size of f32[n,4], f32[4,8], f32[8]")
    )
    assert sized.feed_types[0] == TensorType("f32", (6, 4))
    assert sized(numbers(6, 4), *weights)[0].shape == (6, 8)
    assert "sizes: " in program.explain(width=200) and "n = 6" in program.explain(width=200)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, r"at\(\): the names of this program are at\(n=\.\.\.\)"),
        ({"m": 3}, r"at\(m=3\): the names of this program are at\(n=\.\.\.\)"),
    ],
)
def test_names_that_are_wrong_are_told(sizes: dict[str, int], message: str) -> None:
    program = build(network()[0])
    assert isinstance(program, SymbolicProgram)

    with pytest.raises(GraphError, match=message):
        program.at(**sizes)


def test_one_name_of_two_numbers_names_both_feeds() -> None:
    x, y = (Input(TensorType("f32", ("n",)), name=name) for name in "xy")
    program = build(Graph.of([x, y], [x + y]))

    with pytest.raises(ShapeError, match="dimension 'n' is 2 at input 'x' and 3 at input 'y'"):
        program(numbers(2), numbers(3))


def test_a_name_beside_a_number_may_be_one() -> None:
    """x + y of f32[n] and f32[4] holds for n = 4 and, by broadcasting, for n = 1."""
    x, y = Input(TensorType("f32", ("n",)), name="x"), Input(TensorType("f32", (4,)), name="y")
    program = build(Graph.of([x, y], [x + y, x * 2.0]))

    for n in (4, 1):
        np.testing.assert_array_equal(program(numbers(n), numbers(4))[0], numbers(n) + numbers(4))
    with pytest.raises(ShapeError, match="shapes do not broadcast"):
        program(numbers(3), numbers(4))


def test_open_dimensions_are_named_by_equality() -> None:
    """Rows and labels of as many; then of two numbers, which only another family is for."""
    x, y = (Input(TensorType("f32", (None,)), name=name) for name in "xy")
    graph, executor = Graph.of([x, y], [x + y]), Executor()
    whys = []
    for sizes in ((5, 5), (9, 9), (3, 1)):
        arrays = [numbers(n) for n in sizes]
        np.testing.assert_array_equal(executor(graph, *arrays)[0], arrays[0] + arrays[1])
        types = tuple([TensorType("f32", a.shape) for a in arrays])
        whys.append(executor.program(graph, types).why)

    assert whys[0] == whys[1] == "compiled once for every size of f32[_size_0], f32[_size_0]"
    assert "f32[?]" in whys[2] or "built for one size" in whys[2]


def test_names_of_the_runtime_are_refused() -> None:
    x = Input(TensorType("f32", ("_size_0", 4)), name="x")
    graph = Graph.of([x], [x * 2.0])

    message = "dimension '_size_0' of f32.* names that begin with '_size_' are given by the runtime"
    with pytest.raises(GraphError, match=message):
        build(graph, backends=("numpy",))
    with pytest.raises(GraphError, match=message):
        Executor(backends=("numpy",))(graph, numbers(2, 4))


def test_a_name_inside_a_body() -> None:
    """A scan over n rows: its trip count is the name."""
    state, row = Input(TensorType("f32", (4,))), Input(TensorType("f32", (4,)))
    total = state + row
    body = Graph.of([state, row], [total, ops.tanh(total)])
    zero = ops.fill(0.0, shape=(4,))
    last, rows = ops.Scan(body, 1, 1).outputs_of(zero, ROWS)
    graph = Graph.of([ROWS], [last, rows])
    program = build(graph)

    for n in SIZES:
        for got, want in zip(program(numbers(n, 4)), evaluate(graph, numbers(n, 4)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_number_inside_a_body_may_be_an_expression_of_names() -> None:
    """The types in the body are those of one number; the number of rows is a field of an op."""
    y = Input(TensorType("f32", ()), name="y")
    body = Graph.of([y], [y * ops.Fill("_size_0")()])
    node = ops.Call(body)(Input(TensorType("f32", ()))).node

    assert node is not None and not is_sized(node)


def test_a_smaller_size_takes_the_plan_of_a_larger_one() -> None:
    """The planner is asked for 64 and for 100 rows, not for 63 to 50."""
    sizes = []

    def planner(graph: Graph, **facts: Any) -> Any:
        sizes.append(graph.inputs[0].type.dims[0])
        return plan(graph, **facts)

    graph, weights = network()
    program = build(graph, planner=planner)
    for n in (64, 63, 50, 100, 64):
        program(numbers(n, 4), *weights)

    assert sizes == [64, 100]


def test_a_pass_that_fails_on_names_is_told() -> None:
    """Not in silence, since each size is compiled then."""

    def numbers_alone(graph: Graph) -> Graph:
        graph.inputs[0].type.shape[0] + 0  # type: ignore[operator,index]
        return graph

    with pytest.warns(
        RuntimeWarning, match="each size is built by itself, .* there is a TypeError"
    ):
        program = build(Graph.of([ROWS], [ROWS * 2.0]), passes=(numbers_alone,))
    np.testing.assert_array_equal(program(numbers(2, 4))[0], numbers(2, 4) * 2)


@BACKENDS
def test_random_programs_of_a_named_dimension(backends: tuple[str, ...]) -> None:
    """Each at six sizes, 0 and 1 among them, whichever comes first."""
    report = named_campaign(backends, 30 if backends == ("numpy",) else 5)

    assert not report.failures, str(report)
    assert report.shared or backends != ("numpy",)


@pytest.mark.long
@BACKENDS
def test_a_hundred_programs_of_a_named_dimension(backends: tuple[str, ...]) -> None:
    """Of generated code 25: two thirds of the time of each is NumPy's and the passes'."""
    report = named_campaign(backends, 100 if backends == ("numpy",) else 25, 2000)

    assert not report.failures, str(report)


@pytest.mark.long
@BACKENDS
def test_thousands_of_programs_at_sizes_of_a_name(backends: tuple[str, ...]) -> None:
    """Of 500 programs, of 100 in generated code, six sizes each."""
    report = named_campaign(backends, 500 if backends == ("numpy",) else 100, 1000)

    assert not report.failures, str(report)
