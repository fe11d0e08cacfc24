"""Pieces of a launch: blocks that do one thing, beside the blocks of other pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from byparts_gpu_ir.launches import size_bytes
from byparts_gpu_ir.mapping.independence import used, written
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement
from byparts_tensor_ir.substitute import in_statements


@dataclass(frozen=True, eq=False)
class Piece:
    """Blocks of threads that need nothing from each other.

    Attributes:
        block: the variable that says which block of the piece it is.
        thread: the variable that says which thread of its block.
        body: what a thread does.
        locals: shared memory, and memory of a thread.
        workspace: global memory that begins undefined.
    """

    block: Expr
    thread: Expr
    body: tuple[Statement, ...]
    locals: tuple[Buffer, ...] = ()
    workspace: tuple[Buffer, ...] = ()

    @property
    def blocks(self) -> Expr:
        """The number of blocks, an expression where sizes decide."""
        return self.block.attr.extent  # type: ignore[no-any-return]  # a number of a variable

    @property
    def threads(self) -> int:
        """The number of threads of a block."""
        return int(self.thread.attr.extent.attr)

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block."""
        return sum(size_bytes(b) for b in self.locals if b.scope == "shared")


def beside(pieces: Sequence[Piece]) -> Piece:
    """Pieces whose blocks have equally many threads, as one piece: a range of blocks for each."""
    if len(pieces) == 1:
        return pieces[0]
    block = variable("b", sum((p.blocks for p in pieces), const(0)))
    thread = variable("t", pieces[0].threads)
    body: list[Statement] = []
    first = const(0)
    for p in pieces:
        inner = in_statements(p.body, {p.block: block - first, p.thread: thread})
        here = const(True, "bool")
        here = here & (first <= block) if first is not const(0) else here
        first = first + p.blocks
        here = here & (block < first) if p is not pieces[-1] else here
        body.append(If(here, inner))
    locals = tuple([b for p in pieces for b in p.locals])
    workspace = tuple([b for p in pieces for b in p.workspace])
    return Piece(block, thread, tuple(body), locals, workspace)


def kernel(piece: Piece, name: str, known: Sequence[Buffer], sizes: tuple[Expr, ...] = ()) -> Func:
    """The GPU function of a piece.

    Args:
        piece: all that the launch does.
        name: of the function.
        known: global buffers, in the order in which the function takes those that it uses.
        sizes: that it takes.
    """
    touched, stored = used(piece.body), written(piece.body)
    params = tuple([b for b in known if b in touched])
    outputs = tuple([b for b in params if b in stored])
    threads = For(piece.thread, piece.body, "threadIdx.x")
    locals = tuple([b for b in piece.locals if b in touched])
    return Func(name, params, outputs, sizes, (For(piece.block, (threads,), "blockIdx.x"),), locals)
