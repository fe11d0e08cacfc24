"""`build` checks every plan: one that is wrong is refused, whoever planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_conformance.graphs import graphs
from byparts_graph_ir import Graph, GraphError, Input, TensorType, Value
from byparts_memplan import PlanError, plan
from byparts_memplan.check_plan import _facts, _Machine
from byparts_runtime import Variable, build
from byparts_runtime.building.check_plan import check_run
from byparts_runtime.building.planned_graph import PlannedGraph

X = Input(TensorType("f32", (4, 4)), name="x")


def network() -> Graph:
    y = ops.tanh(X @ X) + X
    return Graph.of((X,), (ops.softmax(y), ops.sum(y)))


def at_zero(graph: Graph, **facts: Any) -> Any:
    """Every value at offset 0, as a template does it before its author has thought."""
    right = plan(graph, **facts)
    places = [p if p.root is not None else replace(p, offset=0) for p in right.locations]
    return replace(right, locations=tuple(places))


def over_inputs(graph: Graph, **facts: Any) -> Any:
    """Each result on the first input of its node, in place or not."""
    right = plan(graph, **facts)
    places = list(right.locations)
    for node in graph.nodes:
        for v in node.outputs if node.inputs else ():
            places[graph.ids[v]] = places[graph.ids[node.inputs[0]]]
    return replace(right, locations=tuple(places))


def workspaces_first(graph: Graph, **facts: Any) -> Any:
    """All workspaces at offset 0, where values are."""
    right = plan(graph, **facts)
    return replace(right, workspaces=(0,) * len(graph.nodes))


def unnamed(graph: Graph, **facts: Any) -> Any:
    """One location too few."""
    right = plan(graph, **facts)
    return replace(right, locations=right.locations[:-1])


@pytest.mark.parametrize(
    ("planner", "backend"),
    [(p, b) for p in (at_zero, over_inputs, unnamed) for b in ("numpy", "native")]
    + [(workspaces_first, "numpy")],  # native needs none here
)
def test_a_wrong_planner_is_refused(planner: Callable[..., Any], backend: str) -> None:
    """On every backend, before anything runs."""
    with pytest.raises(GraphError, match=r"^plan: "):
        build(network(), planner=planner, backends=(backend,))


def test_the_error_names_the_values_that_share_bytes() -> None:
    with pytest.raises(GraphError, match=r"reads value 0 at \[0, 64\), where value 1 is") as caught:
        build(Graph.of((X,), (ops.tanh(X) + X,)), planner=at_zero, backends=("numpy",))
    assert str(caught.value).startswith("plan: node 1 (add)")


def test_a_variable_is_not_written_by_a_planner_who_was_not_offered_it() -> None:
    """A step that reads the old value afterwards is not in place."""
    w = Input(TensorType("f32", (4, 4)), name="w")
    new = w - 0.1 * gradients(ops.sum(ops.tanh(X @ w)), [w])[0]
    variable = Variable("w", np.eye(4, dtype=np.float32))

    def greedy(graph: Graph, **facts: Any) -> Any:
        right = plan(graph, **facts)
        places = list(right.locations)
        places[graph.ids[graph.nodes[0].outputs[0]]] = places[1]
        return replace(right, locations=tuple(places))

    graph = Graph.of((X, w), (ops.sum(w), new))
    with pytest.raises(GraphError, match="plan: "):
        build(graph, variables=(variable,), updates=(variable,), planner=greedy)


def products(x: Value) -> Value:
    return ops.tanh(x) * ops.sin(x) + ops.cos(x) * ops.exp(x)


@pytest.mark.parametrize("dims", [(4, 4), (0, 4)])
def test_a_wrong_plan_of_a_body_is_refused(dims: tuple[int, int]) -> None:
    """The planner is asked for each body; of no elements nothing can be wrong."""
    x = Input(TensorType("f32", dims), name="x")
    (y,) = ops.cond(ops.sum(x) > 0, products, lambda x: x, (x,))
    graph = Graph.of((x,), (y,))

    def wrong(graph: Graph, **facts: Any) -> Any:
        of_body = any(node.op == ops.Sin() for node in graph.nodes)
        return (at_zero if of_body else plan)(graph, **facts)

    if dims == (4, 4):
        with pytest.raises(GraphError, match="plan: "):
            build(graph, planner=wrong, backends=("numpy",))
    else:
        build(graph, planner=wrong, backends=("numpy",))


@given(graphs(), st.data())
def test_a_moved_value_is_refused_where_the_oracle_refuses_it(graph: Graph, data: Any) -> None:
    """And where it does not the plan is taken: the fast check and the slow one agree."""
    external = data.draw(st.sets(st.sampled_from(range(len(graph.inputs))))) if graph.inputs else ()
    right = plan(graph, external=frozenset(external), alignment=1)
    check_run(PlannedGraph(graph, right, frozenset(external)))
    moved = data.draw(st.sampled_from(range(len(graph.values)))) if graph.values else None
    if moved is None or right.locations[moved].root is not None:
        return
    size = graph.values[moved].type.size_bytes
    if right.arena_bytes < size:
        return
    offset = data.draw(st.integers(0, right.arena_bytes - size))
    places = list(right.locations)
    places[moved] = replace(places[moved], offset=offset)
    wrong = replace(right, locations=tuple(places))

    moved_graph = PlannedGraph(graph, wrong, frozenset(external))
    assert _says(lambda: check_run(moved_graph), GraphError) == _says(
        _Machine(graph, wrong, _facts(graph, None)).run, PlanError
    )


def _says(check: Callable[[], None], error: type[Exception]) -> bool:
    """Whether the check refuses."""
    try:
        check()
    except error:
        return True
    return False
