from hypothesis import given, settings
from problems import alive, conflicts, problems

from byparts_memplan import Buffer, check
from byparts_memplan.crowd import Crowd
from byparts_memplan.sweep import sweep


@settings(max_examples=300, deadline=None)
@given(problems())
def test_neighbours_are_those_alive_together(problem: list[Buffer]) -> None:
    """Slice and list of each member, gaps or none, are all that meet it, and no other."""
    crowd = Crowd(problem)
    found = {
        frozenset((crowd.index[i], crowd.index[j]))
        for i in range(len(crowd.members))
        for j in [*range(i + 1, crowd.until[i]), *crowd.before[i]]
    }

    assert found == {frozenset(pair) for _, *pair in conflicts(problem, [0] * len(problem))}


@settings(max_examples=200, deadline=None)
@given(problems())
def test_both_of_a_pair_know_it(problem: list[Buffer]) -> None:
    """Whoever is placed second must see the first."""
    crowd = Crowd(problem)
    near = [{*range(i + 1, crowd.until[i]), *crowd.before[i]} for i in range(len(crowd.members))]

    assert all(i in near[j] for i, others in enumerate(near) for j in others)
    assert all(i not in others for i, others in enumerate(near))


@settings(max_examples=200, deadline=None)
@given(problems())
def test_load_is_the_fullest_step_of_a_life(problem: list[Buffer]) -> None:
    """Gaps left out."""
    crowd = Crowd(problem)
    sums = [sum(b.size_bytes for b in problem if alive(b, t)) for t in range(30)]

    assert crowd.load == [
        max(total for t, total in enumerate(sums) if alive(b, t)) for b in crowd.members
    ]


@settings(max_examples=200, deadline=None)
@given(problems(pins=False, spaces=["", "npu"]))
def test_sweep_is_valid_with_gaps(problem: list[Buffer]) -> None:
    """It leaves them empty."""
    check(problem, sweep(problem), 99_999)
