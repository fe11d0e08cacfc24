"""Passes of strangers: one that is wrong is refused by name; one that is right runs beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Input, Node, Pass, TensorType
from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import build

F = TensorType("f32", (2, 3))
X, W = Input(F, name="x"), Input(F, name="w")
GRAPH = Graph.of((X, W), (ops.tanh(X * W), ops.sum(X)))


def drops_an_input(graph: Graph) -> Graph:
    return Graph.of(graph.inputs[:1], [ops.sum(graph.inputs[0]), ops.sum(graph.inputs[0])])


def drops_an_output(graph: Graph) -> Graph:
    return Graph.of(graph.inputs, graph.outputs[:1])


def swaps_outputs(graph: Graph) -> Graph:
    return Graph.of(graph.inputs, graph.outputs[::-1])


def swaps_inputs(graph: Graph) -> Graph:
    return Graph.of(graph.inputs[::-1], graph.outputs)


def changes_a_type(graph: Graph) -> Graph:
    return Graph.of(graph.inputs, (ops.cast(graph.outputs[0], "f16"), graph.outputs[1]))


def adds_an_input(graph: Graph) -> Graph:
    return Graph.of((*graph.inputs, Input(F, name="more")), graph.outputs)


def returns_nothing(graph: Graph) -> None:
    graph.rewrite(lambda node: None)


def returns_nodes(graph: Graph) -> Any:
    return graph.nodes


def takes_more(graph: Graph, level: int) -> Graph:
    return graph


def takes_nothing() -> Graph:
    return GRAPH


def reads_before(graph: Graph) -> Graph:
    return Graph(graph.inputs, graph.nodes[::-1], graph.outputs)


def reads_another_graph(graph: Graph) -> Graph:
    stranger = Node(ops.Tanh(), (Input(F, name="another"),))
    return Graph(graph.inputs, (*graph.nodes, stranger), (stranger.outputs[0], graph.outputs[1]))


SAYS = {
    drops_an_input: r"pass drops_an_input: the graph had 2 inputs \(x: f32\[2,3\], w: .* has 1",
    drops_an_output: r"had 2 outputs \(f32\[2,3\], f32\[\]\) and now has 1 \(f32\[2,3\]\)",
    swaps_outputs: r"had 2 outputs \(f32\[2,3\], f32\[\]\) and now has 2 \(f32\[\], f32\[2,3\]\)",
    swaps_inputs: r"pass swaps_inputs: .* \(x: f32\[2,3\], w: .*\) and now has 2 \(w: f32",
    changes_a_type: r"pass changes_a_type: .* 2 outputs .* and now has 2 \(f16\[2,3\]",
    adds_an_input: r"pass adds_an_input: the graph had 2 inputs .* and now has 3 ",
    returns_nothing: r"returns_nothing .* returned None, and a pass returns a Graph; does it lack",
    returns_nodes: r"returns_nodes .* returned \(Node",
    takes_more: r"takes_more .* is called as pass\(graph\): .* missing 1 required .*'level'",
    takes_nothing: r"takes_nothing .* is called as pass\(graph\): .* takes 0 positional",
    reads_before: r"G2: node \d .* reads f32\[2,3\] as input 0 before",
    reads_another_graph: r"G2: node .* \(tanh\)",
}


def notes(error: BaseException) -> list[str]:
    """What was added to an error on its way."""
    return list(getattr(error, "__notes__", ()))


@pytest.mark.parametrize("run", SAYS, ids=lambda run: run.__name__)
def test_a_wrong_pass_is_refused_by_name(run: Any) -> None:
    """With what it was given and what it returned, and which of the passes it was."""
    with pytest.raises(GraphError, match=SAYS[run]) as caught:
        build(GRAPH, passes=("auto", run), backends=("numpy",))
    assert f"while running pass {run.__name__} (3 of" in "".join(notes(caught.value))


@pytest.mark.parametrize("option", ["order", "legalize"])
@pytest.mark.parametrize("run", [drops_an_output, returns_nothing, takes_nothing])
def test_so_is_one_in_the_place_of_ours(option: str, run: Any) -> None:
    """Which are called with more than a graph."""

    def wrong(graph: Graph, *more: Any, **facts: Any) -> Any:
        return run(graph) if run is not takes_nothing else run()

    options: dict[str, Any] = {option: takes_nothing if run is takes_nothing else wrong}
    with pytest.raises(GraphError, match=r"pass|returned None|is called as"):
        build(GRAPH, backends=("numpy",), **options)


def test_an_error_inside_a_pass_stays_what_it_is() -> None:
    """A TypeError of its own is not taken for another signature."""

    def adds(graph: Graph) -> Graph:
        return graph + 1  # type: ignore[operator,return-value]  # what is tried

    with pytest.raises(TypeError, match="unsupported operand") as caught:
        build(GRAPH, passes=(adds,), backends=("numpy",))
    assert "while running pass adds (2 of 3)" in notes(caught.value)


def test_a_planner_of_another_signature_is_told_how_it_is_called() -> None:
    def plan(graph: Graph) -> Any:
        return None

    with pytest.raises(GraphError, match=r"called as plan\(graph, external=\.\.\., alignment="):
        build(GRAPH, planner=plan, backends=("numpy",))


def test_a_backend_with_a_wrong_pass_is_refused() -> None:
    from byparts_graph_ir.model.frozen import replace

    base = parts.backend("numpy")
    wrong = replace(base, passes=(Pass("shrink", drops_an_output),))
    with pytest.raises(GraphError, match="pass shrink: the graph had 2 outputs"):
        build(GRAPH, backends=(wrong,))


@pytest.mark.parametrize(
    ("passes", "names"),
    [
        ("auto+merge", ["optimize", "merge"]),
        ("merge + auto", ["merge", "optimize"]),
        (("auto", "merge"), ["optimize", "merge"]),
        ("merge", ["merge"]),
        ("auto", ["optimize"]),
        (("auto", lambda graph: graph), ["optimize", "<lambda>"]),
    ],
)
def test_a_pass_is_added_to_ours(passes: Any, names: list[str]) -> None:
    """By name in one text, or beside "auto" in a tuple; they run in this order."""
    program = build(GRAPH, passes=passes, backends=("numpy",))

    assert [stage.name for stage in program.stages][1 : 1 + len(names)] == names
    given = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(program(given, given)[0], np.tanh(given), rtol=1e-6)


@pytest.mark.parametrize("passes", ["auto+mine", "mine", ("auto", "mine"), "auto+"])
def test_an_unknown_pass_is_named(passes: Any) -> None:
    with pytest.raises(PartError, match=r"no pass '(mine)?'; installed: .*optimize"):
        build(GRAPH, passes=passes, backends=("numpy",))


def test_an_output_may_become_an_input_of_the_graph() -> None:
    """As x * 1 does, once it is simplified."""
    graph = Graph.of((X, W), (X * 1.0, X, W + 0.0))

    program = build(graph, backends=("numpy",))
    given = np.full((2, 3), 2, np.float32)
    assert [y.sum() for y in program(given, given)] == [12, 12, 12]
