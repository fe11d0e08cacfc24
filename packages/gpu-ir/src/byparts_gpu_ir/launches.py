"""A function's kernels in the order in which a GPU runs them, and the memory between them.

The mapping makes `Launches` of serial loops, products make their own, and the driver turns either
into a kernel of graph-ir.  A launch begins when the one before has ended, so what one kernel writes
the next may read; within a launch blocks are ordered with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.statement import Buffer, Func
from byparts_tensor_ir.substitute import variables

ALIGNMENT_BYTES = 256  # of each workspace buffer, as the driver's own allocations
LIKELY = 1024  # an extent that sizes decide, where a decision of speed needs a number


@dataclass(frozen=True)
class Launches:
    """Kernels that run one after the other on one stream.

    Attributes:
        parameters: inputs, then outputs, as of the serial function.
        workspace: global buffers that live from one launch to a later one;
            undefined at the beginning.
        kernels: GPU functions: perfect nests of block loops, then thread loops, outermost; the
            parameters of each are among `parameters` and `workspace`, by identity.
        inplace: pairs (input, output), by number, that may be the same bytes.
    """

    parameters: tuple[Buffer, ...]
    workspace: tuple[Buffer, ...]
    kernels: tuple[Func, ...]
    inplace: tuple[tuple[int, int], ...] = ()

    def offsets(self) -> dict[Buffer, int]:
        """The offset in bytes at which each buffer of the workspace begins."""
        places: dict[Buffer, int] = {}
        end = 0
        for b in self.workspace:
            places[b] = end
            end += -(-size_bytes(b) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        return places

    @property
    def workspace_bytes(self) -> int:
        """Bytes of the whole workspace."""
        last = self.workspace[-1:]
        return sum(self.offsets()[b] + size_bytes(b) for b in last)

    def __str__(self) -> str:
        memory = [f"workspace {b}" for b in self.workspace]
        return "\n".join([*memory, *map(str, self.kernels)])


def size_bytes(buffer: Buffer) -> int:
    """Bytes of a buffer of static shape."""
    return BYTES[buffer.dtype] * prod(int(extent.attr) for extent in buffer.shape)


def is_static(buffer: Buffer) -> bool:
    """Whether the shape of a buffer is one of numbers."""
    return all(extent.op == "const" for extent in buffer.shape)


def is_size(e: Expr) -> bool:
    """Whether an expression depends on sizes alone, and on no loop."""
    return all(v.attr.extent is None for v in variables(e))


def likely(extent: Expr) -> int:
    """The extent, where it is a number; else one for decisions of speed."""
    return int(extent.attr) if extent.op == "const" else LIKELY
