"""A device that is not there: memory the host cannot look into, and work that is done when waited for.

Whatever reads its memory as if it were the host's raises, and so does reading it before waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from toy_backend import kernels

import byparts_graph_ir as graph_ir
from byparts_graph_ir import Backend, KernelRule, Op, Table, TensorType
from byparts_runtime.arrays.access import view


class Memory:
    """Bytes of the device: no buffer, no items, no length."""

    def __init__(self, size_bytes: int) -> None:
        self.bytes = bytearray(max(1, size_bytes))


class Far:
    """An array of the device: it can be copied over another, and that is all."""

    def __init__(self, space: Space, array: Any) -> None:
        self.space, self.array = space, array

    def __setitem__(self, key: object, other: Far) -> None:
        assert key is ...
        self.space.pending.append(partial(np.copyto, self.array, other.array))

    def __deepcopy__(self, memo: object) -> Far:
        return Far(self.space, self.array.copy())


class Space(graph_ir.Space):
    """The device.

    Attributes:
        pending: what was asked for.
        log: what the host did with the memory.
    """

    name = "far:0"

    def __init__(self) -> None:
        self.pending: deque[Callable[[], object]] = deque()
        self.log: list[str] = []

    def allocate(self, size_bytes: int) -> Memory:
        return Memory(size_bytes)

    def read(self, memory: Memory, offset: int, size_bytes: int) -> bytes:
        assert not self.pending, "read before it was waited for"
        return bytes(memory.bytes[offset : offset + size_bytes])

    def write(self, memory: Memory, offset: int, data: Any) -> None:
        copied = bytes(data)
        self.log.append("write")
        self.pending.append(partial(memory.bytes.__setitem__, _span(offset, copied), copied))

    def synchronize(self) -> None:
        while self.pending:
            try:
                self.pending.popleft()()
            except BaseException:
                self.pending.clear()  # what depends on it is not done
                raise


class Adopting(Space):
    """The same with what a space may have: prepared writers, and arrays taken as they are."""

    def adopt(self, value: Any) -> tuple[Memory, TensorType] | None:
        return value if isinstance(value, tuple) else None

    def writer(self, memory: Memory, offset: int, kind: TensorType) -> Callable[[Any], None]:
        def write(value: Any) -> None:
            if isinstance(value, Memory):
                self.log.append("copy")
                value = bytes(value.bytes)
            else:
                self.log.append("prepared")
                value = value.tobytes()
            self.pending.append(partial(memory.bytes.__setitem__, _span(offset, value), value))

        return write


def far_backend(space: Space | None = None, **more: Any) -> Backend:
    """The toy kernels on the device."""
    where = Space() if space is None else space
    table: Table[KernelRule] = Table("kernel")
    for op in kernels:
        table.on(op)(partial(_rule, where, kernels[op]))

    def look(memory: Memory, offset: int, kind: TensorType) -> Far:
        return Far(where, view(memory.bytes, offset, kind))

    return Backend("far", look, table, space=where, **more)


def _rule(space: Space, rule: Any, op: Op, inputs: Any, outputs: Any) -> Any:
    run = rule(op, [x.array for x in inputs], [y.array for y in outputs])
    return partial(space.pending.append, run)


def _span(offset: int, data: bytes) -> slice:
    return slice(offset, offset + len(data))
