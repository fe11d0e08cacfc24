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
MOST = 0.02  # of the docstrings of a part; a few sentences are better for such a beginning


class Docstring(NamedTuple):
    """A docstring and where it stands."""

    file: Path
    line: int
    text: str


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


def share(part: str) -> float:
    """The share of riddles among the docstrings of a part."""
    return len(riddles(part)) / max(1, len(docstrings(part)))


def main() -> None:
    """Print the shares, or the riddles of the parts that are named."""
    for part in sys.argv[1:]:
        for file, line, text in riddles(part):
            print(f"{file.relative_to(ROOT)}:{line}: {text.partition(chr(10))[0]}")
    for part in [p.name for p in parts()] if len(sys.argv) == 1 else ():
        print(f"{share(part):6.1%} of at most {MOST:.0%}  {part}")


if __name__ == "__main__":
    main()
