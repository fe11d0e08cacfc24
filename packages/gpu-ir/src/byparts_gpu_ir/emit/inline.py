"""Names of values in CUDA C: short values are written where they are used, to be readable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from byparts_tensor_ir.access import unrounded
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.expression import FLOATS, HALVES, INDEX, Expr
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Statement, Store
from byparts_tensor_ir.substitute import expressions, loads

LOCAL = ("local", "register")
MOST_LETTERS = 56  # of a text that is written where it is used
# Operations whose C names an operand twice.
_TWICE = ("min", "max", "abs")


class Inlined:
    """Texts of values, short ones without names of their own.

    Attributes:
        values: what makes the texts.
        uses: how often each value is used.
    """

    def __init__(self, values: Values, statements: Sequence[Statement]) -> None:
        self.values, self.text, self.uses = values, values.text, uses_of(statements)
        self.root: Expr | None = None  # the value that is stored next
        self.constant: set[str] = set()  # names of values
        self.deep = False  # whether a chain is being computed that is too long for Python's stack
        values.name, values.one_arm = self.name, self.one_arm
        values.deep_value = self.deep_value

    def name(self, e: Expr, text: str) -> str:
        """The value under a name of its own, or its text where it is used but once."""
        if e.op == "load" and not e.attr.shape and e.attr.scope in LOCAL and e.dtype not in HALVES:
            return self.text.name(e.attr)
        if e is self.root and len(text) <= 2 * MOST_LETTERS:
            return text
        if not self.deep and inlines(e, text, self.uses):
            return enclosed(text)
        name = self.values.named(e, bare(text))
        self.constant.add(name)
        return name

    def deep_value(self, e: Expr) -> str:
        """The text of a value of any depth, that may be as long as a line."""
        for x in self.values.varying.operands_first(e, None):
            self.deep = True
            self.values.value(x)
        self.root = expanded(e)
        text = self.values.value(e)
        self.root, self.deep = None, False
        return text

    def one_arm(self, e: Expr, test: str) -> str:
        """A select; C computes one arm of `?:`, if both can be written in one line."""
        _, a, b = e.args
        text = self.text.in_one_line(lambda: f"{test} ? {self.arm(a)} : {self.arm(b)}")
        return self.name(e, text) if text else self.values.branches(e, test)

    def arm(self, e: Expr) -> str:
        """An arm, in which a load is written out: whether another arm reads it too or not."""
        if e.op == "load" and not self.text.knows(e):
            return enclosed(self.values.operation(e))
        return self.values.value(e)

    def held(self, e: Expr, text: str) -> str:
        """A name for a value that no store changes."""
        if text in self.constant:
            return text
        name = self.text.fresh()
        self.text.line(f"const {self.values.type_of(e)} {name} = {bare(text)};")
        return name


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
