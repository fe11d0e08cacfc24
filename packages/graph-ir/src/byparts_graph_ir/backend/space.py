"""Memory that backends share: the base class `Space`, and the memory of this process, `HOST`.

A space works in the order of its calls: `read` and `write` come after all work that was started
before them.  A space may report a failure late: then the next call that waits for work raises it.
Where it knows what has failed, the error has an attribute `of_run`: the run that a kernel bound.
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
        name: of the memory: backends whose spaces have the same name share arrays.
        sticky: whether all work after a failure fails too, as on a GPU.  Where this is False the
            runtime waits for the steps of a run before it writes variables.
        alignment: bytes: each array that a kernel is bound to begins at a multiple of it.  An
            output that is bytes of an input by its op (`Op.views`) is a copy of them where it would
            begin elsewhere.
    """

    name: str
    sticky: bool = False
    alignment: int = 1

    def allocate(self, size_bytes: int) -> Any:
        """New zeroed memory, of a byte at least, on 64 bytes at least, private to the process.

        Where a forked child cannot have a copy of it, each call of the child must raise an error.

        Raises:
            MemoryError: there is none left; a device may raise its own.
        """
        raise NotImplementedError(f"space {self.name!r} lacks allocate(size_bytes)")

    def untouched(self, size_bytes: int) -> Any:
        """Memory that kernels are bound to and that nobody reads or writes; need not be zeroed."""
        return self.allocate(size_bytes)

    def read(self, memory: Any, offset: int, size_bytes: int) -> bytes | memoryview:
        """The bytes at `offset`, on the host, after all work that writes them is done."""
        raise NotImplementedError(f"space {self.name!r} lacks read(memory, offset, size_bytes)")

    def write(self, memory: Any, offset: int, data: bytes | memoryview) -> None:
        """Copy bytes of the host to `offset`; the caller may change `data` when this returns."""
        raise NotImplementedError(f"space {self.name!r} lacks write(memory, offset, data)")

    def synchronize(self) -> None:
        """Wait until all work that was started is done; raises the error of work that failed."""
        raise NotImplementedError(f"space {self.name!r} lacks synchronize()")

    def adopt(self, value: object) -> tuple[Any, TensorType] | None:
        """Memory and type of a caller's array that is in this space already, without a copy.

        `None`: the array is elsewhere, or the space cannot tell.

        Raises:
            GraphError: it is here, but cannot be used as it is; says what to do.
        """
        return None

    def writer(self, memory: Any, offset: int, type: TensorType) -> Callable[[Any], object] | None:
        """A callable that copies an array to `offset`, for example through pinned memory.

        It takes NumPy arrays of this type, or memory that `adopt` returned; it is made once and
        called at each run.  `None`: the runtime uses `write`.
        """
        return None


class HostSpace(Space):
    """Memory private to this process: a forked child has a copy of each page that is written to.

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
