import pytest

from byparts_memplan import Buffer, DoesNotFit, Placement, check
from byparts_memplan.spaces import place_each

A, B, C = Buffer(4, 0, 2), Buffer(8, 0, 2, space="npu"), Buffer(2, 1, 2)


def stack(buffers: tuple[Buffer, ...], capacity: int | None) -> Placement:
    """A planner: each above the last."""
    ends = [sum(b.size_bytes for b in buffers[: i + 1]) for i in range(len(buffers))]
    offsets = tuple(end - b.size_bytes for end, b in zip(ends, buffers, strict=True))
    made = Placement(buffers, offsets, ends[-1] if ends else 0, 1, "by stack")
    if capacity is not None and made.arena_bytes > capacity:
        last = next(i for i, end in enumerate(ends) if end > capacity)
        raise DoesNotFit("too much", made, proved=len(buffers) > 1, subset=(last,))
    return made


def test_each_space_is_placed_from_zero() -> None:
    """Offsets stand where the buffers do; bytes and bounds add up."""
    made = place_each([A, B, C], None, stack)

    assert made.offsets == (0, 0, 4)
    assert (made.arena_bytes, made.lower_bound_bytes) == (14, 2)
    assert made.how == "by stack in ''; by stack in 'npu'"
    check(made.buffers, made.offsets, made.arenas)


def test_one_space_is_left_to_the_planner() -> None:
    """Nothing is said of spaces where there is one; none at all is one."""
    assert place_each([A, C], 6, stack).how == "by stack"
    assert place_each([], None, stack) == stack((), None)


def test_a_capacity_is_of_each_space_or_by_space() -> None:
    """A space without one has no limit."""
    assert place_each([A, B, C], 8, stack).arena_bytes == 14
    assert place_each([A, B, C], {"": 6}, stack).arena_bytes == 14
    assert place_each([B], {"npu": 8}, stack).arena_bytes == 8


def test_what_does_not_fit_is_named_by_its_place_among_all() -> None:
    """Buffer 2 is the second of its space."""
    with pytest.raises(DoesNotFit, match=r"^space '': too much$") as caught:
        place_each([A, B, C], {"": 5}, stack)

    assert (caught.value.proved, caught.value.subset) == (True, (2,))
    assert caught.value.placement == place_each([A, B, C], None, stack)


def test_a_proof_is_the_better_reason() -> None:
    """Of two spaces that do not fit, the one that never will."""
    with pytest.raises(DoesNotFit, match=r"^space '': ") as caught:
        place_each([B, A, C], 5, stack)

    assert (caught.value.proved, caught.value.subset) == (True, (2,))
