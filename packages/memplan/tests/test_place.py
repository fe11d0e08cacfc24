import csv
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from byparts_memplan import Buffer, DoesNotFit, Placement, PlanError, check, lower_bound, place

DATA = Path(__file__).parent / "data"


def buffers(most: int = 30) -> st.SearchStrategy[list[Buffer]]:
    row = st.integers(0, 41 * 13 * 7 * 5 - 1)  # one number for each: drawing is what takes time
    return st.lists(row.map(_buffer), max_size=most)


def _buffer(row: int) -> Buffer:
    row, size_bytes = divmod(row, 41)
    row, born = divmod(row, 13)
    alignment, life = divmod(row, 7)
    return Buffer(size_bytes, born, born + life, alignment=(1, 1, 4, 6, 16)[alignment])


def brute_force(
    problem: list[Buffer], placed: tuple[tuple[int, Buffer], ...] = (), best: int = 1 << 60
) -> int:
    """The optimum.  Sorted by offset, an optimal placement is a lowest-fit one, so orders suffice."""
    top = max((at + b.size_bytes for at, b in placed), default=0)
    if top >= best or not problem:
        return min(top, best)
    for k, b in enumerate(problem):
        rest = problem[:k] + problem[k + 1 :]
        best = brute_force(rest, (*placed, (_lowest_fit(b, placed), b)), best)
    return best


def _lowest_fit(b: Buffer, placed: tuple[tuple[int, Buffer], ...]) -> int:
    near = [
        (at, at + o.size_bytes) for at, o in placed if max(b.born, o.born) < min(b.dies, o.dies)
    ]
    tops = [0, *[upper + -upper % b.alignment for _, upper in near]]
    return min(
        at for at in tops if all(at + b.size_bytes <= lower or upper <= at for lower, upper in near)
    )


def random_problem(n: int, seed: int) -> list[Buffer]:
    rng = random.Random(seed)
    births = [rng.randrange(8) for _ in range(n)]
    return [Buffer(rng.randint(1, 12), t, t + rng.randint(1, 5)) for t in births]


@settings(max_examples=500, deadline=None)
@given(buffers())
def test_every_placement_is_valid(problem: list[Buffer]) -> None:
    """The oracle accepts it, and it is not below the bound."""
    placement = place(problem, effort=20_000)

    check(problem, placement.offsets, placement.arena_bytes)
    assert placement.lower_bound_bytes <= placement.arena_bytes


@settings(max_examples=300, deadline=None)
@given(buffers(most=5))
def test_bound_and_arena_enclose_the_optimum(problem: list[Buffer]) -> None:
    """Brute force lies between what we promise and what we reach."""
    optimum = brute_force(problem)

    assert lower_bound(problem) <= optimum <= place(problem).arena_bytes


def test_small_problems_are_solved() -> None:
    """Of 100 random problems of 6 buffers, all get the least arena there is, and know it."""
    made = {seed: place(random_problem(6, seed)) for seed in range(100)}

    assert [p.arena_bytes for p in made.values()] == [
        brute_force(random_problem(6, seed)) for seed in made
    ]
    assert all(p.optimal for p in made.values())


@settings(max_examples=300, deadline=None)
@given(buffers(), st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), max_size=4))
def test_pinned_buffers_stay(problem: list[Buffer], steps: list[tuple[int, int]]) -> None:
    """Fixed offsets are kept, and the others move around them."""
    pins = [Buffer(40, t, t + life, 16, pinned=48 * i) for i, (t, life) in enumerate(steps)]
    placement = place([*pins, *problem], effort=20_000)

    check([*pins, *problem], placement.offsets, placement.arena_bytes)


@pytest.mark.parametrize("effort", [0, 100, 20_000_000])
def test_any_effort_gives_a_valid_placement(effort: int) -> None:
    """With none at all the sweep alone answers."""
    problem = random_problem(200, seed=1)
    placement = place(problem, effort=effort)

    check(problem, placement.offsets, placement.arena_bytes)


def test_more_effort_is_never_worse() -> None:
    """The best is kept."""
    problem = random_problem(200, seed=2)

    assert place(problem).arena_bytes <= place(problem, effort=0).arena_bytes


