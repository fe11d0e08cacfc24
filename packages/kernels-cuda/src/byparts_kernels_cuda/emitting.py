"""The text of one GPU function: CUDA C for a GPU, C for the double."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Refused
from byparts_kernels_cuda.code import Argument, KernelCode
from byparts_tensor_ir.statement import Buffer, Func

MOST_BLOCKS = ((1 << 31) - 1, 65535, 65535)  # that a GPU launches along x, y, z


def code_of(
    func: Func,
    mode: str,
    aliases: Sequence[tuple[Buffer, Buffer]],
    arguments: tuple[Argument, ...],
) -> KernelCode:
    """The text, and how it is launched.

    Args:
        func: block loops, then thread loops, then what one thread does.
        mode: "" for CUDA C, else how the double runs it.
        aliases: parameters that may be one array.
        arguments: where the parameters are.

    Raises:
        NestError, EmitError: it has no form in C.
        Refused: no GPU launches so many blocks.
    """
    if mode:
        from byparts_gpu_ir.emit.emulate import emulate

        emulated = emulate(func, "forward" if mode == "emulated" else mode, aliases)
        launch = emulated.name, emulated.body, emulated.grid, emulated.block, 0
        code = KernelCode(*launch, arguments, emulated.mode, emulated.statements, emulated.buffers)
    else:
        from byparts_gpu_ir.emit.cuda import emit_cuda

        cuda = emit_cuda(func, aliases)
        launch = cuda.name, cuda.text, cuda.grid, cuda.block, cuda.dynamic_bytes
        code = KernelCode(*launch, arguments)
    if not func.sizes:
        check_grid(code, [int(n) for n in code.grid])
    return code


def check_grid(code: KernelCode, grid: Sequence[int]) -> None:
    """Raise `Refused` where no GPU launches so many blocks."""
    if any(n > most for n, most in zip(grid, MOST_BLOCKS, strict=True)):
        raise Refused(f"{code.name}: no GPU launches a grid of {tuple(grid)} blocks")
