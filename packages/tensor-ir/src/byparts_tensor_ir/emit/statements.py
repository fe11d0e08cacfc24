"""Statements in a language of C's family: stores, conditions, loops, and whatever has a form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from byparts_tensor_ir.access import EmitError, unrounded
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import Buffer, For, If, Statement, Store, statement_lines


class Statements:
    """Writes statements.

    Attributes:
        values: the texts of values.
        forms: kind of a statement -> what writes one; of others there is none.
        compute: the texts of the values of a store, none of which changes when another is stored.
        element: an element to be written.
        begins: called with each statement before it is written.
        forget: forgets what these statements may change.
        rounds: the braces of a loop.
        inside: called with each loop, within its braces.
    """

    def __init__(self, values: Values) -> None:
        self.values, self.text, self.language = values, values.text, values.language
        self.forms: dict[type[Any], Callable[[Any], None]] = {
            **{Store: self.store, If: self.condition},
            For: self.loop,
        }
        self.compute: Callable[[Sequence[Expr]], list[str]] = lambda some: [
            values.deep_value(e) for e in some
        ]
        self.element: Callable[[Buffer, Sequence[Expr]], str] = values.element
        self.begins: Callable[[Statement], None] = _nothing
        self.forget: Callable[[Sequence[Statement]], None] = self.text.forget_written
        self.rounds: Callable[[For], AbstractContextManager[None]] = self.plain_rounds
        self.inside: Callable[[For], None] = _nothing

    def write(self, body: Sequence[Statement]) -> None:
        """Write statements, one after the other.

        Raises:
            EmitError: one has no form.
        """
        for s in body:
            self.begins(s)
            form = next((f for kind, f in self.forms.items() if isinstance(s, kind)), None)
            if form is None:
                raise EmitError(f"{statement_lines([s])[0]} outside of GPU code")
            form(s)

    def store(self, s: Store) -> None:
        """Compute all values, then store them."""
        values = unrounded(s)
        texts = self.compute(values)
        for target, text in zip(s.targets, texts, strict=True):
            self.assign(target, s.index, text)
        self.forget([s])

    def assign(self, buffer: Buffer, index: Sequence[Expr], value: str) -> None:
        """Store a value whose text is known."""
        stored = self.language.trim(self.values.stored(buffer.dtype, value))
        self.text.line(f"{self.element(buffer, index)} = {stored};")

    def condition(self, s: If) -> None:
        """Write an `if` around the body."""
        test = self.language.trim(self.values.value(s.condition))
        with self.text.block(f"if ({test})"):
            self.write(s.body)

    def loop(self, s: For) -> None:
        """A loop; nothing that a round reads is known in the next one, if the loop changes it."""
        self.forget(s.body)
        with self.rounds(s):
            self.write(s.body)

    def plain_rounds(self, s: For) -> AbstractContextManager[None]:
        """The braces of a loop over all rounds."""
        return self.between(self.head(s), s)

    @contextmanager
    def between(self, head: str, s: For) -> Any:
        """Braces behind a line, and what stands inside of them in front."""
        with self.text.block(head):
            self.inside(s)
            yield

    def head(self, s: For, low: str = "", end: str = "") -> str:
        """A loop over all rounds, or from `low` to `end`."""
        low = low or str(s.var.attr.low)
        end = end or self.values.index(s.extent + s.var.attr.low)
        name = self.text.name(s.var)
        return self.language.statements["loop"].format(name=name, low=low, end=end)


def _nothing(s: Statement) -> None:
    """Write nothing."""
