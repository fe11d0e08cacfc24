"""Any function of serial loops as kernels.

plain        loops without what is for a CPU
stages       statements that have rows in common
tiles        what threads do for a transposition
phases       what a team of threads does for a row
weave        what one thread does, and where threads meet
order        which stages are one launch
"""

from __future__ import annotations

from byparts_gpu_ir.launches import Launches
from byparts_gpu_ir.mapping.binding import piece_of
from byparts_gpu_ir.mapping.independence import Pairs, surroundings, used
from byparts_gpu_ir.mapping.machine import H100, Machine
from byparts_gpu_ir.mapping.order import alike, launches_of
from byparts_gpu_ir.mapping.piece import Piece, beside, kernel
from byparts_gpu_ir.mapping.plain import plain
from byparts_gpu_ir.mapping.stages import Stages
from byparts_gpu_ir.mapping.tiles import tiled
from byparts_tensor_ir.statement import Func


def mapped(func: Func, inplace: Pairs = (), machine: Machine = H100) -> Launches:
    """The function as kernels that run one after the other.

    Args:
        func: of serial loops; what its loops are for a CPU does not matter.  It may have sizes:
            how many blocks there are is then an expression of them, and each kernel takes all.
        inplace: pairs (input, output), by number, that may be the same bytes: an element is written
            when it has been read for the last time, in the order of the function.
        machine: that runs them.
    """
    func = plain(func, inplace)
    around = surroundings(func, inplace)
    stages = Stages(func, around, machine)
    pieces: list[Piece] = []
    for together in launches_of(stages.found(), around.memory):
        by_threads: dict[int, list[Piece]] = {}
        for piece in [tiled(stage) or piece_of(stage) for stage in alike(together)]:
            by_threads.setdefault(piece.threads, []).append(piece)
        pieces += [beside(group) for group in by_threads.values()]
    workspace = [b for p in pieces for b in p.workspace]
    touched = [b for p in pieces for b in used(p.body)]
    workspace += [b for b in stages.twins.values() if b in touched]
    known = [*func.params, *workspace]
    kernels = [kernel(p, f"{func.name}_{k}", known, func.sizes) for k, p in enumerate(pieces)]
    return Launches(func.params, tuple(workspace), tuple(kernels), tuple(inplace))
