import pytest

from byparts_memplan.amount import human, size_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("12 B", 12), ("1KiB", 1024), ("2.5 mib", 2621440), ("3GB", 3 * 10**9), ("1TiB", 2**40)],
)  # fmt: skip
def test_amounts_are_read(text: str, expected: int) -> None:
    """With unit or without, in either case."""
    assert size_bytes(text) == expected


@pytest.mark.parametrize(
    "text", ["", "MiB", "-1", "1M", "1e6", "1.2.3", "many", "1 2", "inf", "9" * 31]
)
def test_others_are_refused(text: str) -> None:
    """1M is said to be neither MB nor MiB."""
    with pytest.raises(
        ValueError, match="is not an amount; expected bytes, such as 1048576 or 1MiB"
    ):
        size_bytes(text)


def test_absurd_amounts_are_printed() -> None:
    """Also those that no float can hold."""
    assert human(2**4000) == f"{2**3960} TiB"