@pytest.mark.parametrize(
    "name", ["resnet18_train_b8", "unet_train_b8", "densenet121_infer_b1_inplace"]
)
def test_real_networks_reach_the_bound(name: str) -> None:
    """No arena could be smaller."""
    with (DATA / f"{name}.csv").open() as file:
        rows = [(int(r["size"]), int(r["lower"]), int(r["upper"])) for r in csv.DictReader(file)]
    problem = [Buffer(*row) for row in rows]
    placement = place(problem)

    check(problem, placement.offsets, placement.arena_bytes)
    assert placement.arena_bytes == placement.lower_bound_bytes


def test_nothing_to_place() -> None:
    """No buffers, no arena."""
    assert place([]) == Placement((), (), 0, 0, "by sweep")


def test_four_thousand_buffers() -> None:
    """Large and crowded: two in three of all pairs are alive together."""
    rng = random.Random(3)
    rows = [(rng.randint(1, 999) * 64, sorted(rng.sample(range(8000), 2))) for _ in range(4000)]
    problem = [Buffer(size_bytes, born, dies, 64) for size_bytes, (born, dies) in rows]
    placement = place(problem, effort=2_000_000)  # less than one order: the test is of the sweep

    assert placement.arena_bytes < 1.1 * placement.lower_bound_bytes


def test_bound_counts_padding_between_but_not_on_top() -> None:
    """Two buffers of 10 bytes aligned to 16 end at 26."""
    problem = [Buffer(10, 0, 1, 16), Buffer(10, 0, 1, 16)]

    assert lower_bound(problem) == place(problem).arena_bytes == 26


def test_bound_with_mixed_alignments_is_safe() -> None:
    """Aligned to 4 and to 6, all offsets are even: 5 bytes at 0, then 1 at 6."""
    problem = [Buffer(5, 0, 1, 4), Buffer(1, 0, 1, 6)]

    assert lower_bound(problem) == place(problem).arena_bytes == 7


def test_pinned_buffers_that_overlap_are_refused() -> None:
    """The two culprits are named."""
    with pytest.raises(
        PlanError, match=r"pinned buffers \[0, 2\]: buffers 0 and 1 share bytes \[4, 8\)"
    ):
        place([Buffer(8, 0, 2, pinned=0), Buffer(1, 0, 1), Buffer(8, 1, 3, pinned=4)])


@pytest.mark.parametrize(
    ("numbers", "match"),
    [
        ((-1, 0, 1), "size_bytes >= 0"),
        ((1.5, 0, 1), "size_bytes=1.5, .* needs integers"),
        ((1, 0, 1, 1, 0.5), "pinned=0.5, .* needs integers"),
        ((1, 0, 1, 0), "alignment >= 1"),
        ((1, 2, 1), "dies before it is born"),
        ((1, 0, 1, 16, 8), "its alignment forbids"),
    ],
)
def test_senseless_buffers_are_refused(numbers: tuple[int, ...], match: str) -> None:
    """At birth, with the buffer printed."""
    with pytest.raises(PlanError, match=match):
        Buffer(*numbers)  # type: ignore[arg-type]  # the first five are numbers


def test_what_is_no_buffer_and_no_capacity_is_named() -> None:
    with pytest.raises(PlanError, match=r"buffers\[1\] is \(4, 0, 1\); expected a Buffer"):
        place([Buffer(4, 0, 1), (4, 0, 1)])  # type: ignore[list-item]
    with pytest.raises(PlanError, match="capacity is '1MiB'; expected a number of bytes"):
        place([Buffer(4, 0, 1)], capacity="1MiB")  # type: ignore[arg-type]


def test_without_the_search_greedy_orders_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a small device: a placement all the same, and a refusal that proves nothing."""
    problem = random_problem(20, seed=35)
    searched = place(problem).arena_bytes
    monkeypatch.setitem(sys.modules, "byparts_memplan.placement.improve", None)
    made = place(problem)

    check(problem, made.offsets, made.arena_bytes)
    assert searched < made.arena_bytes
    with pytest.raises(DoesNotFit, match="no placement was found in time") as caught:
        place(problem, searched)
    assert not caught.value.proved
    with pytest.raises(DoesNotFit, match="no placement exists"):
        place(problem, lower_bound(problem) - 1)
