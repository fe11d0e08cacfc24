"""Large fetches are computed into the arrays that the caller gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as forall, settings, strategies as st
from toy_backend import add, build_by_hand, donating, given, graph_of, mul, product

from byparts_graph_ir import GraphError
from byparts_runtime import Arena, Program, Store
from byparts_runtime.building.place import LARGE_BYTES

SIZE = LARGE_BYTES // 4


def doubled(**options: Any) -> Program:
    """x + x, and 3 x, which is small enough to be copied."""
    x, y = given("x", SIZE), given("y", 2)
    graph = graph_of([x, y], add(x, x), product(y, 3.0))
    return build_by_hand(graph, **{"planner": donating, **options})


def ones(value: float = 1.0) -> Any:
    return np.full(SIZE, value, np.float32)


TWO = np.ones(2, np.float32)


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_large_fetch_is_no_part_of_the_arena() -> None:
    program, plain = doubled(), doubled(planner=None)

    assert (
        plain.plan.arena_bytes - program.plan.arena_bytes == 0
    )  # `donating` leaves its place free
    assert list(program._loaded.placed.results.values()) == [0]
    assert program(ones(2), TWO)[0].tolist() == ones(4).tolist()


def test_results_that_the_caller_keeps_stay_as_they_are() -> None:
    program = doubled()
    kept = [program(ones(i), TWO)[0] for i in range(6)]

    assert [float(y.max()) for y in kept] == [float(y.min()) for y in kept] == [0, 2, 4, 6, 8, 10]
    assert len({address(y) for y in kept}) == 6


def test_memory_of_a_result_that_is_dropped_is_used_again() -> None:
    """Two sets in a loop; one, where the caller drops the result before the next call."""
    program = doubled()
    found: Any = None
    in_a_loop = set()
    for i in range(8):
        found = program(ones(i), TWO)[0]
        in_a_loop.add(address(found))
    del found
    dropped = {address(program(ones(i), TWO)[0]) for i in range(8)}

    assert len(in_a_loop) <= 3
    assert len(dropped) == 1


def test_a_view_keeps_the_result() -> None:
    program = doubled()
    part = program(ones(1), TWO)[0][10:12]
    other = memoryview(program(ones(2), TWO)[0])
    program(ones(9), TWO)
    program(ones(9), TWO)

    assert part.tolist() == [2, 2]
    assert other[0] == 4


@settings(deadline=None, max_examples=25)
@forall(st.lists(st.integers(0, 3), max_size=12))
def test_any_pattern_of_keeping_and_dropping(keeps: list[int]) -> None:
    """Against plain NumPy, whatever is kept; 0: nothing, else so many of the last results."""
    program = doubled()
    kept: list[tuple[float, Any]] = []
    for i, keep in enumerate(keeps):
        kept.append((2.0 * i, program(ones(i), TWO)[0]))
        kept = kept[len(kept) - keep :] if keep else []
        for want, array in kept:
            assert array[0] == array[-1] == want


def test_the_caller_may_write_to_it() -> None:
    program = doubled()
    y = program(ones(1), TWO)[0]
    y += 1

    assert program(ones(1), TWO)[0][0] == 2
    assert y[0] == 3


def test_a_result_that_another_step_reads() -> None:
    x = given("x", SIZE)
    y = add(x, x)
    program = build_by_hand(graph_of([x], y, mul(y, y)), planner=donating)

    for i in range(3):
        first, second = program(ones(i))
        assert (first[0], second[-1]) == (2 * i, 4 * i * i)


def test_a_result_that_the_commit_reads_is_copied() -> None:
    """Nothing of the commit may be Python code, also not what changes memory from call to call."""
    x, w = given("x", SIZE), given("w", SIZE)
    weight = Store().create("w", ones(1))
    y = add(x, x)
    program = build_by_hand(
        graph_of([x, w], y, add(w, y)), variables=(weight,), updates=(weight,), planner=donating
    )

    found = [program(ones(i))[0] for i in range(4)]

    assert program._loaded.placed.results == {}
    assert [y[0] for y in found] == [0, 2, 4, 6]
    assert weight.read()[0] == 1 + 12


def test_a_failed_run_gives_nothing_away() -> None:
    program = doubled()
    kept = program(ones(1), TWO)[0]
    with pytest.raises(Exception, match="expected f32"):
        program(ones(1).astype(np.float64), TWO)

    assert kept[0] == 2
    assert program(ones(3), TWO)[0][0] == 6


def test_an_arena_that_grows_does_not_disturb_results() -> None:
    arena = Arena()
    program = doubled(arena=arena)
    kept = program(ones(1), TWO)[0]
    x = given("x", 4 * SIZE)
    build_by_hand(graph_of([x], add(x, add(x, x))), arena=arena)

    assert program(ones(2), TWO)[0][0] == 4
    assert kept[0] == 2


def test_a_fetch_that_is_fetched_twice_or_fed_is_copied() -> None:
    x = given("x", SIZE)
    y = add(x, x)
    program = build_by_hand(graph_of([x], y, y, x), planner=donating)
    a, b, c = program(ones(1))
    a += 1

    assert (a[0], b[0], c[0]) == (3, 2, 1)


def test_programs_of_one_arena_keep_so_much_memory_together() -> None:
    """What was used longest ago goes first, and is made again when it is wanted."""
    arena = Arena(kept_bytes=3 * LARGE_BYTES)
    programs = [doubled(arena=arena) for _ in range(6)]
    for i in (0, 1, 2, 3, 4, 5, 0, 5, 3):
        assert programs[i](ones(i), TWO)[0][[0, -1]].tolist() == [2 * i, 2 * i]
        assert arena.results.size_bytes <= 3 * LARGE_BYTES
    kept = [p._own.results.kept for p in programs]  # type: ignore[union-attr]

    assert [len(sets) for sets in kept] == [1, 0, 0, 1, 0, 1]


def test_a_set_in_use_is_kept_however_large_it_is() -> None:
    """With room for nothing each program keeps none but the set of the last run."""
    arena = Arena(kept_bytes=0)
    one, other = doubled(arena=arena), doubled(arena=arena)
    kept = [program(ones(i), TWO)[0] for i in range(3) for program in (one, other)]

    assert [float(y.min()) for y in kept] == [float(y.max()) for y in kept] == [0, 0, 2, 2, 4, 4]
    assert arena.results.size_bytes == LARGE_BYTES


def test_release_gives_memory_back() -> None:
    """The arrays of the caller stay; the next call takes new memory."""
    arena = Arena()
    program, other = doubled(arena=arena), doubled(arena=arena)
    kept = program(ones(1), TWO)[0]
    other(ones(5), TWO)
    assert arena.results.size_bytes == 2 * LARGE_BYTES
    arena.release()

    assert arena.results.size_bytes == 0
    assert program(ones(3), TWO)[0][0] == 6
    assert kept[0] == kept[-1] == 2
    arena.release()
    assert program.profile(ones(3), TWO).step_s[0] > 0
    assert "add" in program.explain()


def test_memory_goes_with_the_program() -> None:
    arena = Arena()
    program = doubled(arena=arena)
    program(ones(1), TWO)
    del program

    assert arena.results.size_bytes == 0


def test_measuring_leaves_the_results_that_the_caller_has() -> None:
    program = doubled()
    kept = program(ones(1), TWO)[0]
    program.profile(ones(7), TWO)
    program.trace(ones(7), TWO)

    assert kept[0] == kept[-1] == 2


def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(GraphError, match="arena: kept_bytes is -1, and must be at least 0"):
        Arena(kept_bytes=-1)
