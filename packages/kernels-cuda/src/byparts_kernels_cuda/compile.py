"""From text to what the driver loads: NVRTC or `nvcc`, and for the double the C compiler.

What is made is kept on disk by the text, the compiler and its flags, beside the objects of
tensor-ir.  `BYPARTS_CUDA_COMPILER` names one of "nvrtc" and "nvcc"; by default the first there is.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from byparts_gpu_ir.emit.emulated import shared_object
from byparts_kernels_cuda.nvrtc import nvrtc
from byparts_tensor_ir.cache import cache_directory, keep_source, kept, put
from byparts_tensor_ir.compile import CompilerError
from byparts_tensor_ir.private import working_folder

FLAGS = ("--fmad=false", "--std=c++17")  # what is rounded once is written as `fma`
_COMPILE_S = 600.0  # one that takes longer hangs
_SHOWN = 3  # lines of the source before and after a line with an error


class CudaCompiler(Protocol):
    """Makes machine code of CUDA C; see `Nvrtc`."""

    version: str

    def build(
        self, name: str, text: str, capability: tuple[int, int], flags: Sequence[str]
    ) -> bytes:
        """The code of this text."""


class Nvcc:
    """The compiler of the toolkit, as a process."""

    def __init__(self, path: str) -> None:
        stat = os.stat(path)
        self._path, self.version = path, f"nvcc {stat.st_size} {stat.st_mtime_ns}"

    def build(
        self, name: str, text: str, capability: tuple[int, int], flags: Sequence[str]
    ) -> bytes:
        """Compile as `Nvrtc.build` does, with nvcc, which must know the GPU."""
        with working_folder(cache_directory()) as work:
            source, output = work / f"{name}.cu", work / f"{name}.cubin"
            source.write_text(text, encoding="utf-8")
            target = f"-arch=sm_{10 * capability[0] + capability[1]}"
            _run([self._path, "-cubin", target, *flags, "-o", str(output), str(source)])
            return output.read_bytes()


def cuda_compiler() -> CudaCompiler:
    """The compiler of CUDA C.

    Raises:
        CompilerError: there is none, or not the one that is named; says what to install.
    """
    return _cuda_compiler(os.environ.get("BYPARTS_CUDA_COMPILER", ""))


@lru_cache(maxsize=4)
def _cuda_compiler(told: str) -> CudaCompiler:
    if told not in ("", "nvrtc", "nvcc"):
        raise CompilerError(f'BYPARTS_CUDA_COMPILER={told}: "nvrtc", "nvcc", or unset')
    library = nvrtc() if told != "nvcc" else None
    if library is not None:
        return library
    path = shutil.which("nvcc") if told != "nvrtc" else None
    if path is not None:
        return Nvcc(path)
    raise CompilerError(
        f"no compiler of CUDA C{f' called {told}' if told else ''}: "
        'pip install "byparts-kernels-cuda[nvrtc]", or put nvcc of the CUDA toolkit on the path'
    )


def cubin(name: str, text: str, capability: tuple[int, int]) -> bytes:
    """The machine code of a kernel: from the disk, or compiled.

    Raises:
        CompilerError: it does not compile; with the compiler's words and the lines they are about.
    """
    nvidia = cuda_compiler()
    key = _key(nvidia.version, str(capability), *FLAGS, text)
    target = cache_directory() / f"{key}.cubin"
    known = kept(target)
    if known is not None:
        return known
    try:
        code = nvidia.build(name, text, capability, FLAGS)
    except CompilerError as error:
        raise explained(name, text, str(error)) from error
    with working_folder(target.parent) as work:
        file = work / target.name
        file.write_bytes(code)
        put(file, target)
    return code


def emulation(name: str, text: str) -> Path:
    """The shared object of a kernel for the double: from the disk, or compiled.

    Raises:
        CompilerError: as `cubin`, or there is no C++ compiler.
    """
    try:
        return shared_object(text)
    except CompilerError as error:
        raise explained(name, text, str(error)) from error


def explained(name: str, text: str, words: str) -> CompilerError:
    """The compiler's words, with the lines of the source that they are about."""
    lines = text.splitlines()
    numbers = re.findall(r"(?:\.cu|\.cc)(?:\((\d+)\)|:(\d+))", words)
    about = sorted({int(a or b) for a, b in numbers})[:3]
    shown = sorted({i for n in about for i in range(n - _SHOWN, n + _SHOWN + 1)})
    quoted = [f"{i:5}  {lines[i - 1]}" for i in shown if 0 < i <= len(lines)] or lines[:20]
    copy = keep_source(f"byparts-{name}-{_key(text)[:8]}.cu", text)
    said = f"{name} does not compile; its source is {copy}\n{words[:2000]}"
    return CompilerError("\n".join([said, *quoted]))


def _key(*about: str) -> str:
    return hashlib.sha256("\0".join(about).encode()).hexdigest()[:32]


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_COMPILE_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilerError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode:
        words = (done.stderr or done.stdout).decode(errors="replace")
        raise CompilerError(words or f"{command[0]} said nothing")
