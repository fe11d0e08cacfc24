"""Counts docstrings that open with a riddle: with a word whose noun stands elsewhere.

    python tools/docstrings.py             # the share of each part
    python tools/docstrings.py runtime     # its riddles, with file and line

A docstring begins with a noun or a verb (house style 10 and 17): a reader sees it alone, in an
editor or from `help`.  A riddle begins with a pronoun, with a question word that stands for the
missing noun ("What a call runs."), or with "Of", "As", "One", "So", which continue a sentence.
"Whether" is no riddle where the sentence says of what: "Whether the kernel is atomic" tells all,
"Whether it is atomic" does not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from budgets import ROOT, parts, sources

_PRONOUNS = "it its they their them that those this these he"
_OPENERS = _PRONOUNS + " what which where when who whose how of as one so"
PRONOUNS, OPENERS = frozenset(_PRONOUNS.split()), frozenset(_OPENERS.split())
MOST = 0.04  # of the docstrings of a part; a few sentences are better for such a beginning
# Parts that wait for the same work, each with what is being cut out of it: their share, as it was
# when this was written, must not grow.  A group that has come below `MOST` leaves the table.
WAITING = {
    "frontend-tf tf-files tf-input tf-keras tf-estimator tf-contrib tinyflow": 0.065,
}


class Docstring(NamedTuple):
    """A docstring and where it stands."""

    file: Path
    line: int
    text: str


def groups() -> dict[str, float]:
    """Names of parts that are counted together -> the share of riddles that they may have."""
    waiting = " ".join(WAITING).split()
    return WAITING | {p.name: MOST for p in parts() if p.name not in waiting}


@cache
def docstrings(part: str) -> tuple[Docstring, ...]:
    """The docstrings of a part's modules, classes and functions."""
    return tuple(
        [
            Docstring(file, node.body[0].lineno, text)
            for file in sources(ROOT / "packages" / part)
            for node in _definitions(ast.parse(file.read_text(encoding="utf-8")))
            if (text := ast.get_docstring(node))
        ]
    )


def _definitions(node: Any) -> Iterator[Any]:
    """The module, and the classes and functions in it; no expression is looked into."""
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(node, name, None) or ():
            yield from _definitions(statement)


def is_riddle(text: str) -> bool:
    """Whether a docstring opens with a word whose noun stands elsewhere."""
    first, second, *_ = [*re.findall(r"[A-Za-z]+|\S", text.lower())[:2], "", ""]
    return first in OPENERS or (first == "whether" and second in PRONOUNS)


def riddles(part: str) -> list[Docstring]:
    """The docstrings of a part that open with a riddle."""
    return [d for d in docstrings(part) if is_riddle(d.text)]


def share(group: str) -> float:
    """The share of riddles among the docstrings of some parts, of which not all need exist."""
    count = sum(len(docstrings(part)) for part in group.split())
    return sum(len(riddles(part)) for part in group.split()) / max(1, count)


def main() -> None:
    """Print the shares, or the riddles of the parts that are named."""
    for part in sys.argv[1:]:
        for file, line, text in riddles(part):
            print(f"{file.relative_to(ROOT)}:{line}: {text.partition(chr(10))[0]}")
    for group, most in groups().items() if len(sys.argv) == 1 else ():
        waits = ", waiting" * (group in WAITING)
        print(f"{share(group):6.1%} of at most {most:.0%}{waits}  {group}")


if __name__ == "__main__":
    main()
