"""Which tests a change of a part needs."""

from __future__ import annotations

import pytest

from run_tests import BOTH_CORES, HOUSE, PYTEST, ROOT, commands

HEAD = len(PYTEST)


def test_without_words_all_tests_run_on_both_cores() -> None:
    assert commands([]) == [[*PYTEST, *BOTH_CORES]]


def test_options_replace_those_of_the_command() -> None:
    assert commands(["-x", "-k", "relu"]) == [[*PYTEST, "-x", "-k", "relu"]]


def test_a_file_is_given_to_pytest_as_it_is() -> None:
    assert commands(["tools/tests", "-x"]) == [[*PYTEST, "tools/tests", "-x"]]


def test_a_part_has_its_own_tests_and_those_of_the_house_about_it() -> None:
    own, house = commands(["memplan", "-x"])

    assert own[-2:] == ["packages/memplan/tests", "-x"]
    assert house[HEAD:] == ["-q", "-k", "[memplan] or packages/memplan/", *HOUSE]


def test_several_parts_run_one_after_the_other() -> None:
    assert [call[HEAD] for call in commands(["draw", "weights"])[::2]] == [
        "packages/draw/tests",
        "packages/weights/tests",
    ]


def test_a_word_that_is_no_part_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"'memplam' is no part; there are .*memplan"):
        commands(["memplam"])


def test_the_tests_of_the_house_are_there() -> None:
    assert [file for file in HOUSE if not (ROOT / file).exists()] == []
