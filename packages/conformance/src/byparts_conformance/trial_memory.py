"""Arrays in a backend's memory space, each between two margins that no kernel may write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Backend, TensorType
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

# Bytes before and behind each array, filled with a pattern that is NaN for floats and -1 for
# integers, so that reads and writes outside an array change results or the margin.
MARGIN, UNWRITTEN = 64, b"\xff"


class TrialMemory:
    """Allocates, writes and reads arrays in the memory space of a backend."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._memory: dict[int, tuple[Any, int]] = {}  # id of an array -> memory, size
        self._arrays: list[Any] = []  # keeps the arrays, and so their ids, alive

    def place(self, value: Array, t: TensorType) -> Any:
        """Allocate an array with this value, with a margin before and behind it."""
        margin = UNWRITTEN * MARGIN
        memory = self.backend.space.allocate(t.size_bytes + 2 * MARGIN)
        self.backend.space.write(memory, 0, margin + _bytes(value) + margin)
        array = self.backend.view(memory, MARGIN, t)
        self._memory[id(array)] = (memory, t.size_bytes)
        self._arrays.append(array)
        return array

    def block(self, size_bytes: int) -> Any:
        """Allocate a zeroed u8 array as kernels get for workspace; `None` for 0 bytes."""
        if not size_bytes:
            return None
        return self.place(np.zeros(size_bytes, np.uint8), TensorType("u8", (size_bytes,)))

    def write(self, array: Any, value: Array) -> None:
        """Write a new value into an array that was allocated here."""
        if value.nbytes:
            self.backend.space.write(self._memory[id(array)][0], MARGIN, _bytes(value))

    def fill(self, array: Any, byte: int) -> None:
        """Fill an array that was allocated here with one byte value."""
        memory, size = self._memory[id(array)]
        self.backend.space.write(memory, MARGIN, bytes([byte]) * size)

    def fetch(self, array: Any, t: TensorType) -> Array:
        """Copy the value of an array to a new NumPy array."""
        self.backend.space.synchronize()
        data = bytes(self.backend.space.read(self._memory[id(array)][0], MARGIN, t.size_bytes))
        return np.frombuffer(data, numpy_dtype(t.dtype)).reshape(t.dims)

    def overrun(self, array: Any) -> str:
        """A sentence about bytes of the margins that were written, or ""."""
        self.backend.space.synchronize()
        memory, size = self._memory[id(array)]
        for where, start in (("before", 0), ("behind", MARGIN + size)):
            data = bytes(self.backend.space.read(memory, start, MARGIN))
            if data != UNWRITTEN * MARGIN:
                written = [i for i in range(MARGIN) if data[i : i + 1] != UNWRITTEN]
                at = MARGIN - written[-1] if where == "before" else written[0]
                return f"was written {where} its memory, {at} bytes away from it"
        return ""

    def strided(self, value: Array, t: TensorType) -> Any:
        """A view with this value: every second element of a larger array along each axis."""
        wide = TensorType(t.dtype, tuple(2 * d for d in t.dims))
        spread = np.frombuffer(UNWRITTEN * wide.size_bytes, numpy_dtype(t.dtype)).copy()
        spread = spread.reshape(wide.dims)
        index = (slice(None, None, 2),) * len(t.dims)
        spread[index] = value
        return self.place(spread, wide)[index]


def filler(t: TensorType) -> Array:
    """Contents of an array before a kernel writes.  Not zeros: a missing write must be seen."""
    return np.full(t.dims, 77).astype(numpy_dtype(t.dtype))


def arrays_of(memory: TrialMemory, types: Sequence[TensorType]) -> list[Any]:
    """Allocate arrays of these types, filled with `filler`."""
    return [memory.place(filler(t), t) for t in types]


def _bytes(value: Array) -> bytes:
    return np.ascontiguousarray(value).tobytes()
