"""A function of this process for NumPy arrays, from a Func."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_tensor_ir import compile as c_compiler
from byparts_tensor_ir.compile import EMITTERS, CompilerError, default_emitter
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.sizes import dtype_name, expression_sizes
from byparts_tensor_ir.statement import Func
from byparts_tensor_ir.target import target


def build(func: Func, vector: int | None = None, emitter: str | None = None) -> Any:
    """Compile; returns f(*arrays) that writes the outputs in place.

    Arrays are NumPy's, contiguous, of the dtypes and shapes of the parameters; sizes are taken from
    their shapes.

    Args:
        func: any function without GPU threads.
        vector: bytes of a vector register; by default those of this machine.
        emitter: one of `EMITTERS`; by default `default_emitter()`.

    Raises:
        CompilerError: there is no compiler, or no llvmlite.
    """
    return of_arrays(func, *_compiled(func, vector, emitter or default_emitter()))


def of_arrays(func: Func, source: Any, call: Callable[..., object]) -> Any:
    """A function of NumPy arrays that calls code of addresses and sizes, and has `source`."""

    def run(*arrays: Any) -> None:
        arguments = []
        for p, a in zip(func.params, arrays, strict=False):
            if not a.flags.c_contiguous:
                raise ValueError(f"{func.name}: {p} got an array that is not contiguous")
            arguments.append((a.shape, dtype_name(a.dtype)))
        sizes = expression_sizes(func, arguments)
        call([a.ctypes.data for a in arrays], [sizes[s] for s in func.sizes])

    run.source = source  # type: ignore[attr-defined]
    return run


def _compiled(func: Func, vector: int | None, emitter: str) -> tuple[Any, Any]:
    """(source, function of addresses and sizes)."""
    if emitter not in EMITTERS:
        raise CompilerError(f"no emitter {emitter!r}; one of {', '.join(EMITTERS)}")
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
