"""The memory of one GPU: tensors of bytes, written through pinned memory of the host.

A copy from pageable memory makes the host wait until it is done, one from pinned memory does not.
So each feed of a program has a pinned buffer: the host copies the array into it, the GPU copies it
from there in the order of its stream, and an event says when the buffer may be filled again.  All
of this uses the stream that is current in the calling thread: run a program on one stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np
import torch

from byparts_graph_ir import ITEM_BYTES, GraphError, ShapeError, Space, TensorType
from byparts_graph_ir.model.cached_property import cached_property
from byparts_kernels_torch.table import DTYPES, NAMES, Tensor, bytes_of


@dataclass
class Gpu:
    """A GPU and its streams.

    Attributes:
        index: its number, e.g. 1 of "cuda:1".
        device: torch's name of it.
        api: `torch.cuda`, or its replacement in a test.
    """

    index: int
    device: torch.device
    api: Any = field(default=torch.cuda, repr=False)

    def stream(self) -> Any:
        """The stream that is current in the calling thread."""
        return self.api.current_stream(self.device)

    @cached_property
    def warming(self) -> Any:
        """A stream for runs before a recording; kept: cuBLAS allocates a workspace a stream."""
        return self.api.Stream(self.device)

    @cached_property
    def recording(self) -> Any:
        """The stream on which CUDA graphs are recorded."""
        return self.api.Stream(self.device)


class CudaSpace(Space):
    """The memory of a GPU: blocks are tensors of bytes, aligned to 512 by torch's allocator."""

    sticky = True  # after a kernel has failed, every further call of CUDA fails too

    def __init__(self, gpu: Gpu) -> None:
        self.gpu, self.name = gpu, f"cuda:{gpu.index}"

    def allocate(self, size_bytes: int) -> Tensor:
        """Zeroed bytes, at least one; no inference tensor, also within `torch.inference_mode`."""
        with torch.inference_mode(False):
            return torch.zeros(max(1, size_bytes), dtype=torch.uint8, device=self.gpu.device)

    def untouched(self, size_bytes: int) -> Tensor:
        """Bytes that are not zeroed, so that compiling a kernel launches nothing on the GPU."""
        with torch.inference_mode(False):
            return torch.empty(max(1, size_bytes), dtype=torch.uint8, device=self.gpu.device)

    def read(self, memory: Any, offset: int, size_bytes: int) -> memoryview:
        """A copy of the bytes on the host, made after all earlier work of this thread's stream."""
        array = bytes_of(memory)[offset : offset + size_bytes].cpu().numpy()
        return memoryview(array)

    def write(self, memory: Any, offset: int, data: bytes | memoryview) -> None:
        """Copy `data` to `offset`; the caller may change `data` when this returns."""
        content = torch.from_numpy(np.frombuffer(data, np.uint8).copy())  # torch: writable memory
        bytes_of(memory)[offset : offset + len(content)].copy_(content)

    def synchronize(self) -> None:
        """Wait until all work of this thread's stream is done."""
        self.gpu.stream().synchronize()

    def writer(self, memory: Any, offset: int, kind: TensorType) -> PinnedWriter:
        """A writer that copies arrays of type `kind` to `offset` in `memory`, one at each run."""
        place = bytes_of(memory)[offset : offset + kind.size_bytes]
        return PinnedWriter(self.gpu, place, kind)

    def adopt(self, value: object) -> Optional[tuple[Tensor, TensorType]]:
        """The memory of an array on this GPU, as a tensor of bytes, and its type; no copy is made.

        `None`: the value is no array on this GPU.  Arrays of other libraries come through DLPack.

        Raises:
            GraphError: the tensor requires grad, or is not contiguous.
            ShapeError: no dtype of byparts is that of the tensor.
        """
        tensor = self._tensor(value)
        if tensor is None:
            return None
        if tensor.requires_grad:
            raise GraphError("the tensor requires grad, and programs give none: use x.detach()")
        if not tensor.is_contiguous():
            strides = tuple(tensor.stride())
            raise GraphError(f"the tensor has strides {strides}: use x.contiguous()")
        if tensor.dtype not in NAMES:
            raise ShapeError(f"{tensor.dtype} is none of our dtypes: {', '.join(DTYPES)}")
        kind = TensorType(NAMES[tensor.dtype], tuple(tensor.shape))
        return tensor.view(-1).view(torch.uint8), kind

    def _tensor(self, value: Any) -> Optional[Tensor]:
        """The value as a torch tensor; `None`: it is no array on this GPU."""
        if isinstance(value, torch.Tensor):
            return value if value.device == self.gpu.device else None
        where = getattr(value, "__dlpack_device__", None)
        if where is None or tuple(map(int, where())) != (2, self.gpu.index):  # 2: CUDA
            return None
        return torch.from_dlpack(value)


class PinnedWriter:
    """Copies arrays of one type to one place on a GPU, through a pinned buffer of its own.

    Args:
        gpu: where the place is.
        target: its bytes.
        kind: the type of the arrays.
    """

    __slots__ = ("_bits", "_copied", "_gpu", "_host", "_pinned", "_shape", "_target")

    def __init__(self, gpu: Gpu, target: Tensor, kind: TensorType) -> None:
        self._gpu, self._target, self._shape = gpu, target, kind.dims
        self._bits = np.dtype(f"u{ITEM_BYTES[kind.dtype]}")  # bits: NumPy need not know bf16
        self._pinned: Optional[Tensor] = None

    def __call__(self, value: Any) -> None:
        """Copy a NumPy array, or the bytes that `CudaSpace.adopt` gave.

        The caller may change an array when this returns.
        """
        if isinstance(value, torch.Tensor):
            self._target.copy_(value)
            return
        if self._pinned is None:
            self._prepare()
        self._copied.synchronize()  # the last copy may still be reading
        np.copyto(self._host, value.view(self._bits))
        self._target.copy_(self._pinned, non_blocking=True)
        self._copied.record(self._gpu.stream())

    def _prepare(self) -> None:
        """Allocate the pinned buffer, when the first NumPy array is copied."""
        pins = self._gpu.device.type == "cuda"
        self._pinned = torch.empty(self._target.shape, dtype=torch.uint8, pin_memory=pins)
        self._host = self._pinned.numpy().view(self._bits).reshape(self._shape)
        self._copied = self._gpu.api.Event()  # one that was never recorded is over
