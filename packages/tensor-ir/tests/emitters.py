"""The emitters that a test of compiled code runs with."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_tensor_ir.emit.cuda import FLAGS, CudaSource, cuda_file

_MISSING = {
    "c": (not any(map(shutil.which, ("g++", "clang++", "c++"))), "no C++ compiler on the path"),
    "llvm": (find_spec("llvmlite") is None, "llvmlite is not installed"),
}
each_emitter = pytest.mark.parametrize(
    "emitter",
    [
        pytest.param(name, marks=pytest.mark.skipif(missing, reason=why))
        for name, (missing, why) in _MISSING.items()
    ],
)
all_emitters = pytest.mark.skipif(
    any(missing for missing, _ in _MISSING.values()),
    reason=", ".join([why for missing, why in _MISSING.values() if missing]),
)
c_emitter = pytest.mark.skipif(_MISSING["c"][0], reason=_MISSING["c"][1])
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
