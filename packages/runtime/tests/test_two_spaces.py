"""One program in two memory spaces: sums on the host, products on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from far_backend import Space as FarSpace, far_backend
from hypothesis import given as each, settings, strategies as st
from toy_backend import (
    TOY,
    Add,
    Fail,
    Full,
    Mul,
    add,
    build_by_hand,
    f32,
    fail,
    flat,
    given,
    graph_of,
    mul,
    notes,
    product,
)

from byparts_graph_ir import Backend, Copy, GraphError, Op, Table, Value
from byparts_runtime import Program, Store, Variable

pytest.importorskip("byparts_optimize", reason="needs byparts-optimize, which copies")

ONE = np.ones(2, np.float32)


def only(backend: Backend, *ops: type[Op]) -> Backend:
    """The backend with kernels for these ops alone."""
    table: Table[Any] = Table("kernel")
    for op in ops:
        table.on(op)(backend.kernels[op])
    return Backend(backend.name, backend.view, table, space=backend.space)


def two(first: str = "host", space: FarSpace | None = None) -> tuple[Backend, ...]:
    """Sums and failures on the host, products on the device; feeds and fetches in the first."""
    host, device = only(TOY, Add, Fail, Full), only(far_backend(space), Mul)
    return (host, device) if first == "host" else (device, host)


def copies(program: Program) -> list[str]:
    return [n.op.space for n in program.graph.nodes if isinstance(n.op, Copy)]


@pytest.mark.parametrize("first", ["host", "far"])
def test_values_cross_both_ways(first: str) -> None:
    x = given("x", 2)
    y = mul(add(x, x), x)
    program = build_by_hand(graph_of([x], add(y, y), mul(y, y)), backends=two(first))

    for number in (1, 3):
        sums, squares = program(np.full(2, number, "f4"))
        assert sums.tolist() == [4 * number**2] * 2
        assert squares.tolist() == [4 * number**4] * 2
    assert set(copies(program)) == {"host", "far:0"}
    assert {step.backend for step in program.steps} == {"toy", "far", "runtime"}
    assert set(program.plan.arenas) <= {"host", "far:0"}  # type: ignore[attr-defined]
    assert "copy" in program.explain()


@pytest.mark.parametrize("first", ["host", "far"])
@pytest.mark.parametrize("commit", ["auto", "copy"])
def test_variables_on_both_sides(first: str, commit: str) -> None:
    """Each is updated with what comes from the other side."""
    backends = two(first)
    far = next(b for b in backends if b.name == "far")
    here, there = Variable("h", ONE), Variable("t", 2 * ONE, space=far.space)
    x, h, t = given("x", 2), given("h", 2), given("t", 2)
    graph = graph_of([x, h, t], add(h, t), add(h, mul(t, x)), mul(t, add(h, x)))
    options: dict[str, Any] = {"variables": (here, there), "updates": (here, there)}
    program = build_by_hand(graph, backends=backends, commit=commit, **options)

    a, b = 1.0, 2.0
    for number in (1.0, 2.0):
        (seen,) = program(np.full(2, number, "f4"))
        assert seen.tolist() == [a + b] * 2
        a, b = a + b * number, b * (a + number)
        assert (here.read().tolist(), there.read().tolist()) == ([a] * 2, [b] * 2)
    assert (here.version, there.version) == (2, 2)


def test_values_that_are_swapped_across() -> None:
    backends = two()
    here, there = Variable("h", ONE), Variable("t", 2 * ONE, space=backends[1].space)
    h, t = given("h", 2), given("t", 2)
    options: dict[str, Any] = {"variables": (here, there), "updates": (here, there)}
    program = build_by_hand(graph_of([h, t], t, h), backends=backends, **options)
    program()

    assert (here.read().tolist(), there.read().tolist()) == ([2, 2], [1, 1])


def test_constants_on_both_sides() -> None:
    x = given("x", 2)
    backends = (*two()[:1], only(far_backend(), Mul, Full))
    program = build_by_hand(graph_of([x], product(add(x, x), 3.0)), backends=backends)

    assert program(ONE)[0].tolist() == [6, 6]


@pytest.mark.parametrize("first", ["host", "far"])
def test_a_failure_leaves_the_variables_of_both_sides(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the host after work was asked of the device, and of the device, which tells it late."""
    space = FarSpace()
    backends = two(first, space)
    here, there = Variable("h", ONE), Variable("t", 2 * ONE, space=space)
    h, t = given("h", 2), given("t", 2)
    graph = graph_of([h, t], add(fail(h), h), mul(t, t))
    options: dict[str, Any] = {"variables": (here, there), "updates": (here, there)}
    program = build_by_hand(graph, backends=backends, **options)

    def values() -> list[list[float]]:
        return [v.read().tolist() for v in (here, there)]

    for error in (OverflowError("no"), KeyboardInterrupt()):
        monkeypatch.setattr("toy_backend.raising", [error])
        with pytest.raises(type(error)) as raised:
            program()
        assert "the variables are as they were before this run" in notes(raised.value)
        monkeypatch.undo()
        assert values() == [[1, 1], [2, 2]]

    def broken() -> None:
        raise ArithmeticError("of the device")

    space.pending.append(broken)
    with pytest.raises(ArithmeticError, match="of the device") as late:
        program()
    assert "the variables are as they were before this run" in notes(late.value)
    assert values() == [[1, 1], [2, 2]]
    program()
    assert values() == [[2, 2], [4, 4]]


