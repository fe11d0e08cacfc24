"""Instructions that stand between runs: a loop and its bodies as one list, for one call of C.

    Set(k, 0)
    again
    Jump(over, (k, rounds), False)                       # out, unless k < rounds
    Move(slot, xs, 1024, source_at=(k, 1024))            # row k of xs
    run, run, ...
    Add(k, 1)
    Jump(again)
    over

A backend with `loops` takes them in `capture`, among its runs.  Places are arrays of its `view`.
"""

from __future__ import annotations

from byparts_graph_ir.backend.space import HOST
from byparts_graph_ir.model.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, Union

    from byparts_graph_ir.backend.kernel import Array, Run

    Line: TypeAlias = "Union[Run, Label, Set, Add, Move, Jump, Host]"


class Counter:
    """An integer of 64 bits in host memory.

    Attributes:
        memory: 8 bytes, of which a backend makes its view.
    """

    __slots__ = ("_items", "memory")

    def __init__(self, value: int = 0) -> None:
        self.memory = HOST.allocate(8)
        self._items = self.memory.cast("q")
        self._items[0] = value

    @property
    def value(self) -> int:
        """The number that the counter holds now."""
        return self._items[0]

    @value.setter
    def value(self, value: int) -> None:
        self._items[0] = value


class Label:
    """A line to jump to; it stands once in a list."""

    __slots__ = ()


class Set(Frozen):
    """Counter = value."""

    counter: Counter
    value: int


class Add(Frozen):
    """Counter += by."""

    counter: Counter
    by: int


class Move(Frozen):
    """Copy bytes from one place to another; they are the same or share none.

    Attributes:
        target_at: a counter and a number of bytes: the place begins counter * bytes after `target`.
        source_at: likewise of `source`.
    """

    target: Array
    source: Array
    size_bytes: int
    target_at: tuple[Counter, int] | None = None
    source_at: tuple[Counter, int] | None = None


class Jump(Frozen):
    """Go on at the label where the test gives `when`; without a test, always.

    Attributes:
        test: the place of a bool, or counters (a, b) for a < b.
    """

    to: Label
    test: Array | tuple[Counter, Counter] | None = None
    when: bool = True


class Host(Frozen):
    """Call Python; an error of its ends the whole."""

    call: Run
