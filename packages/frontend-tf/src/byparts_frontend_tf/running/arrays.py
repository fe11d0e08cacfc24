"""Rows of a `TensorArray` while it is lowered, each a value.

Outside of loops rows are written at known places.  In a loop whose rounds are known, a row that is
read at a known place is a slice of a sequence of the scan, and one that is written is a row that
the scan stacks: nothing is copied from round to round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Input, TensorType, Value


class Rows:
    """Rows by their places; immutable.

    Attributes:
        size: how many places there are.
        dynamic: whether a write beyond makes more.
        buffer: all rows, stacked, or `None`.
        parts: place -> row, over those of the buffer.
        dtype: of the elements.
        element: the shape of a row, where it is known without rows.
    """

    def __init__(
        self,
        dtype: str,
        size: int,
        dynamic: bool = False,
        buffer: Optional[Value] = None,
        parts: Optional[dict[int, Value]] = None,
        element: Optional[tuple[int, ...]] = None,
    ) -> None:
        self.dtype, self.size, self.dynamic = dtype, size, dynamic
        self.buffer, self.parts, self.element = buffer, parts or {}, element
        self._whole: Optional[Value] = None

    @property
    def row_type(self) -> Optional[TensorType]:
        """The type of a row, where there is one."""
        if self.buffer is not None:
            return TensorType(self.dtype, self.buffer.type.dims[1:])
        for row in self.parts.values():
            return row.type
        return None if self.element is None else TensorType(self.dtype, self.element)

    def read(self, place: int) -> Value:
        """The row at a place; zeros where none was written.

        Raises:
            IndexError: there is no such place.
        """
        if not 0 <= place < self.size:
            raise IndexError(f"Tried to read from index {place} but array size is: {self.size}")
        if place in self.parts:
            return self.parts[place]
        if self.buffer is not None:
            return ops.getitem(self.buffer, place)
        kind = self.row_type
        if kind is None:
            raise IndexError(f"Could not read index {place} twice or before it was written")
        return ops.fill(0, kind.dtype, kind.dims)

    def read_at(self, place: Value) -> Value:
        """The row at a place that a value says."""
        return ops.gather(self.stacked(), place)

    def write(self, place: int, row: Value) -> Rows:
        """With a row at a place.

        Raises:
            IndexError: there is no such place.
        """
        size = self.size
        if self.dynamic:
            size = max(size, place + 1)
        if not 0 <= place < size:
            raise IndexError(f"Tried to write to index {place} but array is not resizeable")
        buffer = self.buffer
        parts = {**self.parts, place: row}
        return Rows(self.dtype, size, self.dynamic, buffer, parts, self.element)

    def write_at(self, place: Value, row: Value) -> Rows:
        """With a row at a place that a value says."""
        old = Rows(self.dtype, self.size, False, self.buffer, self.parts, row.type.dims).stacked()
        new = ops.scatter(old, ops.reshape(place, [1]), ops.expand_dims(row, 0))
        return Rows(self.dtype, self.size, self.dynamic, new)

    def with_rows(self, places: Sequence[int], rows: Value) -> Rows:
        """With stacked rows at places."""
        at = np.asarray(places, np.int64)
        size = max(self.size, int(at.max()) + 1) if self.dynamic and at.size else self.size
        if at.size and not (at.min() >= 0 and at.max() < size):
            raise IndexError(f"Tried to write to index {at.max()} but array size is: {size}")
        if at.size == size and np.array_equal(at, np.arange(size)):
            return Rows(self.dtype, size, self.dynamic, rows)
        element = rows.type.dims[1:]
        old = Rows(self.dtype, size, False, self.buffer, self.parts, element).stacked()
        return Rows(self.dtype, size, self.dynamic, ops.scatter(old, ops.constant(at), rows))

    def stacked(self) -> Value:
        """All rows, stacked; zeros where none was written.  The same value each time."""
        if self._whole is None:
            self._whole = self._stack()
        return self._whole

    def _stack(self) -> Value:
        if self.buffer is not None and not self.parts:
            have = self.buffer.type.dims[0]
            if have == self.size:
                return self.buffer
        kind = self.row_type
        if kind is None:
            kind = TensorType(self.dtype, ())
        if not self.size:
            return ops.fill(0, self.dtype, (0, *kind.dims))
        if not self.parts and self.buffer is None:
            return ops.fill(0, self.dtype, (self.size, *kind.dims))
        return ops.stack([self._row(i, kind) for i in range(self.size)])

    def _row(self, place: int, kind: TensorType) -> Value:
        if place in self.parts:
            return self.parts[place]
        if self.buffer is not None and place < self.buffer.type.dims[0]:
            return ops.getitem(self.buffer, place)
        return ops.fill(0, kind.dtype, kind.dims)

    def taken(self, places: Any) -> Value:
        """Rows at known places, stacked."""
        at = np.asarray(places, np.int64).reshape(-1)
        if at.size and not (at.min() >= 0 and at.max() < self.size):
            raise IndexError(f"Tried to read from index {at.max()} but array size is: {self.size}")
        if self.parts and at.size:
            return ops.stack([self.read(int(i)) for i in at])
        whole = self.stacked()
        if at.size == self.size and np.array_equal(at, np.arange(self.size)):
            return whole
        if at.size and np.array_equal(at, np.arange(at[0], at[0] + at.size)):
            return ops.getitem(whole, slice(int(at[0]), int(at[-1]) + 1))
        return ops.gather(whole, ops.constant(at))


class Mixed(Exception):  # no error: the loop is lowered in another way
    """A loop uses an array so that it has to be a state: it reads what it writes."""


class Sites:
    """Places where a loop reads and writes arrays.

    Attributes:
        reads: (rows read, place, the slice that is read).
        writes: position of the state -> (place, row), in order.
    """

    def __init__(self) -> None:
        self.reads: list[tuple[Rows, Value, Value]] = []
        self.writes: dict[int, list[tuple[Value, Value]]] = {}
        self.read_states: set[int] = set()


class LoopRows:
    """An array inside a loop whose rounds are to be known.

    Args:
        sites: of the loop.
        rows: before the loop.
        position: of the state that it is, or `None`: it is read outside of the loop's states.
        written: whether this round has written it.
    """

    def __init__(
        self, sites: Sites, rows: Rows, position: Optional[int], written: bool = False
    ) -> None:
        self.sites, self.rows, self.position, self.written = sites, rows, position, written

    @property
    def dtype(self) -> str:
        """Dtype of the elements."""
        return self.rows.dtype

    def read_at(self, place: Value) -> Value:
        """The row at a place.

        Raises:
            Mixed: this loop writes it, or nothing is known of its rows.
        """
        kind = self.rows.row_type
        if self.written or kind is None:
            raise Mixed
        if self.position is not None:
            self.sites.read_states.add(self.position)
        row = Input(kind, None, "", "")
        self.sites.reads.append((self.rows, place, row))
        return row

    def write_at(self, place: Value, row: Value) -> LoopRows:
        """With a row at a place.

        Raises:
            Mixed: it is no state of this loop.
        """
        if self.position is None:
            raise Mixed
        self.sites.writes.setdefault(self.position, []).append((place, row))
        return LoopRows(self.sites, self.rows, self.position, True)

    def stacked(self) -> Value:
        """Not in such a loop.

        Raises:
            Mixed: always.
        """
        raise Mixed
