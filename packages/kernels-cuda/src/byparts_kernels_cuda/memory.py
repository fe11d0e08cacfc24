"""Memory of a GPU and pinned memory of the host, arrays in the first, and who frees them.

An array is an address with a type.  `y[...] = x` copies on the GPU; `torch.from_dlpack(y)` and
`__cuda_array_interface__` give it to other libraries without a copy.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from ctypes import c_char
from typing import Any, Optional

from byparts_graph_ir import GraphError, TensorType
from byparts_kernels_cuda.driver.functions import ALIGNMENT, HOST_PORTABLE
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.stream_call import StreamCall

_KINDS = {"bool": "|b1", "u8": "|u1", "i8": "|i1"}  # of __cuda_array_interface__
_CUDA = 2  # as DLPack names it


class DeviceMemory:
    """Bytes of a GPU, freed with the last that holds this.

    Attributes:
        address: where they begin.
        owner: keeps them alive where they are another library's; `None`: they are ours.
    """

    __slots__ = ("__weakref__", "address", "gpu", "owner", "size_bytes")

    def __init__(self, gpu: Gpu, address: int, size_bytes: int, owner: Any = None) -> None:
        self.gpu, self.address, self.size_bytes, self.owner = gpu, address, size_bytes, owner

    @classmethod
    def allocated(cls, gpu: Gpu, size_bytes: int) -> DeviceMemory:
        """New bytes of undefined contents.  The context is current.

        Raises:
            DeviceMemoryError: there is no room; says how much is free.
        """
        return cls(gpu, gpu.allocate(size_bytes), size_bytes)

    def __del__(self) -> None:
        if self.owner is None:
            self.gpu.release("cuMemFree_v2", self.address)

    def _bytes(self) -> DeviceArray:
        return DeviceArray(self, self.address, TensorType("u8", (self.size_bytes,)))

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.gpu.index

    def __dlpack__(self, **asked: Any) -> Any:
        return self._bytes().__dlpack__(**asked)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._bytes().__cuda_array_interface__


class DeviceArray:
    """A contiguous array on a GPU.

    Attributes:
        memory: keeps the bytes alive.
        address: of its first element.
        type: static.
        gpu: where it is.
    """

    __slots__ = ("address", "gpu", "memory", "type")

    def __init__(self, memory: Any, address: int, type: TensorType, gpu: Optional[Gpu] = None):
        self.memory, self.address, self.type = memory, address, type
        self.gpu: Gpu = gpu or memory.gpu

    def __setitem__(self, index: Any, value: DeviceArray) -> None:
        """Copy all elements of an array of this type, in the order of the stream."""
        if index is not Ellipsis:
            raise GraphError(f"only y[...] = x copies on a GPU, not y[{index!r}]")
        with self.gpu:
            for call in self.filled_by(value):
                call()

    def filled_by(self, source: DeviceArray) -> tuple[StreamCall, ...]:
        """The calls that copy another array to this one."""
        size = self.type.size_bytes
        if not size or source.address == self.address:
            return ()
        copy = self.gpu.driver.cuMemcpyDtoDAsync_v2
        arguments = self.address, source.address, size, self.gpu.stream
        return (StreamCall.of(copy, *arguments, at=3, kept=(self.memory, source.memory)),)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.gpu.index

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """Export for `torch.from_dlpack(array)`; the work that writes it is done by then."""
        from byparts_kernels_cuda.dlpack import capsule  # only where it is asked for

        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"{self!r} is given as it is: copy={copy}, dl_device={dl_device}")
        if stream not in (None, -1):  # -1: the consumer does not wait, nor do we
            with self.gpu:
                self.gpu.wait()
        return capsule(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For CuPy, Numba, torch: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html."""
        dtype = self.type.dtype
        if dtype == "bf16":
            raise AttributeError("bf16 has no letter in this protocol; use DLPack")
        kind = _KINDS.get(dtype, f"<{dtype[0]}{int(dtype[1:]) // 8}" if dtype[1:].isdigit() else "")
        return {
            "shape": self.type.dims,
            "typestr": kind,
            "data": (self.address, False),
            "version": 3,
            "stream": self.gpu.stream,
        }

    def __repr__(self) -> str:
        return f"DeviceArray({self.type} in {self.gpu.name})"


class Pinned:
    """Bytes of the host that a GPU copies from and to by itself, freed with this.

    Attributes:
        address: where they begin.
        view: the bytes.
    """

    __slots__ = ("address", "gpu", "view")

    def __init__(self, gpu: Gpu, size_bytes: int) -> None:
        self.gpu = gpu
        self.address = gpu.made("cuMemHostAlloc", max(1, size_bytes), HOST_PORTABLE)
        self.view = memoryview((c_char * max(1, size_bytes)).from_address(self.address)).cast("B")

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self.gpu.release("cuMemFreeHost", ctypes.c_void_p(self.address))


class Event:
    """A place in the order of the stream, to wait for; at first there is nothing to wait for."""

    __slots__ = ("gpu", "handle")

    def __init__(self, gpu: Gpu, flags: int) -> None:
        self.gpu, self.handle = gpu, gpu.made("cuEventCreate", flags)

    def record(self) -> None:
        """Set this event after all work that the stream was given until now."""
        self.gpu.driver.cuEventRecord(self.handle, self.gpu.stream)

    def wait(self) -> None:
        """Until it is over."""
        self.gpu.driver.cuEventSynchronize(self.handle)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.gpu.release("cuEventDestroy_v2", self.handle)


def array(memory: Any, offset: int, type: TensorType, gpu: Gpu) -> DeviceArray:
    """The array of this type at `offset`.

    Args:
        memory: what a space gave, an array (a workspace), or a tensor of torch on this GPU.
        offset: in bytes.
        type: static.
        gpu: where it is.
    """
    return DeviceArray(memory, address_of(memory) + offset, type, gpu)


def check_places(arrays: Iterable[DeviceArray]) -> None:
    """Refuse arrays of a caller that begin where a kernel cannot read them.

    What a plan places is aligned (`Space.alignment`); an array that a program is bound to need not
    be, and a misaligned access would lose the GPU.

    Raises:
        GraphError: says which array, and what to do.
    """
    for x in arrays:
        if x.address % ALIGNMENT and x.type.size_bytes:
            raise GraphError(
                f"the array {x.type} begins {x.address % ALIGNMENT} bytes after a multiple of "
                f"{ALIGNMENT}, where kernels of {x.gpu.name} read none: give a copy, as x.clone()"
            )


def address_of(memory: Any) -> int:
    """Address where memory begins: ours, or that of a tensor of torch."""
    address = getattr(memory, "address", None)
    return int(memory.data_ptr() if address is None else address)
