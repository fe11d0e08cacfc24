"""Kernel for all contractions: tiles in shared memory, sums in registers.

    for each step of `depth` summands:        fetch the next step's tiles into registers
                                              multiply the tiles that stand in shared memory
                                              put the fetched ones beside them
                                              barrier

Shared memory has room for two steps, so one barrier a step is enough: what is written in a step was
last read in the step before the barrier.  Who multiplies is another matter: threads (`threads.py`),
or the matrix units of their warps (`warps.py`).  These are so fast that tiles are copied some steps
ahead, past the registers, where memory has them as shared memory wants them.

After Volkov and Demmel 2008 (https://doi.org/10.1145/1413370.1413402) and CUTLASS
(https://github.com/NVIDIA/cutlass, `efficient_gemm.md`).
"""

from __future__ import annotations

from typing import Union

from byparts_kernels_cuda.builder import Builder, array
from byparts_kernels_cuda.products.contraction import Contraction
from byparts_kernels_cuda.products.results import added
from byparts_kernels_cuda.products.sides import AnyTile, Job, Place, Side, copies_alone
from byparts_kernels_cuda.products.threads import Threads
from byparts_kernels_cuda.products.tiles import Tile, parts
from byparts_kernels_cuda.products.warps import Warps
from byparts_tensor_ir.expression import as_expr
from byparts_tensor_ir.statement import Buffer, Func
from byparts_tensor_ir.transfer import CloseGroup, WaitGroups

Multiplier = Union[Threads, Warps]
_STAGES = 3  # of tiles in shared memory, where copies go on by themselves


def tiled(
    c: Contraction, tile: AnyTile, splits: int = 1
) -> tuple[tuple[Func, ...], tuple[Buffer, ...]]:
    """(kernels, workspace) that compute the contraction.

    Args:
        c: no extent but `sums` is 0; for a `WarpTile` it is of halves.
        tile: of a block.
        splits: how many blocks share a sum, at most.
    """
    splits, steps = parts(c.sums, tile.depth, splits)
    if splits == 1:
        return (_function(Job(c, tile, 1, steps, None)),), ()
    part = array("parts", (splits, c.batch, c.a.extent, c.b.extent), c.dtype)
    return (_function(Job(c, tile, splits, steps, part)), added(c, part)), (part,)


def _function(job: Job) -> Func:
    c, tile, build = job.c, job.tile, Builder()
    with build.grid(job.blocks, tile.threads) as (block, thread):
        at = Place(job, block, thread)
        by = Threads(build, at, tile) if isinstance(tile, Tile) else Warps(build, at, tile)
        by.begin()
        if job.steps and c.sums:
            alone = isinstance(by, Warps) and copies_alone(job, by.dtype)
            (_multiply_copies if alone else _multiply)(build, at, by)
        by.finish()
    y = (c.y,) if job.part is None else (job.part,)
    reads = c.reads if job.part is None else ()
    return build.function("product", (c.a.buffer, c.b.buffer, *reads, *y), y)


def _multiply(build: Builder, at: Place, by: Multiplier) -> None:
    """Add all products of the tile."""
    steps = at.job.steps
    copies = min(2, steps)
    a, b = (Side(build, at, name, by.dtype, by.turns) for name in ("a", "b"))
    for side in (a, b):
        side.fetch(as_expr(0))
        side.put(as_expr(0))
    build.barrier()
    with build.loop("step", steps) as step:
        with build.when(step < steps - 1):
            for side in (a, b):
                side.fetch(step + 1)
        by.add_products(a, b, step % copies)
        with build.when(step < steps - 1):
            for side in (a, b):
                side.put((step + 1) % copies)
            build.barrier()


def _multiply_copies(build: Builder, at: Place, by: Multiplier) -> None:
    """Add all products of the tile, while tiles of later steps are copied to shared memory.

    A thread waits for its own copies of a step, the barrier for those of the others; after it
    nobody reads the stage of the step before, into which the next copies go.
    """
    steps = at.job.steps
    stages = min(_STAGES, steps)
    a, b = (Side(build, at, name, by.dtype, by.turns, stages) for name in ("a", "b"))
    for step in range(stages - 1):
        for side in (a, b):
            side.begin_copy(as_expr(step), as_expr(step))
        build.add(CloseGroup())
    with build.loop("step", steps) as now:
        build.add(WaitGroups(stages - 2))
        build.barrier()
        later = now + (stages - 1)
        with build.when(later < steps):
            for side in (a, b):
                side.begin_copy(later, later % stages)
        build.add(CloseGroup())
        by.add_products(a, b, now % stages)
