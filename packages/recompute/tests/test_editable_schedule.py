"""A schedule that is changed step by step is the one that would be computed anew."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given as over
from hypothesis.strategies import integers
from random_graphs import graphs_with_external
from random_kernels import Kernels, any_kernels

from byparts_graph_ir import Graph
from byparts_memplan.steps import Steps
from byparts_recompute.scheduling.editable_schedule import EditableSchedule
from byparts_recompute.scheduling.live_bytes import LiveBytes
from byparts_recompute.scheduling.moves import Moves


def curve_of(schedule: EditableSchedule) -> list[int]:
    """Bytes at each position; the last is the caller's."""
    curve = schedule.live
    return [x + more for live, more in zip(curve.live, curve.added, strict=True) for x in live]


def changed(steps: Steps, seed: int) -> EditableSchedule:
    """After keys went in and out, some of them twice."""
    random, n = Random(seed), len(steps.nodes)
    schedule = EditableSchedule(steps, range(n))
    for _ in range(12):
        stage = random.randrange(1, n + 1)
        key = stage * schedule.n + random.randrange(stage)
        if key in schedule.keys:
            schedule.remove(key)
        elif schedule.again[key % schedule.n]:
            schedule.insert(key)
    return schedule


@over(graphs_with_external(), any_kernels(), integers(0, 99))
def test_changes_lead_where_a_simulation_does(
    case: tuple[Graph, frozenset[int]], kernels: Kernels | None, seed: int
) -> None:
    """At every position, and at the peak."""
    steps = Steps(case[0], external=case[1], kernels=kernels)
    if not steps.nodes:
        return
    schedule = changed(steps, seed)
    sequence = schedule.sequence()

    assert curve_of(schedule)[:-1] == steps.live_bytes(sequence)
    assert schedule.peak_bytes() == steps.peak_bytes(sequence)
    assert schedule.live.peak() == max(curve_of(schedule))


@over(graphs_with_external(), any_kernels(), integers(0, 99))
def test_what_is_taken_back_is_as_it_was(
    case: tuple[Graph, frozenset[int]], kernels: Kernels | None, seed: int
) -> None:
    """Keys, lifetimes, what is written in place, bytes at every position; in both directions."""
    steps = Steps(case[0], external=case[1], kernels=kernels)
    if not steps.nodes:
        return
    moves = Moves(changed(steps, seed))
    before, random = copied(moves.schedule), Random(seed)
    for _ in range(2):
        mark = moves.mark()
        for key in random.sample(sorted(before[0]), min(3, len(before[0]))):
            moves.remove(key)
        stage = random.randrange(1, len(steps.nodes) + 1)
        for step in range(stage):
            key = stage * moves.schedule.n + step
            if moves.schedule.again[step] and key not in moves.schedule.keys:
                moves.insert(key)
        moves.undo(mark)

        assert copied(moves.schedule) == before


def copied(schedule: EditableSchedule) -> tuple[Any, ...]:
    """All that changes."""
    reused = {key: size for key, size in schedule.reused.items() if size}
    lives = deepcopy((schedule.starts, schedule.ends, schedule.readers))
    return {*schedule.keys}, *lives, reused, curve_of(schedule), schedule.cost


@over(graphs_with_external(), any_kernels(), integers(0, 99))
def test_loading_keys_is_inserting_them(
    case: tuple[Graph, frozenset[int]], kernels: Kernels | None, seed: int
) -> None:
    steps = Steps(case[0], external=case[1], kernels=kernels)
    if not steps.nodes:
        return
    schedule = changed(steps, seed)
    loaded = EditableSchedule(steps, schedule.base, schedule.keys)

    assert curve_of(loaded) == curve_of(schedule)
    assert (loaded.starts, loaded.ends, loaded.cost) == (
        schedule.starts,
        schedule.ends,
        schedule.cost,
    )


@over(integers(0, 999))
def test_a_curve_is_a_list(seed: int) -> None:
    """Of 300 positions, so that there are several blocks: sums over ranges, excess and maximum."""
    random, stride = Random(seed), 300
    plain = {k * (stride + 1): random.randrange(9) for k in range(stride)}
    curve = LiveBytes(list(plain), list(plain.values()))
    for _ in range(20):
        after, until = sorted(random.choices(range(-1, stride * stride), k=2))
        curve.add(after, until, change := random.randrange(-3, 9))
        plain = {k: x + change * (after < k <= until) for k, x in plain.items()}
    limit = random.randrange(60)

    assert curve.peak() == max(plain.values())
    assert curve.peak_key() == next(k for k, x in plain.items() if x == curve.peak())
    assert curve.excess(limit) == sum(max(0, x - limit) for x in plain.values())
    assert curve.keys_over(limit) == [k for k, x in plain.items() if x > limit]
