"""A function of this process for NumPy arrays, from a Func."""

from __future__ import annotations

from typing import Any

from byparts_tensor_ir.compile import callable_of, vector_bytes
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.statement import Func, expression_sizes


def build(func: Func, vector: int | None = None) -> Any:
    """Compile; returns f(*arrays) that writes the outputs in place.

    Arrays are NumPy's, contiguous, of the dtypes and shapes of the parameters; sizes are taken from
    their shapes.

    Raises:
        CompilerError: there is no compiler.
    """
    source = emit_c(func, vector or vector_bytes())
    call = callable_of(source)

    def run(*arrays: Any) -> None:
        given = []
        for p, a in zip(func.params, arrays, strict=False):
            if not a.flags.c_contiguous:
                raise ValueError(f"{func.name}: {p} got an array that is not contiguous")
            kind = a.dtype.kind
            given.append((a.shape, "bool" if kind == "b" else f"{kind}{8 * a.dtype.itemsize}"))
        sizes = expression_sizes(func, given)
        call([a.ctypes.data for a in arrays], [sizes[s] for s in func.sizes])

    run.source = source  # type: ignore[attr-defined]
    return run
