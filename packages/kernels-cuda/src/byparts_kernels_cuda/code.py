"""Kernels as text, which wait until one is needed: then all that wait are compiled, side by side.

A text is compiled once for each kind of GPU, and loaded once into each GPU.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from ctypes import c_char_p, c_void_p, cast
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Union

from byparts_graph_ir import BackendError
from byparts_graph_ir.backend.progress import report
from byparts_graph_ir.fork import make_lock
from byparts_kernels_cuda import compile as compilers
from byparts_kernels_cuda.driver import functions as api
from byparts_kernels_cuda.gpu import Gpu
from byparts_tensor_ir.compile import CompilerError

_MOST_IN_ONE_FILE = 8  # kernels of the double; machine code is one kernel a file
_STATIC_SHARED_BYTES = 48 << 10
Target = Union[tuple[int, int], str]  # the capability of a GPU, or the mode of the double


@dataclass(frozen=True)
class Argument:
    """A pointer or a size that a kernel takes.

    Attributes:
        name: of the buffer, or of the size, which is a number of 64 bits.
        size_bytes: that must be there; the text of an expression of the kernel's sizes, or 0 for a
            size.
        written: whether the kernel writes them.
        alone: whether they share no byte with any other argument that is written.
        at: the position among inputs and outputs, or where it begins in the workspace; of a kernel
            that has sizes, its position among the buffers there.
        in_workspace: which of the two.
        is_size: whether it is a size, and `at` its position among the sizes.
    """

    name: str
    size_bytes: Union[int, str]
    written: bool
    alone: bool
    at: int
    in_workspace: bool = False
    is_size: bool = False


@dataclass(frozen=True)
class KernelCode:
    """A kernel: its text, and how it is launched.

    Attributes:
        name: of the function in the text.
        text: a file of CUDA C, or the function alone of its emulation.
        grid, block: x, y, z; blocks may be the text of an expression of sizes.
        shared_bytes: of dynamic shared memory.
        mode: how the double runs it; "" for a GPU.
        statements, buffers: as printed, for what a checked emulation finds.
    """

    name: str
    text: str
    grid: tuple[Union[int, str], ...]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]
    mode: str = ""
    statements: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """The same for equal code that is launched equally."""
        about = f"{self.name}\0{self.grid}\0{self.block}\0{self.arguments}\0{self.text}"
        return hashlib.sha256(about.encode()).hexdigest()[:32]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> KernelCode:
        """From the JSON of its fields."""
        arguments = tuple([Argument(**a) for a in record["arguments"]])
        lists = {name: tuple(value) for name, value in record.items() if isinstance(value, list)}
        return cls(**{**record, **lists, "arguments": arguments})


_waiting: dict[str, KernelCode] = {}
_images: dict[tuple[Target, str], Union[bytes, CompilerError]] = {}
_functions: dict[tuple[int, str], tuple[int, Gpu]] = {}
_lock = make_lock()


def later(codes: Sequence[KernelCode]) -> None:
    """Remember kernels, to be compiled with all others when one is needed."""
    with _lock:
        _waiting.update({code.key: code for code in codes})


def function(gpu: Gpu, code: KernelCode) -> int:
    """The handle of a kernel on a GPU; compiles all that wait.  The context is current.

    Raises:
        BackendError: there is no compiler, or it refuses the text.
        DriverError: the driver does not load it.
    """
    with _lock:
        known = _functions.get((id(gpu), code.key))
        if known is None:
            known = _loaded(gpu, code, _image(gpu, code)), gpu
            _functions[id(gpu), code.key] = known
        return known[0]


def _image(gpu: Gpu, code: KernelCode) -> bytes:
    target: Target = gpu.driver.mode or gpu.capability
    if (target, code.key) not in _images:
        todo = {**_waiting, code.key: code}
        _images.update(
            _compiled([c for c in todo.values() if (target, c.key) not in _images], target)
        )
        _waiting.clear()
    image = _images[target, code.key]
    if isinstance(image, CompilerError):
        raise BackendError(f"backend 'cuda': {image}", "cuda") from image
    return image


def _compiled(
    codes: Sequence[KernelCode], target: Target
) -> dict[tuple[Target, str], Union[bytes, CompilerError]]:
    """The images of kernels, several at a time; an error in the place of what does not compile."""
    from concurrent.futures import ThreadPoolExecutor, as_completed  # not where all is loaded

    some = _MOST_IN_ONE_FILE if isinstance(target, str) else 1
    files = [codes[i : i + some] for i in range(0, len(codes), some)]
    done = dict[tuple[Target, str], Union[bytes, CompilerError]]()
    report(0, len(codes), "kernels of CUDA")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(_built, codes, target) for codes in files]
        for future in as_completed(futures):
            done.update({(target, key): image for key, image in future.result().items()})
            report(len(done), len(codes), "kernels of CUDA")
    return done


def _built(codes: Sequence[KernelCode], target: Target) -> dict[str, Union[bytes, CompilerError]]:
    """The images of kernels of one file, by key."""
    try:
        if isinstance(target, str):
            return dict.fromkeys([c.key for c in codes], _emulated(codes))
        return {c.key: compilers.cubin(c.name, c.text, target) for c in codes}
    except CompilerError as error:
        if len(codes) == 1:
            return {codes[0].key: error}
    return {key: image for c in codes for key, image in _built([c], target).items()}


def _emulated(codes: Sequence[KernelCode]) -> bytes:
    from byparts_gpu_ir.emit.emulated import EmulatedSource, emulated_file
    from byparts_kernels_cuda.driver import double_kernels as double

    kernels, sources = {}, []
    for c in codes:
        arguments = tuple(
            [
                double.Argument(a.name, a.size_bytes, a.written, a.alone, a.is_size)
                for a in c.arguments
            ]
        )
        about = c.mode, c.statements, c.buffers
        name = f"{c.name}_{c.key}"
        kernels[name] = double.Emulated(c.grid, c.block, c.shared_bytes, arguments, *about)
        source = EmulatedSource(c.name, c.text, *about, c.grid, c.block, 0)
        sources.append(source.renamed(name))
    path = compilers.emulation(codes[0].name, emulated_file(sources))
    return double.image(str(path), kernels)


def _loaded(gpu: Gpu, code: KernelCode, image: bytes) -> int:
    text = c_char_p(image)
    module = gpu.made("cuModuleLoadData", cast(text, c_void_p))
    try:
        name = f"{code.name}_{code.key}" if code.mode else code.name
        handle = gpu.made("cuModuleGetFunction", module, name.encode())
        if code.shared_bytes > _STATIC_SHARED_BYTES:
            gpu.driver.cuFuncSetAttribute(handle, api.MAX_DYNAMIC_SHARED_BYTES, code.shared_bytes)
    except BaseException:
        gpu.release("cuModuleUnload", module)
        raise
    return handle
