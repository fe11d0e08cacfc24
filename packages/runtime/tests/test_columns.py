"""Tables that fit: lists are shortened with their number, cells are cut, columns are left out."""

from __future__ import annotations

import pytest

from byparts_runtime.inspect.columns import Column, fitted, table

COLUMNS = (
    Column("i", right=True),
    Column("op", least=4),
    Column("in", least=8),
    Column("x", least=3, optional=1),
)


def test_what_fits_stays_whole() -> None:
    """Aligned, with two blanks between columns and none at the ends of lines."""
    lines = table(COLUMNS, [("1", "add", ("%a", "%b"), ""), ("10", "neg", ("%c",), "")], 80)

    assert lines == [" i  op   in", " 1  add  %a, %b", "10  neg  %c"]


def test_the_widest_column_gives_first() -> None:
    lines = table(COLUMNS, [("1", "add", tuple(f"%{i}" for i in range(40)), "")], 24)

    assert lines[1] == "1  add  %0, %1, … (40)"


def test_a_column_without_room_is_left_out_and_named() -> None:
    """With its text, where all its cells have the same one."""
    lines = table(COLUMNS, [("1", "matmul", ("%abcdef", "%b"), "numpy")], 18)

    assert lines == [
        "i  op     in",
        "1  matm…  … (2)",
        "no room for: x (numpy); width=29 shows all",
    ]


@pytest.mark.parametrize(
    ("cell", "width", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "abc…"),
        (("ab", "cd", "ef"), 10, "ab, cd, ef"),
        (("ab", "cd", "ef"), 9, "ab, … (3)"),
        (("abcdefgh", "cd"), 11, "abcd… … (2)"),
        (("abcdefgh", "cd"), 5, "… (2)"),
    ],
)
def test_cells_are_fitted(cell: str, width: int, expected: str) -> None:
    """Of a list, the first items and how many there are."""
    assert fitted(cell, width) == expected


def test_of_a_place_the_end_is_kept() -> None:
    assert fitted("a_long_name.py:41", 9, tail=True) == "…me.py:41"
