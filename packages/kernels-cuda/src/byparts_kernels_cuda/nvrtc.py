"""NVRTC, NVIDIA's compiler as a library: CUDA C in memory to machine code in memory, without a GPU.

It is in the wheel `nvidia-cuda-nvrtc`, or in the toolkit.  It knows no header, so generated code
includes none.  A compilation releases Python's lock, so several threads compile at once.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from ctypes import CDLL, byref, c_char_p, c_int, c_size_t, c_void_p
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from byparts_tensor_ir.compile import CompilerError

_NAMES = tuple([f"libnvrtc.so.{version}" for version in ("13", "12", "11.2")])


class Nvrtc:
    """The library.

    Args:
        path: of the shared object.

    Attributes:
        version: what tells it from another one.
    """

    def __init__(self, path: str) -> None:
        self._library = CDLL(path)
        self._library.nvrtcGetErrorString.restype = c_char_p
        major, minor = c_int(), c_int()
        self._call("nvrtcVersion", byref(major), byref(minor))
        self.version = f"nvrtc {major.value}.{minor.value}"
        count = c_int()
        self._call("nvrtcGetNumSupportedArchs", byref(count))
        numbers = (c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", numbers)
        self.newest = max(numbers)

    def build(
        self, name: str, text: str, capability: tuple[int, int], flags: Sequence[str]
    ) -> bytes:
        """Machine code (a cubin); for a GPU that is newer than the library, PTX.

        Args:
            name: of the kernel, for messages.
            text: CUDA C without includes.
            capability: of the GPU, e.g. (9, 0).
            flags: more for the compiler.

        Raises:
            CompilerError: it refuses the text; with its words.
        """
        number = 10 * capability[0] + capability[1]
        known = number <= self.newest
        target = f"sm_{number}" if known else f"compute_{self.newest}"
        options = [f"--gpu-architecture={target}".encode(), *[f.encode() for f in flags]]
        program = c_void_p()
        source = text.encode(), f"{name}.cu".encode(), 0, None, None
        self._call("nvrtcCreateProgram", byref(program), *source)
        try:
            table = (c_char_p * len(options))(*options)
            if self._library.nvrtcCompileProgram(program, len(options), table):
                raise CompilerError(
                    self._got("nvrtcGetProgramLog", program).decode(errors="replace")
                )
            return self._got("nvrtcGetCUBIN" if known else "nvrtcGetPTX", program)
        finally:
            self._library.nvrtcDestroyProgram(byref(program))

    def _got(self, function: str, program: c_void_p) -> bytes:
        size = c_size_t()
        self._call(f"{function}Size", program, byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(function, program, text)
        return text.raw

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self._library, function)(*arguments)
        if status:
            words = self._library.nvrtcGetErrorString(status).decode()
            raise CompilerError(f"{function} failed with {status}: {words}")


@lru_cache(maxsize=1)
def nvrtc() -> Nvrtc | None:
    """The library of this machine; `None` where there is none.

    `BYPARTS_NVRTC` names its file; else it is looked for in the wheel, then in the system.
    """
    for path in _places():
        try:
            return Nvrtc(path)
        except OSError:
            continue
    return None


def _places() -> Iterator[str]:
    told = os.environ.get("BYPARTS_NVRTC")
    if told:
        yield told
        return
    wheels = find_spec("nvidia")
    for folder in (wheels.submodule_search_locations or ()) if wheels else ():
        files = sorted(Path(folder).glob("*/lib/libnvrtc.so.*"), reverse=True)
        yield from [str(p) for p in files if "builtins" not in p.name]
    yield from _NAMES
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        yield f"{home}/lib64/libnvrtc.so"
