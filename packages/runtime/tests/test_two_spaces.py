"""One program in two memory spaces: sums on the host, products on a device."""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from weakref import finalize

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
from toy_loops import Choose, Repeat, Rows, Undo

from byparts_graph_ir import (
    Backend,
    Copy,
    Graph,
    GraphError,
    Input,
    MissingRule,
    Op,
    Table,
    TensorType,
    Value,
)
from byparts_runtime import Arena, Executor, Program, Store, Variable
from byparts_runtime.building.place import LARGE_BYTES
from byparts_runtime.memory.plan import separate

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


def test_a_plan_without_sharing_is_a_value() -> None:
    """It can be hashed and compared, and says the bytes of the arena of each space."""
    x = given("x", 20)
    plan, again = (separate(graph_of([x], add(x, x)), space=lambda v: v.type.dtype) for _ in "ab")

    assert (plan, hash(plan)) == (again, hash(again))
    assert (plan.arenas, plan.arena_bytes) == ({"f32": 256}, 256)
    assert [field.name for field in fields(plan)][-1] == "space_bytes"


def far_rounds(first: str, times: int = 3) -> Program:
    """x times w, so often, which only the device has; plus x, which only the host has."""
    x, w = given("x", 2), given("w", 2)
    loop = Repeat(Graph.of((x, w), (mul(x, w),)), times)
    return build_by_hand(graph_of([x, w], add(loop(x, w), x)), backends=two(first))


@pytest.mark.parametrize("first", ["host", "far"])
@pytest.mark.parametrize("times", [0, 1, 5])
def test_a_body_runs_where_its_kernels_are(first: str, times: int) -> None:
    """Its values cross once, not in each round."""
    program = far_rounds(first, times)
    for _ in range(2):
        assert program(ONE, 2 * ONE)[0].tolist() == [2**times + 1] * 2
    loop = next(n for n in program.graph.nodes if n.op.name == "repeat")

    assert program.kernels(loop).backend.space.name == "far:0"
    assert len(copies(program)) <= 4


def test_slices_and_rows_on_the_device() -> None:
    """Whose arrays have no rows: each is looked at by its address."""
    t, x = given("t", 2), given("x", 2)
    new = mul(t, x)
    total, xs = given("total", 2), given("xs", 3, 2)
    rows = Rows(Graph.of((t, x), (new, new)))
    program = build_by_hand(graph_of([total, xs], *rows.outputs_of(total, xs)), backends=two())
    for _ in range(2):
        last, products = program(ONE, np.float32([[1, 2], [3, 4], [5, 6]]))  # type: ignore[arg-type]
        assert last.tolist() == [15, 48]
        assert products.tolist() == [[1, 2], [3, 8], [15, 48]]


def test_a_condition_and_a_stack_on_the_device() -> None:
    """The device is asked before each round, and keeps what the rounds backwards read."""
    x, dx = given("x", 2), given("dx", 2)
    go = Input(TensorType("bool", ()), None, "go")
    back = Graph.of((dx, x, go), (mul(dx, x),))
    undo = Undo(Graph.of((x, go), (go,)), Graph.of((x, go), (mul(x, x),)), back)
    program = build_by_hand(graph_of([x, dx, go], undo(x, dx, go)), backends=two())
    two_ = 2 * ONE
    for rounds in (True, False, True):
        assert program(two_, ONE, np.bool_(rounds))[0][0] == (2 * 4 * 16 if rounds else 1)


def test_a_branch_on_the_device() -> None:
    c, x = Input(TensorType("bool", ()), None, "c"), given("x", 2)
    choose = Choose(Graph.of((x,), (mul(x, x),)), Graph.of((x,), (mul(mul(x, x), x),)))
    program = build_by_hand(graph_of([c, x], choose(c, add(x, x))), backends=two())

    assert [program(np.bool_(which), ONE)[0][0] for which in (0, 1, 0)] == [4, 8, 4]


def test_a_body_of_two_spaces_is_refused() -> None:
    """And the message says what each space lacks."""
    x, w = given("x", 2), given("w", 2)
    loop = Repeat(Graph.of((x, w), (mul(add(x, w), w),)), 3)
    with pytest.raises(MissingRule, match="repeat: its bodies run in one memory space") as refused:
        build_by_hand(graph_of([x, w], loop(x, w)), backends=two())

    assert "in host: no kernel for Mul" in str(refused.value)
    assert "in far:0: no kernel for Add" in str(refused.value)


