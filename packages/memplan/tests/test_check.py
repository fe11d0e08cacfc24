import pytest
from hypothesis import assume, given, settings, strategies as st
from problems import conflicts, problems

from byparts_memplan import Buffer, Placement, PlanError, check, place

A, B = Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3)


def test_accepts_what_is_apart_in_time_or_space() -> None:
    """Above each other, or one after the other."""
    check([A, B], [0, 4], 6)
    check([A, Buffer(4, 2, 3)], [0, 0], 4)


def test_accepts_buffers_of_no_bytes_or_no_time() -> None:
    """They overlap nothing."""
    check([A, Buffer(0, 0, 2), Buffer(4, 1, 1)], [0, 2, 0], 4)


def test_accepts_what_lies_in_a_gap() -> None:
    """Also a pinned one, and gaps that interlock."""
    check([Buffer(4, 0, 9, pinned=0, gaps=((2, 5),)), Buffer(4, 2, 5)], [0, 0], 4)
    check([Buffer(4, 0, 6, gaps=((1, 5),)), Buffer(4, 1, 5, gaps=((2, 3),))], [0, 0], 4)


def test_accepts_the_same_bytes_of_two_spaces() -> None:
    """Which are different bytes; one total, or an arena each."""
    problem = [A, Buffer(8, 0, 2, space="npu")]

    check(problem, [0, 0], 12)
    check(problem, [0, 0], {"": 4, "npu": 8})


GAP = Buffer(4, 0, 9, gaps=((2, 5),))
NPU = Buffer(8, 0, 2, space="npu")


@pytest.mark.parametrize(
    ("buffers", "offsets", "match"),
    [
        ([A, B], [0, 2], r"^buffers 0 and 1 share bytes \[2, 4\) during steps \[1, 2\)$"),
        ([A, B], [0], "^2 buffers but 1 offsets$"),
        ([A, B], [0, -1], r"^buffer 1 at \[-1, 1\) leaves the arena of 8 bytes$"),
        ([A, B], [6, 0], r"^buffer 0 at \[6, 10\) leaves the arena of 8 bytes$"),
        ([Buffer(4, 0, 1, 4)], [2], r"^buffer 0 at \[2, 6\) is not aligned to 4 bytes$"),
        ([Buffer(4, 0, 1, pinned=1)], [0], r"^buffer 0 at \[0, 4\) is pinned to 1$"),
        ([Buffer(4, 1, 7), GAP], [0, 0], r"buffers 0 and 1 .* during steps \[1, 2\)$"),
        ([GAP, Buffer(4, 3, 7)], [0, 0], r"buffers 0 and 1 .* during steps \[5, 7\)$"),
        ([NPU, NPU], [0, 0], r"share bytes \[0, 8\) of space 'npu' during steps \[0, 2\)$"),
        ([A, NPU], [0, 0], "^the spaces end at {'': 4, 'npu': 8}, together over 8 bytes$"),
    ],
)
def test_names_the_culprits(buffers: list[Buffer], offsets: list[int], match: str) -> None:
    """Each way to be wrong, with its numbers."""
    with pytest.raises(PlanError, match=match):
        check(buffers, offsets, 8)


@pytest.mark.parametrize(
    ("arenas", "match"),
    [
        ({"": 9, "npu": 7}, r"buffer 1 at \[0, 8\) leaves the arena of 7 bytes of space 'npu'"),
        ({"": 9}, r"buffer 1 at \[0, 8\) is in space 'npu'; arenas are of \[''\]"),
    ],
)
def test_each_space_has_its_arena(arenas: dict[str, int], match: str) -> None:
    """And must have one."""
    with pytest.raises(PlanError, match=match):
        check([A, NPU], [0, 0], arenas)


@settings(max_examples=500, deadline=None)
@given(problems(pins=False, spaces=["", "npu"]), st.data())
def test_is_right_about_any_offsets(problem: list[Buffer], data: st.DataObject) -> None:
    """It agrees with looking at every pair at every step, and names the first pair in time."""
    offsets = [b.alignment * data.draw(st.integers(0, 99 // b.alignment)) for b in problem]
    wrong = conflicts(problem, offsets)
    try:
        check(problem, offsets, 1000)
    except PlanError as error:
        words = str(error).split()
        step = int(words[-2].strip("[,"))
        assert (step, int(words[1]), int(words[3])) in wrong
        assert step == min(wrong)[0]
    else:
        assert not wrong


@settings(max_examples=200, deadline=None)
@given(problems(pins=False), st.data())
def test_a_planted_fault_is_named(problem: list[Buffer], data: st.DataObject) -> None:
    """Move one buffer of a valid placement onto a neighbour: it is caught, by name."""
    placement = Placement(tuple(problem), _stacked(problem), 4000, 0, "by hand")
    check(problem, placement.offsets, placement.arena_bytes)
    near = [(i, j) for _, i, j in conflicts(problem, [0] * len(problem))]
    assume(near)
    i, j = data.draw(st.sampled_from(near))
    offsets = list(placement.offsets)
    offsets[i] = offsets[j] - offsets[j] % problem[i].alignment
    assume((offsets[i] + problem[i].size_bytes) > offsets[j])

    with pytest.raises(PlanError, match=rf"buffers? .*\b{i}\b"):
        check(problem, offsets, placement.arena_bytes)


def _stacked(problem: list[Buffer]) -> tuple[int, ...]:
    """Each above the last, whatever its life."""
    return tuple(96 * i for i in range(len(problem)))


def test_large_placements_are_checked_in_a_moment() -> None:
    """20 000 buffers, 10 000 alive at once; one step longer, and two of them meet."""
    problem = [Buffer(64, i, i + 10_000, 64) for i in range(20_000)]
    offsets = [64 * (i % 10_000) for i in range(20_000)]

    check(problem, offsets, 640_000)
    with pytest.raises(PlanError, match="buffers 5000 and 15000 share"):
        check([*problem[:5000], Buffer(64, 5000, 15_001), *problem[5001:]], offsets, 640_000)


def test_offsets_in_an_arena_of_its_own_size() -> None:
    """One byte less is refused."""
    placement = place([A, B])

    with pytest.raises(PlanError, match="leaves the arena of 5 bytes"):
        check([A, B], placement.offsets, placement.arena_bytes - 1)


def test_culprits_have_their_names() -> None:
    """Where they are given."""
    with pytest.raises(PlanError, match=r"^buffers conv and relu share bytes"):
        check([A, B], [0, 2], 8, names=["conv", "relu"])
    with pytest.raises(PlanError, match=r"^buffer relu at "):
        check([A, B], [0, 9], 8, names=["conv", "relu"])
