"""Arrays where the host runs a loop: tuples of rows, each an array of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_tf.running.arrays import Rows


class HostRows:
    """Rows by their places; immutable."""

    def __init__(self, rows: tuple[Any, ...], dynamic: bool) -> None:
        self.rows, self.dynamic = rows, dynamic

    def write(self, place: int, row: Any) -> HostRows:
        """With a row at a place."""
        rows = list(self.rows)
        if place >= len(rows) and self.dynamic:
            rows += [None] * (place + 1 - len(rows))
        if not 0 <= place < len(rows):
            raise IndexError(f"Tried to write to index {place} but array size is: {len(rows)}")
        rows[place] = row
        return HostRows(tuple(rows), self.dynamic)

    def filled(self) -> list[Any]:
        """All rows; zeros where none was written."""
        known = next((r for r in self.rows if r is not None), None)
        if known is None:
            return []
        return [np.zeros_like(known) if r is None else r for r in self.rows]


def host_rows(rows: Rows, stacked: Any) -> list[HostRows]:
    """The array that rows of a program are after it, given all of them stacked."""
    written = rows.buffer is not None or rows.parts
    return [HostRows(tuple(stacked) if written else (None,) * rows.size, rows.dynamic)]


def _stack(array: HostRows, dtype: Any, element: Any) -> Any:
    rows = array.filled()
    if rows:
        return np.stack(rows)
    dims = tuple([d or 0 for d in element or ()])
    return np.zeros((len(array.rows), *dims), dtype.as_numpy_dtype)


def _unstack(array: HostRows, value: Any) -> HostRows:
    return HostRows(tuple(np.asarray(value)), array.dynamic)


def _scatter(array: HostRows, places: Any, value: Any) -> HostRows:
    for place, row in zip(np.asarray(places).reshape(-1).tolist(), value, strict=True):
        array = array.write(int(place), row)
    return array


HOST_MEANINGS: dict[str, Any] = {
    "TensorArrayV3": lambda size, dtype, dynamic, element: HostRows((None,) * int(size), dynamic),
    "TensorArrayReadV3": lambda array, place, dtype, element: array.filled()[int(place)],
    "TensorArrayWriteV3": lambda array, place, row: array.write(int(place), np.asarray(row)),
    "TensorArrayStack": _stack,
    "TensorArrayGatherV3": lambda array, places, dtype, element: np.stack(
        [array.filled()[int(i)] for i in places]
    ),
    "TensorArrayConcatV3": lambda array, dtype, element: np.concatenate(array.filled()),
    "TensorArrayUnstack": _unstack,
    "TensorArrayScatterV3": _scatter,
    "TensorArraySizeV3": lambda array: np.int32(len(array.rows)),
}
