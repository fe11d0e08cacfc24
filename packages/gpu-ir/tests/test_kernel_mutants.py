"""Kernels with one thing made wrong: each is reported, or gives wrong numbers, or is explained.

The table is `golden/mutants.txt`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from emitters import c_emitter
from gpu_kernels import KERNELS, Case, empty
from kernel_mutants import mutants

from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.emit.emulated import EmulatedSource
from byparts_gpu_ir.emulation import compiled, emulated_caller
from byparts_gpu_ir.faults import KernelFault
from byparts_tensor_ir.statement import Func

# Those that change nothing, and why.
HARMLESS = {
    "softmax: without barrier 6 of 6": "nobody touches `red` after it",
    "gelu: (part * 256 + t * 4) < 512 made <= in: if (part * 256 + t * 4) < 512:": "512 columns "
    "are whole blocks: no thread is at 512",
    "matmul: tx < 8 made <= in: if tx < 8:": "the column 8 of `left` keeps rows apart: nobody reads it",
}


def _outcome(source: EmulatedSource, address: int, func: Func, case: Case) -> str:
    """How a mutant shows: the fault that is reported, wrong numbers, or not at all."""
    _, inputs, expected = case
    outputs = empty(func)
    arrays: list[Any] = [*[x.copy() for x in inputs], *outputs]
    try:
        emulated_caller(source, address)([a.ctypes.data for a in arrays])
    except KernelFault as error:
        return type(error).__name__
    near = [np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(outputs, expected, strict=True)]
    return "not noticed" if all(near) else "wrong numbers"


@c_emitter
def test_what_is_made_wrong_is_noticed(golden: Any) -> None:
    cases = {name: make() for name, make in KERNELS.items()}
    wrong = [(f"{n}: {what}", n, f) for n, case in cases.items() for what, f in mutants(case[0])]
    sources = [emulate(f, "checked").renamed(f"mutant{k}") for k, (_, _, f) in enumerate(wrong)]
    addresses = compiled(sources)
    table = {
        what: _outcome(source, addresses[source.name], func, cases[name])
        for source, (what, name, func) in zip(sources, wrong, strict=True)
    }
    lines = [f"{outcome:14} {what}" for what, outcome in table.items()]
    golden(Path(__file__).parent / "golden" / "mutants.txt", "\n".join(lines) + "\n")
    assert {what for what, outcome in table.items() if outcome == "not noticed"} == {*HARMLESS}
