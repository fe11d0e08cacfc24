"""The text of one GPU function: CUDA C for a GPU, C for the double; and the shape of its launch."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Refused
from byparts_tensor_ir.statement import Buffer, For, Func

Shape = tuple[int, int, int]
MOST_BLOCKS = ((1 << 31) - 1, 65535, 65535)
MOST_THREADS = 1024


def text_of(
    func: Func, mode: str, aliases: Sequence[tuple[Buffer, Buffer]]
) -> tuple[str, str, int]:
    """(name of the function, text, bytes of dynamic shared memory).

    Args:
        func: block loops, then thread loops, then what one thread does.
        mode: "" for CUDA C, else how the double runs it.
        aliases: parameters that may be one array.
    """
    if mode:
        from byparts_tensor_ir.emit.emulate import emulate

        source = emulate(func, mode, aliases)
        return source.name.removeprefix("byparts_"), source.text, 0
    from byparts_tensor_ir.emit.cuda import emit_cuda

    code = emit_cuda(func, aliases)
    return code.name, code.body, 0


def shape_of(func: Func) -> tuple[Shape, Shape]:
    """The extents of the loops of blocks, and of those of threads: x, y, z.

    Raises:
        Refused: a GPU launches no such grid.
    """
    extents: dict[str, int] = {}
    body = func.body
    while len(body) == 1 and isinstance(body[0], For) and "Idx" in str(body[0].kind):
        extents[str(body[0].kind)] = int(body[0].extent.attr)
        body = body[0].body
    grid, block = (
        (*[extents.get(f"{what}Idx.{axis}", 1) for axis in "xyz"],) for what in ("block", "thread")
    )
    threads = block[0] * block[1] * block[2]
    if any(n > most for n, most in zip(grid, MOST_BLOCKS, strict=True)) or threads > MOST_THREADS:
        raise Refused(f"{func.name}: no GPU launches {grid} blocks of {block} threads")
    return (grid[0], grid[1], grid[2]), (block[0], block[1], block[2])
