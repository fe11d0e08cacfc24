"""One arena for several programs: as large as the largest needs, and gone with the last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
import pytest
from counted_space import Counted, counted_backend
from far_backend import far_backend
from toy_backend import (
    TOY,
    add,
    build_by_hand,
    donating,
    fail,
    given,
    graph_of,
    mul,
    notes,
    raising,
)

from byparts_graph_ir import Backend, GraphError, MissingRule, Op, Table, TensorType, Types
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime import Arena, Executor, Program, Store, Variable


def ones(n: int) -> Any:
    return np.ones(n, np.float32)


def doubling(n: int, arena: Arena | None, **options: Any) -> Program:
    """y = x + x of `n` numbers: 8 n bytes, n a multiple of 16."""
    x = given("x", n)
    return build_by_hand(graph_of([x], add(x, x)), arena=arena, **options)


def counter(n: int, arena: Arena, **options: Any) -> tuple[Program, Variable]:
    """w' = w + x, in a store of its own."""
    x, w = given("x", n), given("w", n)
    weight = Store().create("w", ones(n))
    program = build_by_hand(
        graph_of([x, w], add(w, x)), arena=arena, variables=(weight,), updates=(weight,), **options
    )
    return program, weight


def test_the_largest_plan_wins() -> None:
    arena = Arena()
    small, large, middle = (doubling(n, arena) for n in (16, 64, 32))

    assert (arena.size_bytes, arena.needed_bytes, arena.programs) == (512, 512, 3)
    assert [p(ones(n))[0].sum() for p, n in ((small, 16), (large, 64), (middle, 32))] == [
        *(32, 128, 64)
    ]


def test_programs_go_on_when_the_arena_grows() -> None:
    """Called before and after, and before again."""
    arena = Arena()
    small = doubling(16, arena)
    before = small(ones(16))[0]
    large = doubling(64, arena)

    sums = [large(ones(64))[0].sum(), small(ones(16))[0].sum(), large(ones(64))[0].sum()]
    assert (before.sum(), sums) == (32, [128, 32, 128])


def test_old_memory_is_freed_before_new_is_taken() -> None:
    """For 128 and then 512 bytes, 512 are enough, though nobody has called the first program."""
    space = Counted(most=512)
    arena = Arena(space)
    backends = (counted_backend(space),)
    small = doubling(16, arena, backends=backends)
    large = doubling(64, arena, backends=backends)

    assert space.alive == [512]
    assert (small(ones(16))[0].sum(), large(ones(64))[0].sum()) == (32, 128)
    assert space.alive == [512]


def test_the_memory_goes_with_the_last_program() -> None:
    space = Counted()
    arena = Arena(space)
    options = {"backends": (counted_backend(space),)}
    programs = [doubling(n, arena, **options) for n in (16, 64)]
    del programs[1]
    still = list(space.alive)

    programs.clear()
    assert (still, space.alive, arena.size_bytes, arena.programs) == ([512], [], 0, 0)


def test_trimming_makes_it_as_small_as_the_programs_left() -> None:
    arena = Arena()
    small, large = doubling(16, arena), doubling(64, arena)
    assert arena.size_bytes == 512

    del large
    arena.trim()
    assert (arena.size_bytes, small(ones(16))[0].sum()) == (128, 32)


def test_an_arena_may_be_reserved() -> None:
    """Then nothing is bound twice."""
    arena = Arena(reserve_bytes=512)
    small = doubling(16, arena)
    (step,) = small.steps
    doubling(64, arena)

    assert arena.size_bytes == 512
    assert small.steps[0] is step


def test_a_negative_reserve_is_refused() -> None:
    with pytest.raises(GraphError, match="reserve_bytes is -1, and must be at least 0"):
        Arena(reserve_bytes=-1)


def test_without_memory_for_it_the_others_go_on() -> None:
    """The error says what would help; no variable has changed."""
    space = Counted(most=700)
    arena, backend = Arena(space), counted_backend(space)
    small = doubling(16, arena, backends=(backend,))
    with pytest.raises(MemoryError, match="cannot allocate 1,024 bytes") as error:
        doubling(128, arena, backends=(backend,))

    assert "for an arena of 1,024 bytes; build(..., budget_bytes=...)" in notes(error.value)
    assert (arena.size_bytes, arena.programs) == (128, 1)
    assert small(ones(16))[0].sum() == 32