class Counting(FarSpace):
    """The device, with the sizes of what was allocated and is not freed."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: list[int] = []

    def allocate(self, size_bytes: int) -> Any:
        memory = super().allocate(size_bytes)
        self.alive.append(size_bytes)
        finalize(memory, self.alive.remove, size_bytes)
        return memory

    def untouched(self, size_bytes: int) -> Any:
        return super().allocate(size_bytes)  # not counted: it is gone before a program runs


def squares(n: int, backends: tuple[Backend, ...], arena: Arena | None) -> Program:
    """(x + x)^2 of n numbers."""
    x = given("x", n)
    return build_by_hand(graph_of([x], mul(add(x, x), add(x, x))), backends=backends, arena=arena)


def test_programs_share_the_arenas_of_all_spaces() -> None:
    """The largest wins; the others are bound again; it goes with the last of them."""
    space, arena = Counting(), Arena()
    backends = two(space=space)
    small = squares(64, backends, arena)
    assert small(np.ones(64, "f4"))[0][0] == 4
    large = squares(4096, backends, arena)
    beside = arena.beside(space)
    programs = [small, large, small, squares(16, backends, arena)]
    for program, n in zip(programs, (64, 4096, 64, 16), strict=True):
        assert program(np.full(n, 3, "f4"))[0].tolist() == [36] * n

    assert beside.programs == 3
    assert space.alive == [beside.size_bytes] == [beside.needed_bytes]
    del large, program, programs
    arena.trim(factor=2)
    assert space.alive == [beside.size_bytes] == [beside.needed_bytes]
    assert small(np.ones(64, "f4"))[0][0] == 4
    del small
    assert space.alive == []


def test_an_executor_shares_the_arenas_of_all_spaces() -> None:
    space = Counting()
    executor = Executor(
        backends=two(space=space), passes=(), planner=None, order=None, legalize=None
    )
    for n in (64, 4096, 16):
        x = given("x", n)
        graph = graph_of([x], mul(add(x, x), x))
        assert executor(graph, np.full(n, 3, "f4"))[0].tolist() == [18] * n

    assert len(space.alive) == 1


def test_a_far_arena_that_cannot_grow_leaves_the_others() -> None:
    """Who was there keeps as much room as before."""
    space, arena = Counting(), Arena()
    backends = two(space=space)
    small = squares(64, backends, arena)
    allocate = space.allocate

    def refuse(size_bytes: int) -> Any:
        if size_bytes > 2**16:
            raise MemoryError("the device is full")
        return allocate(size_bytes)

    space.allocate = refuse  # type: ignore[method-assign]
    with pytest.raises(MemoryError, match="the device is full") as full:
        squares(2**20, backends, arena)

    assert "for an arena of" in notes(full.value)
    assert small(np.full(64, 3, "f4"))[0].tolist() == [36] * 64


def test_spaces_of_one_name_share_nothing() -> None:
    """Two devices that were started apart: each has memory of its own."""
    arena, n = Arena(), 64
    one, other = (squares(n, two(), arena) for _ in range(2))
    for program in (one, other, one):
        assert program(np.ones(n, "f4"))[0].tolist() == [4] * n


@pytest.mark.parametrize("last", ["host", "far:0"])
def test_large_fetches_of_two_spaces_are_written_where_the_caller_gets_them(last: str) -> None:
    """By a kernel of the host, or by the copy from the device."""
    n = LARGE_BYTES // 4
    memplan = pytest.importorskip("byparts_memplan", reason="needs byparts-memplan")
    x = given("x", n)
    y = add(mul(x, x), x) if last == "host" else mul(add(x, x), x)
    program = build_by_hand(graph_of([x], y), backends=two(), planner=memplan.plan)

    kept = [program(np.full(n, i, "f4"))[0] for i in range(4)]
    assert list(program._loaded.placed.results.values()) == [0]
    want = [i * i + i if last == "host" else 2 * i * i for i in range(4)]
    assert [float(y.max()) for y in kept] == [float(y.min()) for y in kept] == want
    addresses = {program(np.ones(n, "f4"))[0].ctypes.data for _ in range(6)}
    assert len(addresses) == 1


def test_a_large_fetch_of_the_device_is_read_from_it() -> None:
    """Where feeds and fetches are in its memory, nothing is written elsewhere."""
    n = LARGE_BYTES // 4
    x = given("x", n)
    program = build_by_hand(graph_of([x], add(mul(x, x), x)), backends=two("far"))

    assert program._loaded.placed.results == {}
    assert program(np.full(n, 3, "f4"))[0][[0, -1]].tolist() == [12, 12]
