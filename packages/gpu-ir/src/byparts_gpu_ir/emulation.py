"""Emulated GPU functions in this process: compiled as C, called with addresses or with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from byparts_gpu_ir.emit.emulated import EmulatedSource, emulated_file, shared_object
from byparts_gpu_ir.faults import raise_fault
from byparts_tensor_ir import compile as c_compiler
from byparts_tensor_ir.build import of_arrays
from byparts_tensor_ir.statement import Func


def build(func: Func, mode: str = "forward") -> Any:
    """Compile the emulation; returns f(*arrays) that writes the outputs in place.

    Args:
        func: a GPU function.
        mode: one of `emit.emulated.MODES`; a checked one raises the faults that it finds.

    Raises:
        CompilerError: there is no compiler.
        EmitError: as `emulate`.
    """
    from byparts_gpu_ir.emit.emulate import emulate  # not where text that is kept is compiled

    source = emulate(func, mode)
    call = emulated_caller(source, compiled([source])[source.name])
    return of_arrays(func, source, lambda pointers, sizes: call([*pointers, *sizes]))


def compiled(sources: Sequence[EmulatedSource]) -> dict[str, int]:
    """Compile emulated kernels in one file; their addresses by name.

    Raises:
        CompilerError: as `byparts_tensor_ir.compile.compiled`.
    """
    library = ctypes.CDLL(str(shared_object(emulated_file(sources))))
    return c_compiler.addresses(library, [s.name for s in sources])


def emulated_caller(source: EmulatedSource, address: int) -> Callable[[Sequence[int]], None]:
    """`f(addresses of the parameters, and sizes)` of a compiled kernel.

    The function raises what `faults.raise_fault` says, where a checked kernel finds a fault.
    """
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def call(pointers: Sequence[int]) -> None:
        record = (ctypes.c_int64 * max(1, source.workspace_bytes // 8))()
        arguments = (ctypes.c_void_p * (len(pointers) + 1))(*pointers, ctypes.addressof(record))
        function(ctypes.addressof(arguments))
        if record[0]:
            raise_fault(source, list(record))

    return call
