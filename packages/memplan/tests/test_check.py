import pytest

from byparts_memplan import Buffer, PlanError, check

A, B = Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3)


def test_accepts_what_is_apart_in_time_or_space() -> None:
    """Above each other, or one after the other."""
    check([A, B], [0, 4], 6)
    check([A, Buffer(4, 2, 3)], [0, 0], 4)


def test_accepts_buffers_of_no_bytes_or_no_time() -> None:
    """They overlap nothing."""
    check([A, Buffer(0, 0, 2), Buffer(4, 1, 1)], [0, 2, 0], 4)


@pytest.mark.parametrize(
    ("buffers", "offsets", "match"),
    [
        ([A, B], [0, 2], r"^buffers 0 and 1 share bytes \[2, 4\) during steps \[1, 2\)$"),
        ([A, B], [0], "^2 buffers but 1 offsets$"),
        ([A, B], [0, -1], r"^buffer 1 at \[-1, 1\) leaves the arena of 8 bytes$"),
        ([A, B], [6, 0], r"^buffer 0 at \[6, 10\) leaves the arena of 8 bytes$"),
        ([Buffer(4, 0, 1, 4)], [2], r"^buffer 0 at \[2, 6\) is not aligned to 4 bytes$"),
        ([Buffer(4, 0, 1, pinned=1)], [0], r"^buffer 0 at \[0, 4\) is pinned to 1$"),
    ],
)
def test_names_the_culprits(buffers: list[Buffer], offsets: list[int], match: str) -> None:
    """Each way to be wrong, with its numbers."""
    with pytest.raises(PlanError, match=match):
        check(buffers, offsets, 8)
