"""Host memory that is counted: what of it is alive, and how much may be."""

from __future__ import annotations

from typing import Any
from weakref import finalize

from toy_backend import kernels

from byparts_graph_ir import Backend, HostSpace
from byparts_runtime.arrays.access import view


class Counted(HostSpace):
    """Host memory of at most `most` bytes.

    Attributes:
        alive: sizes of what is not freed, and of what was alive when each was allocated.
    """

    def __init__(self, most: int = 2**40) -> None:
        self.most = most
        self.alive: list[int] = []

    def allocate(self, size_bytes: int) -> memoryview:
        if sum(self.alive) + size_bytes > self.most:
            raise MemoryError(f"cannot allocate {size_bytes:,} bytes")
        memory = super().allocate(size_bytes)
        self.alive.append(size_bytes)
        finalize(memory, self.alive.remove, size_bytes)
        return memory

    def untouched(self, size_bytes: int) -> memoryview:
        return HostSpace.allocate(self, size_bytes)  # not counted: it is gone before a program runs


def counted_backend(space: Counted, **more: Any) -> Backend:
    """The toy kernels on it."""
    return Backend("toy", view, kernels, space=space, **more)
