"""A function of this process for NumPy arrays, from a Func."""

from __future__ import annotations

from typing import Any

from byparts_tensor_ir import compile as c_compiler
from byparts_tensor_ir.compile import EMITTERS, CompilerError, default_emitter
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.emit.emulate import emulate
from byparts_tensor_ir.emit.emulated import emulated_caller
from byparts_tensor_ir.statement import Func, dtype_name, expression_sizes
from byparts_tensor_ir.target import target

EMULATIONS = {"emulated": "forward", "reversed": "reversed", "checked": "checked"}


def build(func: Func, vector: int | None = None, emitter: str | None = None) -> Any:
    """Compile; returns f(*arrays) that writes the outputs in place.

    Arrays are NumPy's, contiguous, of the dtypes and shapes of the parameters; sizes are taken from
    their shapes.

    Args:
        func: any function without GPU threads; for an emulation, one with them.
        vector: bytes of a vector register; by default those of this machine.
        emitter: one of `EMITTERS`, or of `EMULATIONS` of a GPU; by default `default_emitter()`.

    Raises:
        CompilerError: there is no compiler, or no llvmlite.
    """
    source, call = _compiled(func, vector, emitter or default_emitter())

    def run(*arrays: Any) -> None:
        given = []
        for p, a in zip(func.params, arrays, strict=False):
            if not a.flags.c_contiguous:
                raise ValueError(f"{func.name}: {p} got an array that is not contiguous")
            given.append((a.shape, dtype_name(a.dtype)))
        sizes = expression_sizes(func, given)
        call([a.ctypes.data for a in arrays], [sizes[s] for s in func.sizes])

    run.source = source  # type: ignore[attr-defined]
    return run


def _compiled(func: Func, vector: int | None, emitter: str) -> tuple[Any, Any]:
    """(source, function of addresses and sizes)."""
    if emitter in EMULATIONS:
        return _emulated(func, EMULATIONS[emitter])
    if emitter not in EMITTERS:
        known = ", ".join([*EMITTERS, *EMULATIONS])
        raise CompilerError(f"no emitter {emitter!r}; one of {known}")
    if emitter == "c":
        source = emit_c(func, vector or target().vector_bytes)
        return source, c_compiler.callable_of(source)
    try:
        from byparts_tensor_ir import jit  # loads 170 MB of LLVM: only where it is wanted
        from byparts_tensor_ir.emit.llvm import emit_llvm
    except ImportError as error:
        raise CompilerError(
            f"no llvmlite ({error}): `pip install byparts-tensor-ir[llvm]`, or build with C"
        ) from error
    code = emit_llvm(func, vector or target().vector_bytes)
    return code, jit.callable_of(code)


def _emulated(func: Func, mode: str) -> tuple[Any, Any]:
    """The same of an emulation; the function raises the faults that a checked one finds."""
    source = emulate(func, mode)
    call = emulated_caller(source, c_compiler.compiled([source])[source.name])
    return source, lambda pointers, sizes: call(pointers)
