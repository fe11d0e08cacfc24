"""The memory of one GPU: torch's bytes there, written through pinned memory of the host.

A copy from pageable memory makes the host wait until it is done, one from pinned memory does not.
So each feed of a program has a pinned buffer: the array is copied into it, the GPU is asked to
fetch it when its turn comes, and an event says when the buffer may be filled again.  All happens on
the stream that is current in the calling thread: a program belongs on one stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Optional

import numpy as np
import torch

from byparts_graph_ir import ITEM_BYTES, GraphError, ShapeError, Space, TensorType
from byparts_kernels_torch.table import DTYPES, NAMES, Tensor


@dataclass
class Gpu:
    """One GPU, and all that is asked of `torch.cuda` about it.

    Attributes:
        index: which, as in "cuda:1".
        device: where its tensors are.
        api: `torch.cuda`, or what stands for it in a test.
    """

    index: int
    device: torch.device
    api: Any = field(default=torch.cuda, repr=False)

    def stream(self) -> Any:
        """The one that this thread works on."""
        return self.api.current_stream(self.device)

    @cached_property
    def warming(self) -> Any:
        """A stream to try things on; kept, because cuBLAS has a workspace for each stream."""
        return self.api.Stream(self.device)

    @cached_property
    def recording(self) -> Any:
        """A stream to record on."""
        return self.api.Stream(self.device)


class CudaSpace(Space):
    """The memory of a GPU: blocks are tensors of bytes, aligned to 512 by torch's allocator."""

    sticky = True  # after a kernel that failed, so does every call

    def __init__(self, gpu: Gpu) -> None:
        self.gpu, self.name = gpu, f"cuda:{gpu.index}"

    def allocate(self, size_bytes: int) -> Tensor:
        """Zeros, at least one byte; an ordinary tensor also where autograd is off."""
        with torch.inference_mode(False):
            return torch.zeros(max(1, size_bytes), dtype=torch.uint8, device=self.gpu.device)

    def untouched(self, size_bytes: int) -> Tensor:
        """Not zeroed: nothing is launched to bind a kernel when it is compiled."""
        with torch.inference_mode(False):
            return torch.empty(max(1, size_bytes), dtype=torch.uint8, device=self.gpu.device)

    def read(self, memory: Tensor, offset: int, size_bytes: int) -> memoryview:
        """A copy; waits for what is under way on this thread's stream."""
        array = memory[offset : offset + size_bytes].cpu().numpy()
        return memoryview(array)

    def write(self, memory: Tensor, offset: int, data: bytes | memoryview) -> None:
        """Copy to there; done with `data` when it returns."""
        given = torch.from_numpy(np.frombuffer(data, np.uint8).copy())  # torch: writable memory
        memory[offset : offset + len(given)].copy_(given)

    def synchronize(self) -> None:
        """Wait for all that this thread's stream was given."""
        self.gpu.stream().synchronize()

    def writer(self, memory: Tensor, offset: int, kind: TensorType) -> Inlet:
        """Copies arrays of this type to there, at each run."""
        return Inlet(self.gpu, memory[offset : offset + kind.size_bytes], kind)

    def adopt(self, value: object) -> Optional[tuple[Tensor, TensorType]]:
        """The bytes of a tensor that is on this GPU, and its type; other libraries' by DLPack.

        Raises:
            GraphError: it requires grad, or is not contiguous.
            ShapeError: its dtype is none of ours.
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
        """The value as a tensor of this GPU, if it is one."""
        if isinstance(value, torch.Tensor):
            return value if value.device == self.gpu.device else None
        where = getattr(value, "__dlpack_device__", None)
        if where is None or tuple(map(int, where())) != (2, self.gpu.index):  # 2: CUDA
            return None
        return torch.from_dlpack(value)


class Inlet:
    """Brings arrays of one type to one place on a GPU."""

    __slots__ = ("_copied", "_gpu", "_host", "_pinned", "_shape", "_target", "_word")

    def __init__(self, gpu: Gpu, target: Tensor, kind: TensorType) -> None:
        self._gpu, self._target, self._shape = gpu, target, kind.dims
        self._word = np.dtype(f"u{ITEM_BYTES[kind.dtype]}")  # bits: NumPy need not know bf16
        self._pinned: Optional[Tensor] = None

    def __call__(self, value: Any) -> None:
        """Copy a NumPy array, or bytes that are on the GPU already; `value` is free afterwards."""
        if isinstance(value, torch.Tensor):
            self._target.copy_(value)
            return
        if self._pinned is None:
            self._prepare()
        self._copied.synchronize()  # the last copy may still be reading
        np.copyto(self._host, value.view(self._word))
        self._target.copy_(self._pinned, non_blocking=True)
        self._copied.record(self._gpu.stream())

    def _prepare(self) -> None:
        """Only where an array of the host comes: tensors of the GPU need no pinned memory."""
        pins = self._gpu.device.type == "cuda"
        self._pinned = torch.empty(self._target.shape, dtype=torch.uint8, pin_memory=pins)
        self._host = self._pinned.numpy().view(self._word).reshape(self._shape)
        self._copied = self._gpu.api.Event()  # one that was never recorded is over
