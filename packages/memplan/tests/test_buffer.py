import pytest
from hypothesis import given, settings
from problems import alive, obvious_bound, problems

from byparts_memplan import Buffer, Placement, PlanError, lower_bound


@settings(max_examples=300, deadline=None)
@given(problems(spaces=["", "npu"]))
def test_bound_is_what_it_says(problem: list[Buffer]) -> None:
    """Equal to the sum at every step, alignment by alignment, with gaps, pins and spaces."""
    assert lower_bound(problem) == obvious_bound(problem)


@settings(max_examples=100, deadline=None)
@given(problems(most=4))
def test_lives_are_the_steps_without_the_gaps(problem: list[Buffer]) -> None:
    """Interval by interval."""
    for b in problem:
        steps = [step for born, dies in b.lives for step in range(born, dies)]

        assert steps == [t for t in range(30) if alive(b, t) or (not b.size_bytes and t in steps)]


def test_bound_uses_gaps() -> None:
    """What comes and goes in a gap adds nothing."""
    assert lower_bound([Buffer(8, 0, 9, gaps=((2, 5),)), Buffer(8, 2, 5)]) == 8
    assert lower_bound([Buffer(8, 0, 9, gaps=((2, 5),)), Buffer(8, 2, 6)]) == 16


def test_bound_pads_each_alignment() -> None:
    """A small unaligned buffer does not take the padding from the others."""
    aligned = [Buffer(10, 0, 1, 16)] * 3

    assert lower_bound([*aligned, Buffer(1, 0, 1)]) == 42


def test_bound_sums_spaces() -> None:
    """They are different memories."""
    problem = [Buffer(8, 0, 1), Buffer(4, 0, 1, space="npu"), Buffer(6, 1, 2, space="npu")]

    assert lower_bound(problem) == 14
    assert Placement(tuple(problem), (0, 0, 0), 14, 14, "by hand").arenas == {"": 8, "npu": 6}


def test_many_alignments_share_their_divisor() -> None:
    """The bound stays cheap: 10 alignments, all even."""
    assert lower_bound([Buffer(1, 0, 1, 2 * k) for k in range(1, 11)]) == 19


@pytest.mark.parametrize("gaps", [((2, 2),), ((0, 10),), ((4, 5), (2, 3)), ((2, 3), (3, 4))])
def test_senseless_gaps_are_refused(gaps: tuple[tuple[int, int], ...]) -> None:
    """Empty, outside, unsorted, touching."""
    with pytest.raises(PlanError, match="gaps that are sorted, apart and within its life"):
        Buffer(1, 1, 9, gaps=gaps)
