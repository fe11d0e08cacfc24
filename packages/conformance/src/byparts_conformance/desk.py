"""Memory of a backend's space for trials: each array lies between margins that nobody may write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Backend, TensorType
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

# Memory around an array, filled with bytes that are NaN for floats, -1 for integers: what a kernel
# reads or writes beyond its arrays shows.
MARGIN, UNWRITTEN = 64, b"\xff"


class Desk:
    """Arrays of a backend's own, in memory of its space, and the way there and back."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._memory: dict[int, tuple[Any, int]] = {}  # id of an array -> where it is, its bytes
        self._arrays: list[Any] = []  # keeps them alive

    def place(self, value: Array, t: TensorType) -> Any:
        """An array of the backend with this value, and a margin before and behind it."""
        margin = UNWRITTEN * MARGIN
        memory = self.backend.space.allocate(t.size_bytes + 2 * MARGIN)
        self.backend.space.write(memory, 0, margin + _bytes(value) + margin)
        array = self.backend.view(memory, MARGIN, t)
        self._memory[id(array)] = (memory, t.size_bytes)
        self._arrays.append(array)
        return array

    def block(self, size_bytes: int) -> Any:
        """Zeroed bytes as kernels get them: an array of u8, `None` for none."""
        if not size_bytes:
            return None
        return self.place(np.zeros(size_bytes, np.uint8), TensorType("u8", (size_bytes,)))

    def write(self, array: Any, value: Array) -> None:
        """Give an array that was placed here another value."""
        if value.nbytes:
            self.backend.space.write(self._memory[id(array)][0], MARGIN, _bytes(value))

    def fill(self, array: Any, byte: int) -> None:
        """Overwrite an array that was placed here."""
        memory, size = self._memory[id(array)]
        self.backend.space.write(memory, MARGIN, bytes([byte]) * size)

    def fetch(self, array: Any, t: TensorType) -> Array:
        """Its value, as a NumPy array of our own."""
        self.backend.space.synchronize()
        data = bytes(self.backend.space.read(self._memory[id(array)][0], MARGIN, t.size_bytes))
        return np.frombuffer(data, numpy_dtype(t.dtype)).reshape(t.dims)

    def overrun(self, array: Any) -> str:
        """Which bytes around the array were written, or ""."""
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
        """The same value, every second element of a larger array along each axis."""
        wide = TensorType(t.dtype, tuple(2 * d for d in t.dims))
        spread = np.frombuffer(UNWRITTEN * wide.size_bytes, numpy_dtype(t.dtype)).copy()
        spread = spread.reshape(wide.dims)
        index = (slice(None, None, 2),) * len(t.dims)
        spread[index] = value
        return self.place(spread, wide)[index]


def rubbish(t: TensorType) -> Array:
    """What lies in memory before a kernel writes: never zeros, so that a missing write shows."""
    return np.full(t.dims, 77).astype(numpy_dtype(t.dtype))


def arrays_of(desk: Desk, types: Sequence[TensorType]) -> list[Any]:
    """Arrays of these types with rubbish in them."""
    return [desk.place(rubbish(t), t) for t in types]


def _bytes(value: Array) -> bytes:
    return np.ascontiguousarray(value).tobytes()
