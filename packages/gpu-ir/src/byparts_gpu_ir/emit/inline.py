"""Decides which values get a name and which are written where they are used, to be readable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from byparts_tensor_ir.emit.strategy import unrounded
from byparts_tensor_ir.expression import FLOATS, INDEX, Expr
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Statement, Store
from byparts_tensor_ir.substitute import expressions, loads

MOST_LETTERS = 56  # of a text that is written where it is used
# Operations whose C names an operand twice.
_TWICE = ("min", "max", "abs")


class NeedsLine(Exception):
    """A value that is to be part of a text needs a line before it."""


def uses_of(statements: Sequence[Statement]) -> dict[Expr, int]:
    """Count the uses of each value by others and by statements, with functions expanded.

    O(nodes).
    """
    uses: dict[Expr, int] = {}
    seen: set[Expr] = set()
    for s in statements:
        roots = (*s.index, *unrounded(s)) if isinstance(s, Store) else expressions(s)
        todo = []
        for root in map(expanded, roots):
            uses[root] = uses.get(root, 0) + 1
            todo.append(root)
        while todo:
            e = todo.pop()
            if e in seen:
                continue
            seen.add(e)
            for a in map(expanded, e.args):
                uses[a] = uses.get(a, 0) + (2 if e.op in _TWICE or e.attr == "rare" else 1)
                todo.append(a)
    return uses


def inlines(e: Expr, text: str, uses: dict[Expr, int]) -> bool:
    """Whether to write a value where it is used.

    C computes integers in other types than theirs, so those are kept apart from each other.
    """
    if e.op in _COMPARISONS and e.args[0].dtype == INDEX and not loads(e):
        return len(text) <= MOST_LETTERS // 2
    typed = e.dtype in FLOATS or e.dtype == "bool" or e.op in ("load", "cast")
    return typed and uses.get(e, 2) < 2 and len(text) <= MOST_LETTERS


def enclosed(text: str) -> str:
    """The text as an operand: a name, a call and an element are one as they are."""
    name = _NAME.match(text)
    rest = text[name.end() :] if name else text
    return text if not rest or _is_enclosed(rest) else f"({text})"


def bare(text: str) -> str:
    """The text without parentheses around all of it."""
    return text[1:-1] if text.startswith("(") and _is_enclosed(text) else text


def _is_enclosed(text: str) -> bool:
    """Whether brackets open at the beginning and close at the end."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0:
            return k == len(text) - 1
    return False


_NAME = re.compile(r"\w+")
_COMPARISONS = ("lt", "le", "eq", "ne")
