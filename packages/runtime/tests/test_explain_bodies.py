"""What a program says of the steps inside its bodies: table, profile, trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toy_backend import add, fail, given, mul, notes, raising
from toy_loops import Choose, Repeat, Undo, built

from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import Program
from byparts_runtime.inspect import rounds as rounds_module

ONE = np.ones(2, np.float32)


def table(program: Program) -> str:
    """The rows of `explain` without lines of files and blanks at their ends."""
    text = program.explain(width=160).split("\n\n")[1]
    return "\n".join(
        line.split("  test_")[0].split("  toy_")[0].rstrip() for line in text.split("\n")
    )


def undoing() -> Program:
    """Doubled at most three times while `go`; then multiplied backwards."""
    x, dx = given("x", 2), given("dx", 2)
    go = Input(TensorType("bool", ()), None, "go")
    back = Graph.of((dx, x, go), (mul(dx, x),))
    undo = Undo(Graph.of((x, go), (go,)), Graph.of((x, go), (add(x, x),)), back)
    return built(Graph.of((x, dx, go), (undo(x, dx, go),)))


def nested() -> Program:
    """Three rounds of two rounds of an addition."""
    x, w = given("x", 2), given("w", 2)
    inner = Repeat(Graph.of((x, w), (add(x, w),)), 2)
    outer = Repeat(Graph.of((x, w), (mul(inner(x, w), w),)), 3)
    return built(Graph.of((x, w), (outer(x, w),)))


def test_steps_of_bodies_stand_below_their_node() -> None:
    """Indented, with the rounds, the body's arena, and what is in place."""
    pytest.importorskip("byparts_memplan", reason="needs byparts-memplan, which shares bytes")
    assert table(nested()) == (
        "step  op        backend  inputs  outputs     bytes      note     where\n"
        "   1  repeat    runtime  %x, %w  %2: f32[2]  [0, 8)     over %x\n"
        "       body                      3 rounds\n"
        "   1    repeat  runtime  %x, %w  %2: f32[2]  %x [0, 8)  over %x\n"
        "         body                    2 rounds\n"
        "   1      add   toy      %x, %w  %2: f32[2]  %x [0, 8)  over %x\n"
        "   2    mul     toy      %2, %w  %3: f32[2]  %x [0, 8)  over %2"
    )


def test_a_body_shows_its_own_arena_and_workspaces() -> None:
    """The arena is the beginning of the workspace of the node."""
    x, w = given("x", 2), given("w", 2)
    loop = Repeat(Graph.of((x, w), (mul(mul(x, x), add(x, w)),)), 3)
    program = built(Graph.of((x, w), (loop(x, w),)), planner=None)
    rows = table(program).splitlines()

    assert rows[1].split()[-1] == "192"
    assert "workspace [0, 192)" in rows[2]
    assert "%3: f32[2]" in rows[4]


def test_rounds_that_depend_on_data() -> None:
    """Before a run explain says how many there are at most; afterwards how many there were."""
    program = undoing()
    before = table(program)
    program.profile(ONE, ONE, np.bool_(True), runs=2)

    assert before.count("at most 3 rounds") == 3
    after = table(program)
    assert "at most" not in after
    assert after.count("3 rounds") == 3


def test_branches_say_nothing_of_rounds() -> None:
    c, x = Input(TensorType("bool", ()), None, "c"), given("x", 2)
    choose = Choose(Graph.of((x,), (mul(x, x),)), Graph.of((x,), (add(x, x),)))
    program = built(Graph.of((c, x), (choose(c, x),)))
    rows = [line.split()[:2] for line in table(program).splitlines()]
    profile = program.profile(np.bool_(True), ONE, runs=3)

    assert [row[0] for row in rows if row[0] in ("no", "yes")] == ["no", "yes"]
    assert "round" not in table(built(Graph.of((c, x), (choose(c, x),))))
    assert [(b.name, b.rounds) for b in profile.bodies[0]] == [
        ("no of choose", 0),
        ("yes of choose", 1),
    ]


def test_a_profile_sums_over_rounds() -> None:
    """Also of loops in loops; the times of a body are part of the time of its step."""
    program = nested()
    profile = program.profile(ONE, ONE, runs=2)
    (outer,) = profile.bodies[0]
    (inner,) = outer.bodies[0]

    assert (outer.name, outer.rounds, outer.ops) == ("body of repeat", 3, ("repeat", "mul"))
    assert (inner.rounds, inner.ops, inner.bodies) == (6, ("add",), ((),))
    assert 0 < sum(inner.step_s) <= outer.step_s[0] <= profile.step_s[0]
    lines = str(profile).splitlines()
    assert sum("body of repeat, 3 rounds:" in line for line in lines) == 1
    assert sum("body of repeat, 6 rounds:" in line for line in lines) == 1
    assert program(ONE, 2 * ONE)[0].tolist() == [64, 64]


def test_a_body_without_steps_counts_rounds() -> None:
    """States that change places."""
    a, b = given("a", 2), given("b", 2)
    swap = Repeat(Graph.of((a, b), (b, a)), 5)
    program = built(Graph.of((a, b), swap.outputs_of(a, b)))

    assert program.profile(ONE, 2 * ONE).bodies[0][0].rounds == 5
    assert program(ONE, 2 * ONE)[0].tolist() == [2, 2]


def test_a_trace_shows_rounds() -> None:
    """Each inside the event of its step, before its own steps."""
    events = nested().trace(ONE, ONE)["traceEvents"]
    names = [e["name"] for e in events]

    assert names[:5] == [
        "repeat",
        "body of repeat, round 1",
        "repeat",
        "body of repeat, round 1",
        "add",
    ]
    assert (names.count("add"), names.count("mul")) == (6, 3)
    assert events[0]["args"]["rounds"] == {"body of repeat": 3}
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)


def test_a_trace_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first rounds are shown; how many there were is said."""
    monkeypatch.setattr(rounds_module, "MOST_EVENTS", 20)
    x, w = given("x", 2), given("w", 2)
    loop = Repeat(Graph.of((x, w), (add(x, w),)), 1000)
    events = built(Graph.of((x, w), (loop(x, w),))).trace(ONE, ONE)["traceEvents"]

    assert len(events) <= 1 + 20 + 2
    assert events[1]["args"] == {"round": 1, "of": 1000}
    assert events[0]["args"]["rounds"] == {"body of repeat": 1000}


def test_an_error_while_bodies_are_measured_says_where() -> None:
    """As in a call; and the program goes on without a clock."""
    x, w = given("x", 2), given("w", 2)
    loop = Repeat(Graph.of((x, w), (fail(add(x, w)),)), 3)
    program = built(Graph.of((x, w), (loop(x, w),)))
    for call in (program, program.profile, program.trace):
        raising.append(ValueError("planted"))
        try:
            with pytest.raises(ValueError, match="planted") as e:
                call(ONE, ONE)
        finally:
            raising.clear()
        assert "in step 2 of 2 on 'toy', fail" in notes(e.value)
        assert "in body of repeat, round 1" in notes(e.value)
    runs: Any = program.steps[0].run
    assert len(runs.bodies[0].runs) == 2
    assert program(ONE, ONE)[0].tolist() == [4, 4]
