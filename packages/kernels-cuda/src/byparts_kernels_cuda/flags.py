"""Numbers that kernels leave on the GPU to say that something was wrong, read at the next wait.

A kernel cannot raise: one that finds an index out of range stores a 1 and which it was, and does no
more.  Whoever waits for the stream fetches these numbers with the same wait, and raises then.
"""

from __future__ import annotations

from ctypes import c_int64
from weakref import WeakKeyDictionary

from byparts_graph_ir import TensorType
from byparts_graph_ir.fork import make_lock
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.memory import DeviceArray, DeviceMemory, Pinned
from byparts_op_loops.function import ERROR_WORDS

_CELL_BYTES = 32  # of a flag, aligned as arguments are
_CELLS = 1024  # of a page
_KIND = TensorType("i64", (ERROR_WORDS,))


class Flag:
    """Numbers of `error_buffer` that one kernel leaves on the GPU.

    Attributes:
        array: i64 on the GPU, for a kernel to write.
    """

    def __init__(self, page: _Page, number: int) -> None:
        self._page, self._number = page, number
        at = page.memory.address + number * _CELL_BYTES
        self.array = DeviceArray(page.memory, at, _KIND)

    @property
    def value(self) -> list[int]:
        """Numbers that were fetched last; the first is 0 where nothing was wrong."""
        at = self._page.host.address + self._number * _CELL_BYTES
        return list((c_int64 * ERROR_WORDS).from_address(at))

    def __del__(self) -> None:
        self._page.free.append(self._number)


class _Page:
    """Memory of many flags, on the GPU and on the host."""

    def __init__(self, gpu: Gpu) -> None:
        size = _CELLS * _CELL_BYTES
        self.memory, self.host = DeviceMemory.allocated(gpu, size), Pinned(gpu, size)
        self.free = list(reversed(range(_CELLS)))
        gpu.driver.cuMemsetD8Async(self.memory.address, 0, size, gpu.stream)

    def fetch(self) -> None:
        """Ask for a copy on the host, which is there when the stream is waited for."""
        size, gpu = self.memory.size_bytes, self.memory.gpu
        to, of = self.host.address, self.memory.address
        gpu.driver.cuMemcpyDtoHAsync_v2(to, of, size, gpu.stream)


_pages: WeakKeyDictionary[Gpu, list[_Page]] = WeakKeyDictionary()
_lock = make_lock()


def flag(gpu: Gpu) -> Flag:
    """A flag that no other run has.  The context is current."""
    with _lock:
        pages = _pages.setdefault(gpu, [])
        page = next((p for p in pages if p.free), None)
        if page is None:
            page = _Page(gpu)
            pages.append(page)
        return Flag(page, page.free.pop())


def wait(gpu: Gpu) -> None:
    """Wait for the stream, and for what has run in this thread to say whether it went well.

    Raises:
        DriverError: the GPU failed.
        GraphError: a kernel found an index out of range.
    """
    told, gpu.told[:] = list(gpu.told), []
    with gpu:
        for page in list(_pages.get(gpu, ())) if told else ():
            page.fetch()
        gpu.wait()
    for one in told:
        one.tell()


def forget(gpu: Gpu) -> None:
    """Whatever has run in this thread has been blamed already."""
    gpu.told.clear()
