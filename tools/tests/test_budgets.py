"""Parts keep to what they promise about lines; a budget warns before it fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import budgets

every_part = pytest.mark.parametrize("part", budgets.parts(), ids=lambda part: part.name)


@every_part
def test_a_part_keeps_to_its_budget_of_lines(part: Path) -> None:
    budgets.keep("lines", part.name, budgets.lines_of_part(part))


@every_part
def test_a_budget_is_not_much_too_large(part: Path) -> None:
    """Such a number would promise nothing."""
    budget = budgets.budgets()["lines", part.name]

    assert budget <= budgets.lines_of_part(part) * 1.3 + 100


@every_part
def test_no_file_is_longer_than_its_part_allows(part: Path) -> None:
    if ("lines a file", part.name) in budgets.budgets():
        budgets.keep("lines a file", part.name, budgets.longest_file(part))

    assert budgets.longest_file(part) <= budgets.LINES_A_FILE


@every_part
def test_the_changelog_of_a_part_says_its_budget(part: Path) -> None:
    """A number is changed together with a sentence that says why."""
    text = (part / "CHANGELOG.md").read_text(encoding="utf-8").replace(",", "")
    number = f"{budgets.budgets()['lines', part.name]:.0f}"

    assert re.search(rf"\bbudget is {number}\b", text), "changelog: `The line budget is N, for ...`"


def test_every_budget_of_lines_is_one_of_a_part() -> None:
    named = {of for what, of in budgets.budgets() if what.startswith("lines a")}
    named |= {of for what, of in budgets.budgets() if what == "lines"}

    assert named == {part.name for part in budgets.parts()}


@pytest.fixture
def ten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "budgets", lambda: {("lines", "x"): 10.0})


@pytest.mark.usefixtures("ten")
def test_a_little_above_a_budget_is_a_warning() -> None:
    budgets.keep("lines", "x", 10)
    with pytest.warns(budgets.OverBudget, match="budget of lines of x: 11 of 10"):
        budgets.keep("lines", "x", 11)


@pytest.mark.usefixtures("ten")
def test_ten_percent_above_a_budget_is_a_failure() -> None:
    with pytest.raises(AssertionError, match="12 of 10, which is more than 10 % above"):
        budgets.keep("lines", "x", 12)
    with pytest.raises(AssertionError, match=r"no budget: add a row, 'lines', tab, 'y'"):
        budgets.keep("lines", "y", 1)


def test_two_rows_for_one_thing_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "budgets.tsv").write_text("what\tof\tbudget\nlines\tx\t1\nlines\tx\t2\n")
    monkeypatch.setattr(budgets, "FILE", tmp_path / "budgets.tsv")

    with pytest.raises(ValueError, match="two rows for one thing"):
        budgets.budgets.__wrapped__()
