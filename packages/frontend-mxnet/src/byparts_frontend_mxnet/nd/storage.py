"""`Storage`: the place of an array, which handles share; what changes is the array that it holds.

It holds an array, or a cell (parameters, gradients and states, which compiled programs update in
place), or it waits for a program that has not run yet (`tape.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional
from weakref import WeakSet, WeakValueDictionary

from byparts_eager import Array, Cell
from byparts_eager.array import array_of
from byparts_eager.state import state
from byparts_graph_ir import TensorType

owners: WeakValueDictionary[Cell, Storage] = WeakValueDictionary()  # the place of each cell


class Storage:
    """A place.

    Attributes:
        cell: the cell that has the array, if it has become one.
        waits_for: the tape whose program will write it.
        private: whether nobody has read the array since `put` made it: it is written in place
            then, or one number set in n would cost a copy of n.
    """

    __slots__ = ("__weakref__", "_array", "_type", "cell", "private", "waits_for")

    def __init__(self, array: Any, type: Optional[TensorType] = None) -> None:
        self._array, self._type = array, type
        self.cell: Optional[Cell] = None
        self.waits_for: Any = None
        self.private = False
        if state.recorders:
            recorded.add(self)

    @property
    def type(self) -> TensorType:
        """The type of the array, known also while it waits."""
        if self.cell is not None:
            return self.cell.type
        return self._type if self._array is None else self._array.type  # type: ignore[return-value]

    def get(self) -> Any:
        """The array now, or a traced value; runs what it waits for."""
        if self.waits_for is not None and state.frame is None:
            self.waits_for.run()
        self.private = False
        return self._array if self.cell is None else self.cell.value

    def set(self, value: Any) -> None:
        """Hold another array of the same type."""
        if self.waits_for is not None and state.frame is None:
            waits, self.waits_for = self.waits_for, None
            if waits.holds:
                waits.run()
        self.private = False
        if self.cell is None:
            self._array = value
            if state.recorders:
                recorded.add(self)
        else:
            if state.frame is None and Storage.flush is not None:
                Storage.flush()
            self.cell.assign(plain(value))

    def fill(self, value: Any) -> None:
        """Take what the program gave that it waited for."""
        self._array, self.waits_for, self.private = value, None, False

    def as_cell(self, name: str = "") -> Cell:
        """The cell, made of the array if it was none."""
        if self.cell is None:
            self.cell = Cell(plain(self.get()), name=name)
            self._array = None
            owners[self.cell] = self
        return self.cell

    def end_history(self, nodes: Any) -> bool:
        """Forget the node that made the array if it is among `nodes`; whether there is none now."""
        node = getattr(self._array, "node", None)
        if node in nodes:
            self._array, node = plain(self._array), None
        return node is None

    flush: Any = None  # runs the programs that read cells and have not run yet


recorded: WeakSet[Storage] = WeakSet()  # places that arrays were put into while recording


def plain(value: Any) -> Any:
    """An array without the node that made it, and no handle's own."""
    return array_of(value.kind, value.data) if value.__class__ is Array else value


@contextmanager
def outside() -> Iterator[None]:
    """Compute at once and unrecorded, whatever is traced or recorded around."""
    before = state.frame, state.recorders, state.overlay
    state.frame, state.recorders, state.overlay = None, 0, None
    try:
        yield
    finally:
        state.frame, state.recorders, state.overlay = before
