"""Random GPU functions: all orders of threads give the same, or the checker says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from access_trace import fault_of
from emitters import c_emitter
from thread_programs import BLOCKS, THREADS, programs

from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.emit.emulated import MODES
from byparts_gpu_ir.emulation import compiled, emulated_caller
from byparts_gpu_ir.faults import KernelFault
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.statement import Func

Change = Callable[[str], str]
Array = np.ndarray[Any, Any]


def _input(seed: int) -> Array:
    x: Array = np.random.default_rng(seed).standard_normal((BLOCKS, 4 * THREADS))
    return x.astype(np.float32)


def _emulated(
    funcs: Sequence[Func], change: Change = lambda text: text
) -> dict[str, list[tuple[Array, str]]]:
    """Of each mode the output of each function, and the fault."""
    sources = [emulate(f, mode).renamed(f"{f.name}_{mode}") for mode in MODES for f in funcs]
    sources = [replace(s, body=change(s.body)) for s in sources]
    addresses = compiled(sources)
    results: dict[str, list[tuple[Array, str]]] = {mode: [] for mode in MODES}
    for i, source in enumerate(sources):
        x, y = _input(i % len(funcs)), np.zeros((BLOCKS, 4 * THREADS), np.float32)
        fault = ""
        try:
            emulated_caller(source, addresses[source.name])([x.ctypes.data, y.ctypes.data])
        except KernelFault as error:
            fault = str(error)
        results[source.mode].append((y, fault))
    return results


def disagreements(funcs: Sequence[Func], change: Change = lambda text: text) -> list[str]:
    """What is wrong with the emulation of these functions, of which the C is changed: nothing."""
    results = _emulated(funcs, change)
    wrong = []
    for i, f in enumerate(funcs):
        x, y = _input(i), np.zeros((BLOCKS, 4 * THREADS), np.float32)
        oracle, said = fault_of(f, x, y, seed=i), results["checked"][i][1]
        if bool(oracle) != bool(said):
            wrong.append(f"{f.name}: the checker says {said!r}, the oracle {oracle!r}")
        if oracle or said:
            continue
        again = np.zeros_like(y)
        interpret(f, x, again, seed=i + 1)
        for name, out in [*[(m, results[m][i][0]) for m in MODES], ("again", again)]:
            if not np.array_equal(y, out, equal_nan=True):
                wrong.append(f"{f.name}: {name} is not what the interpreter gives")
    return wrong


@c_emitter
@pytest.mark.parametrize(
    "first", [0, *[pytest.param(k, marks=pytest.mark.long) for k in range(2000, 8000, 1000)]]
)
def test_emulation_is_interpretation_and_faults_are_reported(first: int) -> None:
    """If nothing is reported, all orders of threads give the same bits; and nothing harmless is."""
    assert disagreements(programs(range(first, first + 20))) == []


@c_emitter
def test_programs_without_faults_are_many_enough() -> None:
    """Half of the programs run to the end, so that orders are compared at all."""
    funcs = programs(range(20))
    faults = [said for _, said in _emulated(funcs)["checked"]]
    assert 5 <= sum(map(bool, faults)) <= 15
