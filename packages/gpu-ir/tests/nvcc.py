"""The compiler of CUDA C, where there is one: what the assembler says of kernels."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from byparts_gpu_ir.emit.cuda import FLAGS, CudaSource, cuda_file

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on the path")
_COUNTS = {
    "registers": r"Used (\d+) registers",
    "spill_bytes": r"(\d+) bytes spill stores",
    "stack_bytes": r"(\d+) bytes stack frame",
    "shared_bytes": r"(\d+) bytes smem",
}


@dataclass(frozen=True)
class PtxasReport:
    """What the assembler says of a kernel."""

    registers: int
    spill_bytes: int
    stack_bytes: int
    shared_bytes: int


def ptxas_report(sources: Sequence[CudaSource], arch: str) -> list[PtxasReport]:
    """Compile kernels in one file; the report of each, in order.

    Warnings are errors, but for variables that a test program does not use, and for unsigned
    numbers in functions for all kinds.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "kernels.cu"
        file.write_text(cuda_file(sources))
        command = [
            "nvcc",
            "-cubin",
            f"-arch={arch}",
            *FLAGS,
            "-Xptxas",
            "-v",
            "-Werror",
            "all-warnings",
        ]
        command += ["-diag-suppress", "177,550,186", "-o", f"{file}.cubin", str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = {}
    for part in run.stderr.split("Compiling entry function '")[1:]:
        name = part[: part.index("'")]
        found[name] = PtxasReport(
            **{what: int((re.findall(p, part) or ["0"])[0]) for what, p in _COUNTS.items()}
        )
    return [found[s.name] for s in sources]
