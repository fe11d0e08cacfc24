"""The memory space of one GPU: `cuda:0`, `cuda:1`.

An arena is one allocation.  Feeds and fetches go through pinned memory of the host, in the order
of the stream: the host copies an array there, the GPU copies it from there when its turn comes, and
an event says when the place may be filled again.
"""

from __future__ import annotations

from typing import Any, Optional
from weakref import WeakKeyDictionary

import numpy as np

from byparts_graph_ir import ITEM_BYTES, Space, TensorType
from byparts_graph_ir.fork import make_lock
from byparts_kernels_cuda import flags
from byparts_kernels_cuda.driver.functions import ALIGNMENT, EVENT_WITHOUT_TIMING
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.memory import DeviceArray, DeviceMemory, Event, Pinned, address_of

_STAGING_BYTES = 4 << 20  # copied at a time
_spaces: WeakKeyDictionary[Gpu, CudaSpace] = WeakKeyDictionary()
_lock = make_lock()


class CudaSpace(Space):
    """The memory of a GPU; torch's space of the same name gives memory that this one takes, too.

    A kernel that finds an index out of range does not lose the GPU, so a run waits before it writes
    variables (`sticky` is False).
    """

    alignment = ALIGNMENT

    def __init__(self, gpu: Gpu) -> None:
        self.gpu, self.name = gpu, gpu.name
        self._lock = make_lock()
        self._staging: Optional[tuple[Pinned, Event]] = None

    def allocate(self, size_bytes: int) -> DeviceMemory:
        """Zeroed bytes, at least one.

        Raises:
            DeviceMemoryError: there is no room; says how much is free.
            GraphError: this process was forked from one that used the GPU.
        """
        with self.gpu:
            memory = DeviceMemory.allocated(self.gpu, size_bytes)
            clear = self.gpu.driver.cuMemsetD8Async
            clear(memory.address, 0, memory.size_bytes or 1, self.gpu.stream)
        return memory

    def untouched(self, size_bytes: int) -> DeviceMemory:
        """Bytes that are not zeroed."""
        with self.gpu:
            return DeviceMemory.allocated(self.gpu, size_bytes)

    def read(self, memory: Any, offset: int, size_bytes: int) -> memoryview:
        """A copy of the bytes on the host, made after all earlier work.

        Raises:
            GraphError, DriverError: that work failed.
        """
        content = bytearray(size_bytes)
        start = address_of(memory) + offset
        with self._lock, self.gpu:
            staging, _ = self._pinned()
            for at in range(0, size_bytes, _STAGING_BYTES):
                size = min(_STAGING_BYTES, size_bytes - at)
                copy = self.gpu.driver.cuMemcpyDtoHAsync_v2
                copy(staging.address, start + at, size, self.gpu.stream)
                self.gpu.wait()
                content[at : at + size] = staging.view[:size]
        return memoryview(content)

    def write(self, memory: Any, offset: int, data: bytes | memoryview) -> None:
        """Copy `data` to `offset`; the caller may change `data` when this returns."""
        view, start = memoryview(data).cast("B"), address_of(memory) + offset
        with self._lock, self.gpu:
            staging, copied = self._pinned()
            for at in range(0, len(view), _STAGING_BYTES):
                part = view[at : at + _STAGING_BYTES]
                copied.wait()  # the last copy may still be reading
                staging.view[: len(part)] = part
                copy = self.gpu.driver.cuMemcpyHtoDAsync_v2
                copy(start + at, staging.address, len(part), self.gpu.stream)
                copied.record()

    def synchronize(self) -> None:
        """Wait until all work is done.

        Raises:
            DeviceLost: a kernel failed; nothing works on the GPU any more in this process.
            GraphError: a kernel found an index out of range.
        """
        flags.wait(self.gpu)

    def writer(self, memory: Any, offset: int, type: TensorType) -> PinnedWriter:
        """Make a writer that copies an array of this type to `offset` at each run."""
        return PinnedWriter(self.gpu, memory, offset, type)

    def adopt(self, value: object) -> Optional[tuple[Any, TensorType]]:
        """The memory of an array on this GPU and its type; no copy is made.

        `None`: the value is no array on this GPU.

        Raises:
            GraphError: it is not contiguous, or its library does not give it away.
            ShapeError: its dtype is none of ours.
        """
        if isinstance(value, DeviceArray):
            return (value, value.type) if value.gpu is self.gpu else None
        where = getattr(value, "__dlpack_device__", None)
        if where is None or tuple(map(int, where())) != (2, self.gpu.index):  # 2: CUDA
            return None
        from byparts_kernels_cuda.dlpack import adopted  # only where such an array is met

        address, kind, owner = adopted(value, self.gpu)
        return DeviceMemory(self.gpu, address, kind.size_bytes, owner=owner), kind

    def _pinned(self) -> tuple[Pinned, Event]:
        """Memory of the host, and when it may be filled again.  The caller holds the lock."""
        if self._staging is None:
            pinned = Pinned(self.gpu, _STAGING_BYTES)
            self._staging = pinned, Event(self.gpu, EVENT_WITHOUT_TIMING)
        return self._staging


def space_of(gpu: Gpu) -> CudaSpace:
    """The space of a GPU; one object, whose pinned memory all share."""
    with _lock:
        return _spaces.setdefault(gpu, CudaSpace(gpu))


class PinnedWriter:
    """Copies arrays of one type to one place on a GPU, through pinned memory of its own.

    Args:
        gpu: where the place is.
        memory, offset: the place.
        kind: the type of the arrays.
    """

    __slots__ = ("_address", "_bits", "_copied", "_gpu", "_host", "_kind", "_memory", "_pinned")

    def __init__(self, gpu: Gpu, memory: Any, offset: int, kind: TensorType) -> None:
        self._gpu, self._memory, self._kind = gpu, memory, kind
        self._address = address_of(memory) + offset
        self._bits = np.dtype(f"u{ITEM_BYTES[kind.dtype]}")  # bits: NumPy need not know bf16
        self._pinned: Optional[Pinned] = None

    def __call__(self, value: Any) -> None:
        """Copy a NumPy array, or the memory that `CudaSpace.adopt` gave.

        The caller may change an array when this returns.
        """
        size, driver, stream = self._kind.size_bytes, self._gpu.driver, self._gpu.stream
        if not size:
            return
        with self._gpu:
            if not isinstance(value, np.ndarray):
                driver.cuMemcpyDtoDAsync_v2(self._address, address_of(value), size, stream)
                return
            pinned = self._pinned or self._prepared()
            self._copied.wait()  # the last copy may still be reading
            np.copyto(self._host, value.view(self._bits))
            driver.cuMemcpyHtoDAsync_v2(self._address, pinned.address, size, stream)
            self._copied.record()

    def _prepared(self) -> Pinned:
        """Allocate the pinned memory, when the first NumPy array is copied."""
        pinned = self._pinned = Pinned(self._gpu, self._kind.size_bytes)
        self._host = np.ndarray(self._kind.dims, self._bits, pinned.view)
        self._copied = Event(self._gpu, EVENT_WITHOUT_TIMING)
        return pinned
