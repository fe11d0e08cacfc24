"""Commit by exchange: no copy, and any mixture of programs on shared variables."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from toy_backend import add, build_by_hand, donating, given, graph_of

from byparts_runtime import Store

OPTIONS: dict[str, Any] = {"commit": "exchange", "planner": donating}


def test_nothing_is_copied() -> None:
    """The step writes the second memory, which becomes the value; then it writes the first."""
    a, one = given("a", 2), given("one", 2)
    v = Store().create("a", np.zeros(2, np.float32))
    graph = graph_of([one, a], add(a, one))
    program = build_by_hand(graph, variables=(v,), updates=(v,), **OPTIONS)
    one_run = np.ones(2, np.float32)
    first, second = (np.frombuffer(v.memory(side), np.float32, 2) for side in (0, 1))

    program(one_run)
    assert (first.tolist(), second.tolist()) == ([0, 0], [1, 1])
    program(one_run)
    assert (first.tolist(), second.tolist()) == ([2, 2], [1, 1])
    assert "1 variables exchanged a run, 0 of them copied before" in program.explain()
    assert "variables  16 bytes" in program.explain()


def test_the_second_memory_is_made_when_it_is_needed() -> None:
    """A variable that nobody exchanges has one."""
    a = given("a", 2)
    v = Store().create("a", np.zeros(2, np.float32))
    graph = graph_of([a], add(a, a))

    build_by_hand(graph, variables=(v,), updates=(v,))()
    assert v.size_bytes == 8
    build_by_hand(graph, variables=(v,), updates=(v,), **OPTIONS)
    assert v.size_bytes == 16


def test_programs_may_exchange_independently() -> None:
    """Six variables each updated alone give 64 patterns of sides; the reader binds four at most."""
    inputs = [given(f"v{i}") for i in range(6)]
    store = Store()
    variables = tuple(store.create(v.name, np.float32(0)) for v in inputs)
    one = given("one")
    bump = [
        build_by_hand(graph_of([one, v], add(v, one)), variables=(w,), updates=(w,), **OPTIONS)
        for v, w in zip(inputs, variables, strict=True)
    ]
    reader = build_by_hand(graph_of(inputs, *inputs), variables=variables)
    expected, random = [0] * 6, Random(0)

    for _ in range(200):
        i = random.randrange(6)
        bump[i](1.0)
        expected[i] += 1
        assert [int(v) for v in reader()] == expected

    assert len(reader._machine._cycles) == 4


def test_reading_and_writing_follow_the_side() -> None:
    """`read`, `write` and files see the value, wherever it is."""
    a = given("a")
    v = Store().create("a", np.float32(1))
    program = build_by_hand(graph_of([a], add(a, a)), variables=(v,), updates=(v,), **OPTIONS)

    program()
    assert v.read() == 2
    v.write(5)
    program()
    assert v.read() == 10
