"""The memory of the device, and what the host has in its place: handles.

A `Memory` is no buffer and a `Tensor` no array: who takes them for one gets a TypeError, never
bytes of something else.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from typing import Any

from acme_byparts_npu.driver import Driver
from byparts_graph_ir import ITEM_BYTES, MissingRule, Space, TensorType

ALIGNMENT, FIRST = 64, 64  # the first bytes are the device's own
DTYPES = {"f32": "float32", "i32": "int32", "bool": "bool"}


class Memory:
    """A range of the device's memory, given back when nobody holds it."""

    def __init__(self, offset: int, size_bytes: int) -> None:
        self.offset, self.size_bytes = offset, size_bytes


class Tensor:
    """A tensor in the device's memory: where it is, not what."""

    def __init__(
        self, space: Npu, memory: Memory, offset: int, dtype: str, shape: Any, strides: Any
    ) -> None:
        self.space, self.memory, self.offset = space, memory, offset
        self.dtype, self.shape, self.strides = dtype, tuple(shape), tuple(strides)

    def __getitem__(self, index: tuple[slice, ...]) -> Tensor:
        """Part of it, by one slice for each axis."""
        offset, shape, strides = self.offset, list(self.shape), list(self.strides)
        for axis, part in enumerate(index):
            start, stop, step = part.indices(shape[axis])
            shape[axis] = len(range(start, stop, step))
            offset += start * strides[axis]
            strides[axis] *= step
        return Tensor(self.space, self.memory, offset, self.dtype, shape, strides)

    def __setitem__(self, index: object, source: Tensor) -> None:
        """`a[...] = b`, and wait until it is done: the runtime commits variables with this."""
        assert index is ..., "the whole tensor, or nothing"
        self.space.send(*command("copy", (source,), (self,)))
        self.space.synchronize()

    def __array__(self, *given: object, **options: object) -> Any:
        raise TypeError("a tensor of the npu is not on the host: read it through its space")

    __iter__ = __float__ = __buffer__ = __array__


class Npu(Space):
    """The memory space, as byparts asks for it."""

    name = "npu:0"

    def __init__(self) -> None:
        self.driver = Driver()
        self.send, self.synchronize = self.driver.send, self.driver.synchronize  # type: ignore[method-assign]
        self._top = FIRST
        self._free: dict[int, list[int]] = {}

    def allocate(self, size_bytes: int) -> Memory:
        """Zeroed memory."""
        size = max(ALIGNMENT, -(-size_bytes // ALIGNMENT) * ALIGNMENT)
        with self.driver.lock:
            free = self._free.setdefault(size, [])
            if free:
                memory = Memory(free.pop(), size)
                self.driver.write(memory.offset, bytes(size))
            else:
                memory = Memory(self._top, size)
                self._top += size
            weakref.finalize(memory, free.append, memory.offset).atexit = False
            return memory

    def read(self, memory: Memory, offset: int, size_bytes: int) -> bytes:
        """Bytes of it, after all that was asked for."""
        self._check(memory, offset, size_bytes)
        return self.driver.read(memory.offset + offset, size_bytes)

    def write(self, memory: Memory, offset: int, data: bytes | memoryview) -> None:
        """Bytes into it, after all that was asked for."""
        self._check(memory, offset, len(data))
        self.driver.write(memory.offset + offset, data)

    def view(self, memory: Memory, offset: int, kind: TensorType) -> Tensor:
        """The tensor there; a kernel says whether the device has such numbers."""
        dtype, strides = DTYPES.get(kind.dtype, kind.dtype), _strides(kind)
        return Tensor(self, memory, memory.offset + offset, dtype, kind.dims, strides)

    def _check(self, memory: Memory, offset: int, size_bytes: int) -> None:
        if not (offset >= 0 and offset + size_bytes <= memory.size_bytes):
            end = offset + size_bytes
            raise ValueError(f"npu: bytes [{offset}, {end}) of a memory of {memory.size_bytes}")


def command(
    name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], **parameters: Any
) -> tuple[str, bytes]:
    """The name and the line that tell the device to do this.

    Raises:
        MissingRule: the device has no such numbers.
    """
    for t in (*inputs, *outputs):
        if t.dtype not in DTYPES.values():
            raise MissingRule(f"the npu has no {t.dtype}, only {', '.join(DTYPES)}")
    arrays = [[[t.offset, t.dtype, t.shape, t.strides] for t in ts] for ts in (inputs, outputs)]
    line = {"run": name, "inputs": arrays[0], "outputs": arrays[1], **parameters}
    return name, json.dumps(line).encode() + b"\n"


def _strides(kind: TensorType) -> list[int]:
    strides, step = [], ITEM_BYTES[kind.dtype]
    for d in reversed(kind.dims):
        strides.append(step)
        step *= d
    return strides[::-1]
