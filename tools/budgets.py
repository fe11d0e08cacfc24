"""Budgets of lines, bytes and start-up work: read from `budgets.tsv`, kept by tests.

    python tools/budgets.py        # prints each part's lines beside its budget

A budget is changed by hand, with a sentence in the part's changelog.  A little more than a budget
is a warning, because 0.1 % of a wheel's bytes must not stop somebody's work; from 10 % on a test
fails, because then somebody has to decide what goes, or why there is more to read.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).with_suffix(".tsv")
TOLERANCE = 1.1  # times the budget: from here on a build fails
LINES_A_FILE = 600  # where a part promises nothing else
NAMES = ("__init__.py",)  # lists of names, of any length


class OverBudget(UserWarning):
    """A number above its budget by less than the tolerance."""


@cache
def budgets() -> dict[tuple[str, str], float]:
    """(what, of) -> the budget, as the file says.

    Raises:
        ValueError: two rows for one thing.
    """
    rows = [line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()]
    numbers = [row for row in rows if not row[0].startswith("#")][1:]  # the first names columns
    result = {(what, of): float(number) for what, of, number in numbers}
    if len(result) < len(numbers):
        raise ValueError(f"{FILE.name} has two rows for one thing")
    return result


def keep(what: str, of: str, amount: float) -> None:
    """Warn above the budget; fail where it is passed by more than the tolerance."""
    if (what, of) not in budgets():
        raise AssertionError(f"no budget: add a row, {what!r}, tab, {of!r}, to {FILE.name}")
    budget = budgets()[what, of]
    sentence = f"budget of {what} of {of}: {amount:,.10g} of {budget:,.10g}"
    if amount > TOLERANCE * budget:
        raise AssertionError(f"{sentence}, which is more than 10 % above")
    if amount > budget:
        warnings.warn(OverBudget(sentence), stacklevel=2)


def parts() -> list[Path]:
    """Folders of all parts."""
    return sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))


def sources(part: Path) -> list[Path]:
    """Python files of a part, tests apart."""
    return sorted(part.glob("src/**/*.py"))


def lines_of(path: Path) -> int:
    """Number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def lines_of_part(part: Path) -> int:
    """Number of lines of a part, tests apart."""
    return sum(map(lines_of, sources(part)))


def longest_file(part: Path) -> int:
    """Number of lines of the longest file that is no list of names."""
    return max(lines_of(file) for file in sources(part) if file.name not in NAMES)


def main() -> None:
    """Print what each part has, and may have."""
    for part in parts():
        budget = budgets().get(("lines", part.name), 0)
        print(f"{part.name:18} {lines_of_part(part):7,} of {budget:7,.0f} lines")


if __name__ == "__main__":
    main()
