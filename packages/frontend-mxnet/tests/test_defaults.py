from types import SimpleNamespace
from typing import Any

import pytest

import byparts_opset as ops
from byparts_frontend_mxnet import defaults
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime.building.discover import find_backends


def test_programs_take_backends_of_the_host_where_the_best_one_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside a GPU "auto" means its memory, and arrays are in that of the host."""
    real = find_backends
    far: Any = (SimpleNamespace(space=SimpleNamespace(name="cuda:0")),)
    monkeypatch.setattr(defaults, "find_backends", lambda b: far if b == "auto" else real(b))
    backends = defaults.usual_backends()
    assert {b.space.name for b in backends} == {"host"}
    assert backends[-1].name == "numpy"


def test_a_planner_is_asked_for_little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size of all values; one without an effort is asked as it is."""
    x = Input(TensorType("f32", (4,)))
    graph, asked = Graph.of([x], [ops.tanh(x)]), []

    def plan(graph: Graph, effort: int = 0) -> None:
        asked.append(effort)

    monkeypatch.setattr(defaults, "find_planner", lambda _: plan)
    defaults.quick_planner(graph)
    monkeypatch.setattr(defaults, "find_planner", lambda _: lambda graph: asked.append(-1))
    defaults.quick_planner(graph)
    assert asked == [100_000, -1]