def test_even_when_there_was_none_at_all_for_a_while() -> None:
    """Neither the larger nor the old memory: found again at the next call."""
    space = Counted()
    arena, backend = Arena(space), counted_backend(space)
    small = doubling(16, arena, backends=(backend,))
    space.most = 0
    with pytest.raises(MemoryError, match="cannot allocate 128 bytes"):
        doubling(64, arena, backends=(backend,))
    assert arena.size_bytes == 0

    space.most = 128
    assert small(ones(16))[0].sum() == 32


def test_an_arena_of_another_space_is_refused() -> None:
    with pytest.raises(GraphError, match="the arena is in far:0, the backends are in host"):
        doubling(16, Arena(far_backend().space))


def test_programs_that_cannot_be_built_leave_the_arena_in_order() -> None:
    arena = Arena()
    small = doubling(16, arena)
    x = given("x", 64)
    with pytest.raises(MissingRule, match="no kernel for Unlisted"):
        build_by_hand(graph_of([x], Unlisted()(x)), arena=arena)

    assert small(ones(16))[0].sum() == 32


class Unlisted(Op):
    def infer(self, x: TensorType) -> Types:
        return (x,)


def test_bound_programs_share_it_too() -> None:
    arena = Arena()
    small, large = doubling(16, arena), doubling(64, arena)
    x = ones(64)
    bound = large.bind(x)

    assert (bound()[0].sum(), small(ones(16))[0].sum()) == (128, 32)
    x[:] = 2
    assert (bound()[0].sum(), arena.programs) == (256, 2)


def test_what_runs_inside_a_run_needs_memory_of_its_own() -> None:
    """A kernel that calls another program would compute over what is there."""
    arena = Arena()
    inner = doubling(64, arena)
    outer = build_by_hand(
        graph_of([x := given("x", 16)], Calling()(x)), arena=arena, backends=(calling(inner),)
    )
    with pytest.raises(GraphError, match="in use by a run that has not ended"):
        outer(ones(16))

    own = doubling(64, None)
    outer = build_by_hand(graph_of([x], Calling()(x)), arena=arena, backends=(calling(own),))
    assert outer(ones(16))[0].sum() == 128


