"""Runs the tests: all that are not long, or what a change of some parts needs.

    hatch run test                       # all that are not long
    hatch run test memplan               # of one part, and what the house asks of that part
    hatch run test opset draw -k svg -x  # words from the first option on go to pytest

A change of a part can break its users, too: those are tried by `hatch run test` before a merge.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest", "-m", "not long", "--hypothesis-profile=few")
BOTH_CORES = ("-n", "2", "--dist", "worksteal")
HOUSE = (  # their cases have the names of parts
    "tools/tests/test_budgets.py",
    "tools/tests/test_import_circles.py",
    "integration/test_packaging.py",
    "integration/test_documentation.py",
)
MANY = 40  # files of tests: from here on two processes take less time than one


def commands(words: Sequence[str]) -> list[list[str]]:
    """The calls of pytest, one after the other.

    Raises:
        ValueError: a word before the first option names no part and no file.
    """
    names = list(takewhile(lambda word: not word.startswith("-"), words))
    options = list(words[len(names) :])
    if not names or all((ROOT / name.partition("::")[0]).exists() for name in names):
        return [[*PYTEST, *([] if options else BOTH_CORES), *words]]
    parts = {path.parent.name for path in ROOT.glob("packages/*/pyproject.toml")}
    for name in names:
        if name not in parts:
            raise ValueError(f"{name!r} is no part; there are {', '.join(sorted(parts))}")
    return [call for name in names for call in of_part(name, options)]


def of_part(name: str, options: Sequence[str]) -> list[list[str]]:
    """Its own tests, and those of the house that have its name."""
    tests = ROOT / "packages" / name / "tests"
    many = len(list(tests.glob("test_*.py"))) > MANY
    own = [*PYTEST, *(BOTH_CORES if many else ()), str(tests.relative_to(ROOT)), *options]
    return [own, [*PYTEST, "-q", "-k", f"[{name}] or packages/{name}/", *HOUSE]]


def main(words: Sequence[str]) -> int:
    """Run until one fails; return its status."""
    try:
        calls = commands(words)
    except ValueError as error:
        print(f"run_tests: {error}", file=sys.stderr)
        return 2
    for call in calls:
        print("pytest", *call[len(PYTEST) :], flush=True)
        if status := subprocess.call(call, cwd=ROOT):
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
