"""Launches run on arrays, by the interpreter or emulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byparts_gpu_ir.emulation import build
from byparts_gpu_ir.launches import Launches
from byparts_gpu_ir.mapping.machine import Machine
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.statement import Buffer

# So little that small arrays need several blocks, teams and warps, and do not fit.
SMALL = Machine(processors=2, busy_threads=64, block_threads=64, most_threads=128, shared_bytes=512)


def run(
    launches: Launches, arrays: Sequence[np.ndarray[Any, Any]], seed: int = 0, emulation: str = ""
) -> None:
    """Run the kernels on inputs, then outputs, which are written in place.

    Args:
        launches: of any function.
        arrays: for its parameters.
        seed: of the order of threads, for the interpreter.
        emulation: one of `emulated.MODES`; by the interpreter if not given.
    """
    memory: dict[Buffer, np.ndarray[Any, Any]] = {}
    for b, a in zip(launches.parameters, arrays, strict=True):
        memory[b] = a.reshape(_dims(b))
        assert np.shares_memory(memory[b], a) or not a.size
    for b in launches.workspace:
        garbage = np.nan if b.dtype[0] == "f" else 101
        memory[b] = np.full(_dims(b), garbage, NUMPY[b.dtype])
    for kernel in launches.kernels:
        given = [memory[b] for b in kernel.params]
        if emulation:
            build(kernel, emulation)(*given)
        else:
            interpret(kernel, *given, seed=seed)


def _dims(buffer: Buffer) -> tuple[int, ...]:
    return tuple([int(n.attr) for n in buffer.shape])
