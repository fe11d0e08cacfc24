"""Programs in memory that is not the host's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from far_backend import Adopting, Far, Memory, far_backend
from toy_backend import (
    TOY,
    add,
    build_by_hand,
    donating,
    fail,
    flat,
    given,
    graph_of,
    mul,
    notes,
    product,
    raising,
)
from toy_loops import Repeat

from byparts_graph_ir import (
    Backend,
    CaptureRefused,
    GraphError,
    Op,
    ShapeError,
    Table,
    TensorType,
    Types,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime import Executor, Program, Store, Variable

WAYS: dict[str, dict[str, Any]] = {
    "copied": {"commit": "copy"},
    "in place": {"commit": "auto", "planner": donating},
}
ONE = np.ones(2, np.float32)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    return WAYS[request.param]


def counter(backend: Backend, **options: Any) -> tuple[Program, Variable]:
    """w' = w + 2 x, and fetches w * x."""
    x, w = given("x", 2), given("w", 2)
    weight = Store(backend.space).create("w", ONE)
    graph = graph_of([x, w], mul(w, x), add(w, product(x, 2.0)))
    options = {"variables": (weight,), "updates": (weight,), **options}
    return build_by_hand(graph, backends=(backend,), **options), weight


def test_programs_update_variables(way: dict[str, Any]) -> None:
    """Three runs: each fetch is of the old value."""
    program, weight = counter(far_backend(), **way)

    assert [program(ONE * n)[0].tolist() for n in (1, 2, 3)] == [[1, 1], [6, 6], [21, 21]]
    assert weight.read().tolist() == [13, 13]


def test_without_fetches_it_is_waited_for_before_the_commit(way: dict[str, Any]) -> None:
    """An error that comes late still leaves the variable alone."""
    x, w = given("x", 2), given("w", 2)
    backend = far_backend()
    weight = Store(backend.space).create("w", ONE)
    options = {"variables": (weight,), "updates": (weight,), **way}
    program = build_by_hand(graph_of([x, w], add(w, fail(x))), backends=(backend,), **options)
    raising.append(ZeroDivisionError("late"))
    try:
        with pytest.raises(ZeroDivisionError, match="late") as raised:
            program(ONE)
    finally:
        raising.clear()

    assert weight.read().tolist() == [1, 1]
    assert "the variables are as they were" in notes(raised.value)


def test_an_error_that_comes_with_a_fetch_leaves_the_variables(way: dict[str, Any]) -> None:
    x, w = given("x", 2), given("w", 2)
    backend = far_backend()
    weight = Store(backend.space).create("w", ONE)
    options = {"variables": (weight,), "updates": (weight,), **way}
    graph = graph_of([x, w], fail(x), add(w, x))
    program = build_by_hand(graph, backends=(backend,), **options)
    raising.append(ZeroDivisionError("late"))
    try:
        with pytest.raises(ZeroDivisionError, match="late"):
            program(ONE)
    finally:
        raising.clear()

    assert weight.read().tolist() == [1, 1]


def test_profiles_and_traces_leave_the_variables(way: dict[str, Any]) -> None:
    program, weight = counter(far_backend(), **way)

    profile = program.profile(ONE, runs=2)
    trace = program.trace(ONE)

    assert len(profile.step_s) == len(program.steps)
    assert len(trace["traceEvents"]) == len(program.steps) + 2
    assert weight.read().tolist() == [1, 1]


def test_a_swap_is_a_swap() -> None:
    """Old values that become new ones are copied aside first."""
    a, b = given("a"), given("b")
    backend = far_backend()
    store = Store(backend.space)
    u, v = store.create("a", np.float32(1)), store.create("b", np.float32(2))
    options: dict[str, Any] = {"variables": (u, v), "updates": (u, v)}
    program = build_by_hand(graph_of([a, b], b, a), backends=(backend,), **options)

    program()

    assert [float(u.read()), float(v.read())] == [2, 1]


def test_a_store_is_saved_and_loaded(tmp_path: Path) -> None:
    """From one device to another, and to the host."""
    far = Store(far_backend().space)
    far.create("w", np.arange(3, dtype=np.int64))
    far.create("empty", TensorType("f32", (0, 2)))
    far.save(tmp_path / "w.npz")

    for other in (Store(), Store(far_backend().space)):
        other.create("w", TensorType("i64", (3,)))
        other.create("empty", TensorType("f32", (0, 2)))
        other.load(tmp_path / "w.npz")
        assert other["w"].read().tolist() == [0, 1, 2]


def test_constants_and_views() -> None:
    """Constants are computed on the device; a view of a feed is fetched from there."""
    x = given("x", 1, 2)
    program = build_by_hand(graph_of([x], flat(x), product(x, 3.0)), backends=(far_backend(),))

    assert [y.tolist() for y in program([[1.0, 2.0]])] == [[1, 2], [[3, 6]]]