class Calling(Op):
    """Puts the sum of what another program gives first."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


def calling(program: Program) -> Backend:
    table: Table[Any] = Table("kernel")

    @table.on(Calling)
    def rule(op: Op, inputs: Any, outputs: Any) -> Run:
        def run() -> None:
            outputs[0][:] = 0
            outputs[0][0] = program(ones(64))[0].sum()

        return run

    return Backend("calling", TOY.view, table)


def test_threads_take_turns() -> None:
    """Programs of several stores, some with two, in one arena: nobody waits for ever."""
    arena, failures = Arena(), list[object]()
    stores = [Store(), Store()]
    first, second = (s.create(n, ones(256)) for s, n in zip(stores, "vw", strict=True))
    x, v, w = given("x", 256), given("v", 256), given("w", 256)
    options: dict[str, Any] = {"variables": (first, second), "updates": (first, second)}
    both = build_by_hand(graph_of([x, v, w], add(v, x), add(w, x)), arena=arena, **options)
    options = {"variables": (second, first), "updates": (second, first)}
    back = build_by_hand(graph_of([x, v, w], add(v, x), add(w, x)), arena=arena, **options)
    plain = doubling(1024, arena)

    def repeat(program: Program, n: int) -> None:
        for _ in range(200):
            found = program(ones(n))
            failures.extend(y for y in found if y.sum() != 2 * n)

    threads = [Thread(target=repeat, args=a) for a in ((both, 256), (back, 256), (plain, 1024))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(t.is_alive() for t in threads)
    assert first.read().sum() == second.read().sum() == 256 * 401


@pytest.mark.parametrize("options", [{"commit": "copy"}, {"commit": "auto", "planner": donating}])
def test_variables_keep_their_values_when_the_arena_grows(options: dict[str, Any]) -> None:
    arena = Arena()
    program, weight = counter(16, arena, **options)
    program(ones(16))
    program(ones(16))
    doubling(64, arena)(ones(64))
    program(ones(16))

    assert weight.read().tolist() == [4.0] * 16


def test_a_failing_run_leaves_the_arena_free() -> None:
    arena = Arena()
    x = given("x", 16)
    failing = build_by_hand(graph_of([x], fail(x)), arena=arena)
    small = doubling(16, arena)
    raising.append(ZeroDivisionError("now"))
    try:
        with pytest.raises(ZeroDivisionError, match="now"):
            failing(ones(16))
    finally:
        raising.clear()

    assert small(ones(16))[0].sum() == 32


def test_explain_says_who_shares() -> None:
    arena = Arena()
    small, large = doubling(16, arena), doubling(64, arena)

    shared = "arena      128 bytes of 512, an arena shared by 2 programs\n"
    assert shared in small.explain()
    assert repr(arena) == "Arena(512 bytes in host, 2 programs)"
    assert large.arena is arena


def test_of_another_space_too() -> None:
    backend = far_backend()
    arena = Arena(backend.space)
    small, large = (doubling(n, arena, backends=(backend,)) for n in (16, 64))

    assert arena.size_bytes == 512
    assert (small(ones(16))[0].sum(), large(ones(64))[0].sum()) == (32, 128)


def test_feeds_are_zero_where_steps_are_tried_to_be_recorded() -> None:
    """What another program left there might be no index that the steps can use."""
    seen: list[Any] = []
    arena = Arena()
    doubling(64, arena)(ones(64))

    def capture(runs: Sequence[Run], warm: bool) -> Run:
        for run in runs:
            run()
        assert isinstance(runs[0], partial)
        seen.append(runs[0].args[0].tolist())
        return lambda: [run() for run in runs]

    recording = Backend("toy", TOY.view, TOY.kernels, capture=capture)
    program = doubling(16, arena, backends=(recording,))
    assert seen == [[0.0] * 16]
    assert program(ones(16))[0].sum() == 32


def test_also_where_the_host_cannot_look() -> None:
    backend = far_backend(capture=lambda runs, warm: lambda: [run() for run in runs])
    arena = Arena(backend.space)
    doubling(64, arena, backends=(backend,))(ones(64))

    assert doubling(16, arena, backends=(backend,))(ones(16))[0].sum() == 32


def buckets(executor: Executor, *sizes: int) -> list[float]:
    x = given("x", "n")
    graph = graph_of([x], mul(add(x, x), x))
    return [float(executor(graph, ones(n))[0].sum()) for n in sizes]


def executor_by_hand(**options: Any) -> Executor:
    by_hand: dict[str, Any] = {"backends": (TOY,), "passes": (), "planner": None}
    return Executor(**{**by_hand, "legalize": None, "order": None, **options})


def test_programs_of_an_executor_share_one_arena() -> None:
    executor = executor_by_hand()
    assert buckets(executor, 16, 64, 32, 16) == [32, 128, 64, 32]

    assert executor.arena is not None
    assert (executor.arena.size_bytes, executor.arena.programs) == (3 * 4 * 64, 3)
    executor.clear()
    assert executor.arena.size_bytes == 0


def test_an_arena_of_sizes_that_go_on_growing_grows_by_halves() -> None:
    """Each growth moves all programs, so after eight of them there are few."""
    executor = executor_by_hand()
    sizes = []
    for n in range(16, 16 * 40, 16):
        buckets(executor, n)
        assert executor.arena is not None
        sizes.append(executor.arena.size_bytes)

    assert sizes[:9] == [3 * 4 * n for n in range(16, 16 * 10, 16)]
    assert sizes[9] == 3 * 4 * 160 * 3 // 2
    assert len(set(sizes[9:])) <= 4


def test_or_have_their_own() -> None:
    executor, graph = executor_by_hand(arena="own"), graph_of([x := given("x", 16)], add(x, x))
    assert buckets(executor, 16, 64) == [32, 128]

    assert executor.arena is None
    assert executor.program(graph).arena.programs == 1


def test_executors_may_share() -> None:
    arena = Arena()
    one, other = executor_by_hand(arena=arena), executor_by_hand(arena=arena)
    assert (buckets(one, 16), buckets(other, 64)) == ([32], [128])

    assert (arena.programs, arena.size_bytes) == (2, 3 * 4 * 64)


def test_what_an_executor_forgets_takes_no_memory() -> None:
    executor = executor_by_hand(capacity=1)
    assert buckets(executor, 64, 16) == [128, 32]

    assert executor.arena is not None
    assert (executor.arena.size_bytes, executor.arena.programs) == (3 * 4 * 16, 1)


def test_but_little_memory_is_not_worth_binding_others_again() -> None:
    executor = executor_by_hand(capacity=2)
    assert buckets(executor, 64, 16, 32, 16) == [128, 32, 64, 32]

    assert executor.arena is not None
    assert (executor.arena.size_bytes, executor.arena.programs) == (3 * 4 * 64, 2)


def test_another_word_for_the_arena_is_refused() -> None:
    with pytest.raises(GraphError, match='arena=\'mine\': give "shared", "own" or an Arena'):
        executor_by_hand(arena="mine")
