"""Memory that backends share: the base class `Space`, and the memory of this process, `HOST`.

What is asked of a space is done in the order of asking: `read` and `write` come after all that was
asked for before them.  A space may report a failure late: then whatever waits next raises it.
"""

from __future__ import annotations

from byparts_graph_ir.model.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ALIGNMENT = 64  # of all host memory, in bytes
MAPPED_BYTES = 1 << 16  # and more: blocks of this size are mappings of their own


class Space:
    """Memory that some backends share; subclasses are the memory of a process, a GPU, a server.

    A subclass implements `allocate`, `read`, `write` and `synchronize`; the other methods have
    defaults that are right for every space, and may be implemented for speed.

    Attributes:
        name: equal for equal memory: backends whose spaces have one name share arrays.
        sticky: what fails makes everything fail that is asked for after it, as on a GPU.  Where
            this is False the runtime waits for the steps before it writes variables.
    """

    name: str
    sticky: bool = False

    def allocate(self, size_bytes: int) -> Any:
        """Zeroed memory of at least one byte, aligned to 64 bytes at least, of this process alone.

        Where a forked child cannot have a copy, what it asks of the space must be an error there.

        Raises:
            MemoryError: there is none left; a device may raise its own.
        """
        raise NotImplementedError(f"space {self.name!r} lacks allocate(size_bytes)")

    def untouched(self, size_bytes: int) -> Any:
        """Memory that kernels are bound to and that nobody reads or writes; need not be zeroed."""
        return self.allocate(size_bytes)

    def read(self, memory: Any, offset: int, size_bytes: int) -> bytes | memoryview:
        """Bytes of the space, as the host sees them; waits for what writes them."""
        raise NotImplementedError(f"space {self.name!r} lacks read(memory, offset, size_bytes)")

    def write(self, memory: Any, offset: int, data: bytes | memoryview) -> None:
        """Copy bytes of the host into the space; `data` is free afterwards."""
        raise NotImplementedError(f"space {self.name!r} lacks write(memory, offset, data)")

    def synchronize(self) -> None:
        """Wait until everything that was asked for is done; raises what failed."""
        raise NotImplementedError(f"space {self.name!r} lacks synchronize()")

    def adopt(self, value: object) -> tuple[Any, TensorType] | None:
        """Memory and type of a caller's array that is in this space already, without a copy.

        `None`: the array is elsewhere, or the space cannot tell.

        Raises:
            GraphError: it is here, but cannot be used as it is; says what to do.
        """
        return None

    def writer(self, memory: Any, offset: int, type: TensorType) -> Callable[[Any], object] | None:
        """A callable that copies NumPy arrays, or what `adopt` gave, of this type to there.

        Made once and called at each run, e.g. through pinned memory.  `None`: use `write`.
        """
        return None


class HostSpace(Space):
    """Memory of this process alone: a forked child has a copy, made where one of them writes.

    Small blocks are of the heap: a mapping takes whole pages, and a process has 65,000 mappings at
    most.  Large ones are mappings, which go back to the system when their last user is gone; their
    pages are not counted before use.
    """

    name = "host"

    def allocate(self, size_bytes: int) -> memoryview:
        """A writable view of at least one byte.

        Raises:
            MemoryError: the system has no more, or not for this process.
        """
        size = max(1, size_bytes)
        try:
            return _on_the_heap(size) if size < MAPPED_BYTES else _mapped(size)
        except (OSError, OverflowError, MemoryError) as error:
            raise MemoryError(f"cannot allocate {size_bytes:,} bytes: {error}") from error

    def read(self, memory: memoryview, offset: int, size_bytes: int) -> memoryview:
        """The same bytes; no copy."""
        return memory[offset : offset + size_bytes]

    def write(self, memory: memoryview, offset: int, data: bytes | memoryview) -> None:
        """Copy `data` to `offset`."""
        memory[offset : offset + len(data)] = data

    def synchronize(self) -> None:
        """Nothing is ever pending."""


HOST = HostSpace()


def _on_the_heap(size_bytes: int) -> memoryview:
    from array import array  # a shared library, and graphs are planned without memory

    block = array("B", b"\0") * (size_bytes + ALIGNMENT - 1)
    start = -block.buffer_info()[0] % ALIGNMENT
    return memoryview(block)[start : start + size_bytes]


def _mapped(size_bytes: int) -> memoryview:
    import mmap  # likewise

    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows, which has no fork
        return memoryview(mmap.mmap(-1, size_bytes))
    return memoryview(mmap.mmap(-1, size_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