def test_an_executor_runs_there() -> None:
    """Each shape of feed has its program."""
    x = given("x", "n")
    backend = far_backend()
    weight = Store(backend.space).create("w", ONE)
    executor = Executor(backends=(backend,), passes=(), planner=None, legalize=None)
    graph = graph_of([x, w := given("w", 2)], add(x, x), add(w, w))

    for n in (1, 2, 1):
        (y,) = executor(graph, np.ones(n, "f4"), variables=(weight,), updates=(weight,))
        assert y.tolist() == [2] * n
    assert weight.read().tolist() == [8, 8]
    assert executor.statistics.hits == 1


def test_variables_and_backends_share_a_space() -> None:
    x = given("x", 2)
    options: dict[str, Any] = {"variables": (Variable("x", ONE),), "backends": (far_backend(),)}
    with pytest.raises(GraphError, match="is in host, the backends are in far:0; make it with"):
        build_by_hand(graph_of([x], add(x, x)), **options)
    options["backends"] = (far_backend(), far_backend())
    with pytest.raises(GraphError, match="is in host, the backends are in far:0; make it with"):
        build_by_hand(graph_of([x], add(x, x)), **options)


def test_arrays_of_the_host_cannot_be_bound_there() -> None:
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)), backends=(far_backend(),))

    with pytest.raises(GraphError, match="feed 'x' is in host memory, the program in far:0"):
        program.bind(ONE)


def test_a_space_may_prepare_writers_and_adopt_arrays() -> None:
    """Feeds of the host go through the prepared writer; an array of the device is copied there."""
    space, x = Adopting(), given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)), backends=(far_backend(space),))
    there = Memory(8)
    there.bytes[:] = (ONE * 5).tobytes()

    assert program(ONE)[0].tolist() == [2, 2]
    assert program((there, TensorType("f32", (2,))))[0].tolist() == [10, 10]
    assert space.log == ["prepared", "copy"]
    with pytest.raises(ShapeError, match=r"feed 'x': expected f32\[2\], got i32\[2\]; convert it"):
        program((there, TensorType("i32", (2,))))


def test_an_adopted_array_is_bound_without_a_copy() -> None:
    space, x = Adopting(), given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)), backends=(far_backend(space),))
    there = Memory(8)
    run = program.bind((there, TensorType("f32", (2,))))

    there.bytes[:] = (ONE * 5).tobytes()

    assert run()[0].tolist() == [10, 10]
    assert space.log == []


def test_an_adopted_array_makes_and_writes_a_variable() -> None:
    space, there = Adopting(), Memory(8)
    there.bytes[:] = ONE.tobytes()
    array: Any = (there, TensorType("f32", (2,)))
    v = Variable("v", array, space=space)

    v.write([3, 4])
    v.write(array)

    assert v.read().tolist() == [1, 1]
    assert space.log == ["copy", "write", "copy"]


def test_results_may_be_the_backends_own() -> None:
    """They are copies, and are not waited for."""
    x = given("x", 2)
    backend = far_backend(copy=copied)
    program = build_by_hand(graph_of([x], add(x, x)), backends=(backend,), results="far")

    (y,) = program(ONE)

    assert isinstance(y, Far)
    assert backend.space.pending  # type: ignore[attr-defined]  # of a far space
    backend.space.synchronize()
    assert y.array.tolist() == [2, 2]


def test_results_of_another_space_are_refused() -> None:
    x = given("x", 2)
    build = partial(build_by_hand, graph_of([x], add(x, x)))
    with pytest.raises(GraphError, match="far computes in far:0, the values are in host"):
        build(results=far_backend(copy=copied))
    with pytest.raises(GraphError, match='toy has no `copy`; use "numpy"'):
        build(results="toy")


def copied(y: Far) -> Far:
    """A copy, made when its turn comes."""
    mine = Far(y.space, np.empty_like(y.array))
    mine[...] = y
    return mine


def recorded(space: Any, log: list[str], runs: Sequence[Run], warm: bool) -> Run:
    """All of them as one; refused where there are more than four."""
    if len(runs) > 4:
        raise CaptureRefused(f"{len(runs)} runs are too many")
    log.append(f"{len(runs)} runs, {'warm' if warm else 'cold'}")
    if warm:
        replay(runs)
    return partial(replay, tuple(runs))


def replay(runs: Sequence[Run]) -> None:
    for run in runs:
        run()


def recording() -> tuple[Backend, list[str]]:
    log: list[str] = []
    backend = far_backend()
    capture = partial(recorded, backend.space, log)
    return Backend("far", backend.view, backend.kernels, space=backend.space, capture=capture), log


