"""Lines of code so far: blocks between braces, the names in them, and what the names stand for.

Each value is computed once and has a name from there to the end of its block.  What was read from a
buffer is forgotten where a statement may have changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from byparts_tensor_ir.expression import INDEX, Expr, make
from byparts_tensor_ir.statement import Buffer, Statement, walk, written
from byparts_tensor_ir.substitute import containing


class NeedsLine(Exception):
    """A value that is to be a part of a line needs a line before it."""


class Text:
    """The lines of one function.

    Attributes:
        lines: so far.
        scopes: expression -> its name, of each open block.
        taken: names that no value may have.
        names: buffers, variables and registers whose name in the code is another than their own.
    """

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self.lines: list[str] = []
        self.scopes: list[dict[Expr, str]] = [{}]
        self.taken = set(taken)
        self.names: dict[Buffer | Expr, str] = {}
        self._depth, self._count, self._in_one_line = 1, 0, False

    def line(self, text: str) -> None:
        """Add a line."""
        if self._in_one_line:
            raise NeedsLine
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def block(self, head: str, end: str = "") -> Iterator[None]:
        """Lines between braces, with names of their own; `end` stands behind the last brace."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        self.scopes.append({})
        yield
        self.scopes.pop()
        self._depth -= 1
        self.line("}" + end)

    @contextmanager
    def same_block(self) -> Iterator[None]:
        """No block: the lines stand where they are."""
        yield

    def in_one_line(self, text: Callable[[], str]) -> str:
        """The text that a function gives if it adds no line, else "", and nothing is left of it."""
        if self._in_one_line:
            return text()
        count, depth = self._count, len(self.scopes)
        self.scopes.append({})
        self._in_one_line = True
        try:
            return text()
        except NeedsLine:
            self._count = count
            return ""
        finally:
            self._in_one_line = False
            del self.scopes[depth:]

    # -- names ---------------------------------------------------------------------------------

    def fresh(self, stem: str = "t") -> str:
        """A name that nothing in the function has."""
        self._count += 1
        while f"{stem}{self._count}" in self.taken:
            self._count += 1
        name = f"{stem}{self._count}"
        self.taken.add(name)
        return name

    def give_name(self, what: Buffer | Expr, wanted: str) -> str:
        """Name a buffer or a variable: as wanted, or with a number behind."""
        name = wanted
        for k in count(1):
            if name not in self.taken:
                break
            name = f"{wanted}_{k}"
        self.taken.add(name)
        self.names[what] = name
        return name

    def name(self, what: Buffer | Expr) -> str:
        """The name of a buffer, a variable, a register, or a `number`."""
        known = self.names.get(what)
        if known is not None:
            return known
        return str(what.attr.name) if isinstance(what, Expr) else what.name

    def number(self, name: str, dtype: str = INDEX) -> Expr:
        """The value that stands in the code under this name."""
        e = make("name", (), dtype, (name, 0))
        self.names[e] = name
        return e

    # -- values that have a name ---------------------------------------------------------------

    def value(self, e: Expr) -> str | None:
        """The name of a value, if it was computed in this block or around it."""
        for scope in reversed(self.scopes):
            if e in scope:
                return scope[e]
        return None

    def knows(self, e: Expr) -> bool:
        """Whether a value has a name."""
        return any(e in scope for scope in self.scopes)

    def remember(self, e: Expr, name: str) -> None:
        """Give a value a name, to the end of this block."""
        self.scopes[-1][e] = name

    def forget(self, changed: Callable[[Expr], bool]) -> None:
        """Forget the values of which a part, or all, is changed."""
        forget(self.scopes, changed)

    def forget_written(self, body: Sequence[Statement]) -> None:
        """Forget what was read from buffers to which these statements store."""
        forget_written(self.scopes, body)


def forget(scopes: Sequence[dict[Expr, Any]], changed: Callable[[Expr], bool]) -> None:
    """Forget the known values of which a part, or all, is changed."""
    for scope in scopes:
        for e in containing(scope, changed) & scope.keys():
            del scope[e]


def forget_written(scopes: Sequence[dict[Expr, Any]], body: Sequence[Statement]) -> None:
    """Forget the known values that were read from buffers to which these statements store."""
    targets = {t for s in walk(body) for t in written(s)}
    forget(scopes, lambda x: x.op == "load" and x.attr in targets)
