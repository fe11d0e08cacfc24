"""The table of `byparts check`: it fits a terminal, and says in words what was found."""

from __future__ import annotations

from byparts_conformance import table
from byparts_conformance.cases import COLUMNS

OK = dict.fromkeys(COLUMNS, "ok")
ROWS = {
    "add": {"basic": "ok", "f64": "ok", "rare": "-"},
    "neg": {**OK, "basic": "FAIL"},
    "mul": {"basic": "-"},
    "gelu": {"basic": "via decompose", "f64": "some"},
    "silu": {"basic": "via decompose"},
}


def test_a_cell_stands_below_the_first_letter_of_its_column() -> None:
    """Names of columns stand on two lines in turn."""
    (upper, lower), row = table.header(4), table.line("add", {c: c[0] for c in COLUMNS}, 4)
    at = {c: (upper if i % 2 == 0 else lower).index(c) for i, c in enumerate(COLUMNS)}

    assert [row[place] for place in at.values()] == [c[0] for c in COLUMNS]


def test_the_table_fits_eighty_columns() -> None:
    """A hundred with the longest name of an op."""
    longest = {
        width: [*table.header(width), table.line("x" * width, OK, width)] for width in (20, 40)
    }

    assert max(map(len, longest[20])) <= 80
    assert max(map(len, longest[40])) <= 100


def test_the_sentence_counts() -> None:
    """Right ones, those that are made of others, wrong ones by name, absent ones."""
    said = table.sentence(ROWS)

    assert said == "3 of 5 ops right, 1 of them decomposed; 1 wrong (neg), 1 absent"


def test_words_of_a_row_are_explained() -> None:
    """Those that occur, and no others."""
    assert table.legend({"add": ROWS["add"]}) == ["-: absent"]
    assert table.legend({"gelu": ROWS["gelu"]}) == [
        "via: by what the op is made of; some: of the dtypes or shapes"
    ]
    assert table.legend({"neg": OK}) == []


def test_absent_ops_are_one_line() -> None:
    """Few are named, many are counted."""
    many = {f"op{i}": {"basic": "-"} for i in range(150)}

    assert table.absent(ROWS, everything=False) == ["absent: mul"]
    assert table.absent(many, everything=False) == [
        "absent: 150 ops; --everything tries and names them"
    ]
    assert table.absent({"add": OK}, everything=True) == []


def test_everything_names_what_is_absent() -> None:
    """On lines that fit."""
    many = {f"op{i}": {"basic": "-"} for i in range(150)}
    lines = table.absent(many, everything=True)

    assert max(map(len, lines)) <= 80
    assert " ".join(lines).split()[1:] == [*(f"op{i}," for i in range(149)), "op149"]


def test_an_op_that_means_nothing_clear_is_named() -> None:
    """What ops mean is one line for all of them."""
    assert table.meaning(["add", "neg"], []) == ["meaning: 2 ops tried without a backend, ok"]
    assert table.meaning(["add", "neg"], ["neg"]) == [
        "meaning: 2 ops tried without a backend, 1 wrong (neg)"
    ]
    assert table.meaning([], []) == []
