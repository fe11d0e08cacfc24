"""What a program says of itself: the table, the profile, the trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_backend import add, build_by_hand, fail, flat, given, graph_of, notes, product, raising

from byparts_graph_ir import Backend, Kernel, Op, Table, TensorType
from byparts_runtime import Program, Store, Variable
from byparts_runtime.arrays.access import view
from byparts_runtime.memory.plan import Separate, SeparateLocation


def trained() -> tuple[Program, Variable]:
    w, x = given("w", 2, 2), given("x", 2, 2)
    v = Store().create("w", np.ones((2, 2), np.float32))
    new = add(w, product(x, 2.0))
    graph = graph_of([x, w], flat(new), new)
    return build_by_hand(graph, variables=(v,), updates=(v,), planner=shared), v


def shared(graph: Any, *, external: Any, alignment: int, **_: Any) -> Separate:
    """Values of the graph in `trained`: x, w, 2.0, product, sum, flat; all three results in place."""
    places = [
        SeparateLocation(i, 0) if i in external else SeparateLocation(None, 0)
        for i in range(len(graph.values))
    ]
    return Separate(tuple(places), 64)


def test_explain_shows_every_node() -> None:
    """Backend, wiring, bytes, what is in place and what is a view, and where it was made."""
    program, _ = trained()
    rows = [line.split() for line in program.explain(width=200).splitlines()]
    mul, sum, view = (next(r for r in rows if op in r[:2]) for op in ("mul", "add", "flat"))

    assert mul[:8] == ["1", "mul", "toy", "%x,", "%full", "%3:", "f32[2,2]", "[0,"]
    assert mul[9:11] == ["over", "%x"]
    assert sum[:8] == ["2", "add", "toy", "%w,", "%3", "%4:", "f32[2,2]", "[0,"]
    assert view[:2] == ["flat", "%4"]
    assert view[6:8] == ["is", "%4"]
    assert "toy_backend.py" in mul[-1]
    assert "test_explain.py" in view[-1]


def test_explain_shows_stages_and_totals() -> None:
    """A line for each stage, then the table, then the bytes."""
    program, _ = trained()
    text = program.explain(width=200)

    assert text.startswith("specialize: 4 nodes")
    assert "\nhoist: 3 nodes" in text
    assert "arena      64 bytes" in text
    assert "naive      256 bytes" in text
    assert "variables  16 bytes" in text
    assert "commit     16 bytes copied a run" in text
    assert "constants  16 bytes" in text


def test_explain_shows_how_code_came_about() -> None:
    """A kernel is asked for it when somebody asks."""
    asked: list[str] = []
    table: Table[Any] = Table("kernel")

    @table.compiles(type(fail))
    def rule(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
        return Kernel(lambda *_: lambda: None, stages=stages)

    def stages() -> str:
        asked.append("")
        return "axes 2, 2"

    x = given("x", 2, 2)
    program = build_by_hand(graph_of([x], fail(x)), backends=(Backend("toy", view, table),))

    assert "axes 2, 2" not in program.explain()
    assert not asked
    assert program.explain(stages=True).endswith("\n1 of fail:\naxes 2, 2")


def test_profile_times_steps_and_keeps_the_state() -> None:
    """Measuring is not training."""
    program, v = trained()
    x = np.ones((2, 2), np.float32)

    profile = program.profile(x, runs=3)

    assert len(profile.step_s) == len(program.steps) == 2
    assert profile.total_s >= profile.commit_s > 0
    assert v.read().tolist() == [[1, 1], [1, 1]]
    assert " us  " in str(profile)
    assert "us a run" in program.explain(width=200)
    program(x)
    assert v.read().tolist() == [[3, 3], [3, 3]]


def test_a_trace_is_what_chrome_reads(tmp_path: Path) -> None:
    """One complete event a step, then fetch and commit, in order of time."""
    program, v = trained()
    path = tmp_path / "trace.json"

    trace = program.trace(np.ones((2, 2), np.float32), path=path)
    events = trace["traceEvents"]

    assert json.loads(path.read_text()) == trace
    assert [e["name"] for e in events] == ["mul", "add", "fetch", "commit"]
    assert {e["ph"] for e in events} == {"X"}
    assert events[0]["args"]["outputs"] == ["f32[2,2]"]
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)
    assert v.read().tolist() == [[1, 1], [1, 1]]


def test_an_error_while_profiling_is_explained_too() -> None:
    """The same notes as in a call."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], fail(x)))
    raising.append(ValueError("planted"))
    try:
        with pytest.raises(ValueError, match="planted") as e:
            program.profile(np.ones(2, np.float32))
    finally:
        raising.clear()

    assert "in step 1 of 1 on 'toy', fail" in notes(e.value)


def test_a_program_of_no_steps_can_be_traced() -> None:
    """The identity."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], x))

    assert [e["name"] for e in program.trace([1, 2])["traceEvents"]] == ["fetch", "commit"]
    assert "hoist: 0 nodes" in program.explain(width=200)


def test_explain_tells_two_constants_apart() -> None:
    """Both are called "full", so both go by number."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], product(product(x, 2.0), 3.0)))
    rows = [line.split() for line in program.explain(width=200).splitlines()]

    assert [row[3:5] for row in rows if row[1:2] == ["mul"]] == [["%x,", "%1"], ["%3,", "%2"]]