def test_a_backend_may_record_what_it_runs(way: dict[str, Any]) -> None:
    """The steps with a warm-up, the commit without."""
    backend, log = recording()
    program, weight = counter(backend, **way)
    found = [program(ONE * n)[0].tolist() for n in (1, 2, 3)]

    assert found == [[1, 1], [6, 6], [21, 21]]
    assert weight.read().tolist() == [13, 13]
    assert "3 steps replayed as one FAR graph" in program.explain(width=200)
    assert {line for line in log if "cold" in line} == {"1 runs, cold"}


def test_what_cannot_be_recorded_runs_as_it_is() -> None:
    backend, _ = recording()
    x = given("x", 2)
    graph = graph_of([x], product(x, 1.0, 2.0, 3.0, 4.0, 1.0))
    program = build_by_hand(graph, backends=(backend,))

    assert program(ONE)[0].tolist() == [24, 24]
    assert "not captured: 5 runs are too many" in program.explain(width=200)
    with pytest.raises(CaptureRefused, match="5 runs are too many"):
        build_by_hand(graph, backends=(backend,), capture=True)
    assert "captured" not in build_by_hand(graph, backends=(backend,), capture=False).explain()


def test_only_one_backend_can_record() -> None:
    """Steps of another one in the same space would be missing from the recording."""
    backend, _ = recording()
    other = Backend("other", backend.view, _kernels(backend), space=backend.space)
    backend.kernels._rules.pop(type(mul))
    x = given("x", 2)
    graph = graph_of([x], mul(add(x, x), x))
    program = build_by_hand(graph, backends=(backend, other))

    assert program(ONE * 3)[0].tolist() == [18, 18]
    says = "not captured: step 2 of 2, mul, belongs to 'other', the first to 'far'"
    assert says in program.explain(width=200)


def _kernels(backend: Backend) -> Any:
    space: Any = backend.space
    return far_backend(space).kernels


def test_capture_on_demand_needs_a_backend_that_can() -> None:
    x = given("x", 2)
    with pytest.raises(CaptureRefused, match="backend 'toy' cannot record what it runs"):
        build_by_hand(graph_of([x], add(x, x)), capture=True)


def test_an_error_in_a_replay_says_how_to_find_the_step() -> None:
    backend, _ = recording()
    kernels = {op: partial(_at_once, backend.kernels[op]) for op in backend.kernels}
    backend.kernels._rules.update(kernels)
    x = given("x", 2)
    graph = graph_of([x], fail(add(x, x)))
    program = build_by_hand(graph, backends=(backend,))
    plain = build_by_hand(graph, backends=(backend,), capture=False)
    raising.append(ZeroDivisionError("no"))
    try:
        with pytest.raises(ZeroDivisionError, match="no") as raised:
            program(ONE)
        assert "in the replay of 2 steps; build(..., capture=False) shows" in notes(raised.value)
        with pytest.raises(ZeroDivisionError, match="no") as raised:
            plain(ONE)
        assert "in step 2 of 2 on 'far', fail" in notes(raised.value)
    finally:
        raising.clear()


def _at_once(rule: Any, op: Any, xs: Any, ys: Any) -> Run:
    """A kernel that does not wait for its turn, so that an error comes from its step."""
    return rule(op, xs, ys).args[0]  # type: ignore[no-any-return]


class Like(Op):
    """x, whatever the second input holds."""

    ignores = (1,)

    def infer(self, x: TensorType, like: TensorType) -> Types:
        return (x,)


def test_an_ignored_input_in_another_space_is_not_bound() -> None:
    """The kernel gets an array of its own space with the type."""
    pytest.importorskip("byparts_optimize", reason="needs byparts-optimize, which copies")
    far = far_backend()
    table: Table[Any] = Table("kernel")

    @table.on(Like)
    def like(op: Like, inputs: Any, outputs: Any) -> Any:
        assert all(isinstance(a, Far) for a in inputs)
        return partial(outputs[0].__setitem__, ..., inputs[0])

    device = Backend("far", far.view, table, space=far.space)
    x = given("x", 2)
    graph = graph_of([x], Like()(x, add(x, x)))
    program = build_by_hand(graph, backends=(TOY, device))

    assert program(ONE)[0].tolist() == [1, 1]


def test_a_body_without_bytes_runs_on_a_device() -> None:
    """Its arena is memory of the device, as all arenas."""
    x, a = given("x", 0), given("a", 0)
    body = graph_of([a], add(mul(a, a), a))
    program = build_by_hand(graph_of([x], Repeat(body, 2)(x)), backends=(far_backend(),))

    assert program(np.zeros(0, np.float32))[0].tolist() == []