def test_a_variable_in_a_third_space_is_refused() -> None:
    x = given("x", 2)
    other = FarSpace()
    other.name = "elsewhere"
    v = Variable("x", ONE, space=other)
    with pytest.raises(GraphError, match="is in elsewhere, the backends are in host, far:0; make"):
        build_by_hand(graph_of([x], add(x, x)), variables=(v,), backends=two())


def test_views_stay_in_their_space() -> None:
    x = given("x", 1, 2)
    host = only(TOY, Add, *[type(flat)])
    device = only(far_backend(), Mul)
    program = build_by_hand(graph_of([x], flat(mul(x, x)), flat(x)), backends=(host, device))

    assert [y.tolist() for y in program([[2.0, 3.0]])] == [[4, 9], [2, 3]]


def test_two_programs_share_variables_of_both_sides() -> None:
    """And the arena of the first space."""
    backends = two()
    far = Store(backends[1].space)
    v = far.create("v", ONE)
    old, x = given("v", 2), given("x", 2)
    grow = build_by_hand(
        graph_of([x, old], mul(old, x)), variables=(v,), updates=(v,), backends=backends
    )
    look = build_by_hand(graph_of([old], add(old, old)), variables=(v,), backends=backends)
    for _ in range(3):
        grow(2 * ONE)

    assert look()[0].tolist() == [16, 16]


@each(st.lists(st.tuples(st.booleans(), st.integers(0, 99), st.integers(0, 99)), min_size=1))
@settings(deadline=None, max_examples=60)
def test_random_programs(steps: list[tuple[bool, int, int]]) -> None:
    """As NumPy computes them, with a planner and without, in both orders of the backends."""
    memplan = pytest.importorskip("byparts_memplan", reason="needs byparts-memplan")
    x, y = given("x", 2), given("y", 2)
    values: list[Value] = [x, y]
    arrays = [np.float32([0.5, 1]), np.float32([1, 0.25])]  # type: ignore[arg-type]
    want = list(arrays)
    for product_, i, j in steps:
        a, b = i % len(values), j % len(values)
        values.append((mul if product_ else add)(values[a], values[b]))
        with np.errstate(all="ignore"):
            want.append(want[a] * want[b] if product_ else want[a] + want[b])
    graph = graph_of([x, y], *values[-3:], values[0])

    for first in ("host", "far"):
        for planner in (None, memplan.plan):
            program = build_by_hand(graph, backends=two(first), planner=planner)
            for got, expected in zip(program(*arrays), (*want[-3:], want[0]), strict=True):
                np.testing.assert_array_equal(got, expected)


def test_the_planned_arenas_pass_the_checker() -> None:
    """Memplan's, which knows nothing of the runtime."""
    memplan = pytest.importorskip("byparts_memplan", reason="needs byparts-memplan")
    x = given("x", 64)
    y = x
    for _ in range(5):
        y = add(mul(y, y), mul(y, x))  # type: ignore[assignment]
    program = build_by_hand(graph_of([x], y), backends=two(), planner=memplan.plan)

    memplan.check_plan(program.graph, program.plan)
    assert len(program.plan.arenas) == 2  # type: ignore[attr-defined]
    assert program(np.full(64, 0.5, "f4"))[0].shape == f32(64).dims
