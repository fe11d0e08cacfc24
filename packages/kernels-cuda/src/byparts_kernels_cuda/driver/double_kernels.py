"""Kernels of the double: shared objects that a C compiler made, and what a launch must keep.

An image is text: a mark, then JSON that names the shared object and says of each kernel how it is
launched.  `compile.py` writes it, `cuModuleLoadData` reads it.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Union

from byparts_gpu_ir.emit.emulated import EmulatedSource
from byparts_gpu_ir.emit.shadow import FAULT_BYTES
from byparts_gpu_ir.emulation import emulated_caller
from byparts_gpu_ir.faults import KernelFault
from byparts_kernels_cuda.driver.double_memory import Block, Memories
from byparts_kernels_cuda.driver.functions import ALIGNMENT
from byparts_op_loops.extents import number_of

MARK = b"byparts emulation\n"
ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, UNKNOWN = 700, 716, 999


class Fault(Exception):
    """A fault of a kernel or of a call, as a status of the driver."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class Argument:
    """A pointer that a kernel takes.

    Attributes:
        name: of the buffer.
        size_bytes: that must be there; the text of an expression of the sizes.
        written: whether the kernel writes them.
        alone: whether they may share no byte with what is written (`__restrict__`).
        is_size: whether it is no pointer, but a size.
    """

    name: str
    size_bytes: Union[int, str]
    written: bool
    alone: bool
    is_size: bool = False


@dataclass(frozen=True)
class _Span:
    """The bytes of an argument in a launch."""

    argument: Argument
    at: int
    size_bytes: int

    @property
    def end(self) -> int:
        return self.at + self.size_bytes


@dataclass(frozen=True)
class Emulated:
    """A kernel in a shared object: a C function of its name, as `EmulatedSource` says.

    Attributes:
        grid, block: with which it must be launched; blocks may be the text of an expression of
            sizes.
        shared_bytes: of dynamic shared memory, likewise.
        mode: one of `emulated.MODES`.
        statements, buffers: as printed, for faults.
    """

    grid: tuple[Union[int, str], ...]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]
    mode: str = "forward"
    statements: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()


def image(library: str, kernels: dict[str, Emulated]) -> bytes:
    """Make the image of a module that `cuModuleLoadData` of the double takes."""
    record = {"library": library, "kernels": {n: asdict(k) for n, k in kernels.items()}}
    return MARK + json.dumps(record).encode()


class Module:
    """A loaded image.

    Raises:
        Fault: the text is no image of the double.
    """

    def __init__(self, device: int, text: bytes) -> None:
        if not text.startswith(MARK):
            raise Fault(200, "no image of the double: it takes what compile.py makes for it")
        self.device = device
        record = json.loads(text.removeprefix(MARK))
        self.library = ctypes.CDLL(record["library"])
        self.kernels = {name: _kernel(k) for name, k in record["kernels"].items()}


@dataclass(frozen=True, eq=False)
class Function:
    """A kernel of a module; its name ends in "_" and a key, which nobody wants to read."""

    module: Module
    name: str
    kernel: Emulated

    @property
    def title(self) -> str:
        """The name in messages."""
        return self.name.rpartition("_")[0].removeprefix("byparts_")

    def limits(
        self, grid: Sequence[int], block: Sequence[int], shared_bytes: int, values: Sequence[int]
    ) -> str:
        """Describe the error in how the kernel is launched on these arguments; "" for none."""
        k = self.kernel
        if not all((*grid, *block)):
            return f"a grid of {grid} and a block of {block}: nothing to launch"
        if grid[0] >= 1 << 31 or max(grid[1:]) > 65535:
            return f"a grid of {grid}: at most 2^31 - 1 by 65535 by 65535 blocks"
        if max(block[:2]) > 1024 or block[2] > 64 or block[0] * block[1] * block[2] > 1024:
            return f"a block of {block}: at most 1024 threads"
        asked = (tuple(grid), tuple(block), shared_bytes)
        sizes = self._sizes(values)
        blocks = tuple([_number(n, sizes) for n in k.grid])
        if asked != (blocks, k.block, k.shared_bytes):
            return f"launched with {asked}, made for {(blocks, k.block, k.shared_bytes)}"
        return ""

    def run(self, memories: Memories, addresses: Sequence[int]) -> None:
        """Compute.

        Raises:
            Fault: an argument is no memory of the GPU, not aligned, or overlaps another one; or
                the checker found something.
        """
        sizes = self._sizes(addresses)
        pairs = zip(self.kernel.arguments, addresses, strict=True)
        spans = [_Span(a, at, _number(a.size_bytes, sizes)) for a, at in pairs if not a.is_size]
        for span in spans:
            if span.size_bytes:
                self._check(memories.find(span.at, span.size_bytes), span)
        self._check_overlap(spans)
        try:
            self.call(addresses)
        except KernelFault as fault:
            raise Fault(UNKNOWN, str(fault)) from fault

    @cached_property
    def call(self) -> Callable[[Sequence[int]], None]:
        """The C function, of addresses."""
        k = self.kernel
        record_bytes = FAULT_BYTES if k.mode == "checked" else 0
        about = self.title, "", k.mode, k.statements, k.buffers, k.grid, k.block, record_bytes
        entry = getattr(self.module.library, self.name)
        address = ctypes.cast(entry, ctypes.c_void_p).value or 0
        return emulated_caller(EmulatedSource(*about), address)

    def _sizes(self, values: Sequence[int]) -> dict[str, int]:
        pairs = zip(self.kernel.arguments, values, strict=True)
        return {a.name: n for a, n in pairs if a.is_size}

    def _check(self, block: Block | None, span: _Span) -> None:
        name, address = span.argument.name, span.at
        what = f"{self.title}: {name} of {span.size_bytes} bytes at {address:#x}"
        if block is None:
            raise Fault(ILLEGAL_ADDRESS, f"{what} is in no memory that was allocated")
        if block.device != self.module.device:
            raise Fault(ILLEGAL_ADDRESS, f"{what} is memory of device {block.device}")
        if address % ALIGNMENT:
            raise Fault(MISALIGNED_ADDRESS, f"{what} is not aligned to {ALIGNMENT} bytes")

    def _check_overlap(self, spans: Sequence[_Span]) -> None:
        for one in spans:
            for other in spans:
                a, b = one.argument, other.argument
                meet = one.at < other.end and other.at < one.end
                if a is not b and meet and a.written and (a.alone or b.alone):
                    raise Fault(
                        UNKNOWN, f"{self.title}: {a.name}, which is written, overlaps {b.name}"
                    )


def _number(n: Union[int, str], sizes: dict[str, int]) -> int:
    """A number, or that of an expression of sizes."""
    return n if isinstance(n, int) else number_of(n, sizes)


def _kernel(record: dict[str, Any]) -> Emulated:
    arguments = tuple([Argument(**a) for a in record["arguments"]])
    lists = {name: tuple(value) for name, value in record.items() if isinstance(value, list)}
    return Emulated(**{**record, **lists, "arguments": arguments})
