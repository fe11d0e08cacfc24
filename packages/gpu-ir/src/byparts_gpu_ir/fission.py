"""Cuts a thread's code, so that loops over the threads take the place of threads.

All threads of a block run a stretch without meetings, one after the other, then the next stretch.
A local buffer that lives from one stretch to another needs one copy for each thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.nest import has_meeting
from byparts_tensor_ir.statement import (
    MATRICES,
    WARP,
    Buffer,
    For,
    If,
    Instruction,
    Statement,
    walk,
    written,
)
from byparts_tensor_ir.substitute import expressions, loads, variables


def pieces(body: Sequence[Statement]) -> list[list[Statement]]:
    """Stretches of statements without meetings; each statement with one is a piece of its own."""
    out: list[list[Statement]] = []
    open_ = False
    for s in body:
        meets = has_meeting([s])
        if open_ and not meets:
            out[-1].append(s)
        else:
            out.append([s])
        open_ = not meets
    return out


def same_for_all(e: Expr, differing: set[Expr]) -> bool:
    """Whether all threads of a block have one value of e, as far as the text says."""
    return not loads(e) and not variables(e) & differing


class Lifetimes:
    """Divides local buffers into those with a copy for each thread and those of one stretch.

    Attributes:
        kept: those that need one: used in several stretches, or in a loop around meetings.
        within: the first statement of a stretch -> the buffers that are used in it alone.
    """

    def __init__(self, body: Sequence[Statement]) -> None:
        self.kept: set[Buffer] = set()
        self.within: dict[Statement, list[Buffer]] = {}
        self._users: dict[Buffer, Statement] = {}
        self._visit(body, False)
        for b, first in self._users.items():
            if b not in self.kept:
                self.within.setdefault(first, []).append(b)

    def _visit(self, body: Sequence[Statement], again: bool) -> None:
        for piece in pieces(body):
            s = piece[0]
            if not has_meeting([s]):
                for x in walk(piece):
                    self._use(_used(x), s, again)
            elif isinstance(s, (For, If)):
                self._use(_used(s), s, True)
                self._visit(s.body, again or isinstance(s, For))
            else:
                self._use(_used(s), s, True)

    def _use(self, buffers: set[Buffer], stretch: Statement, again: bool) -> None:
        for b in buffers:
            if again or self._users.setdefault(b, stretch) is not stretch:
                self.kept.add(b)


def _used(s: Statement) -> set[Buffer]:
    """The local buffers that a statement uses by itself."""
    buffers = {x.attr for e in expressions(s) for x in loads(e)} | {*written(s)}
    if isinstance(s, Instruction):
        buffers |= {*s.read()}
    return {b for b in buffers if b.scope in ("local", "register")}


def item_bytes(b: Buffer) -> int:
    """Bytes of an element in memory; a matrix is stored as f32 values."""
    return 4 if b.scope in MATRICES else BYTES[b.dtype]


def copies_of(b: Buffer, size: int, kept: set[Buffer]) -> int:
    """The number of copies of a local buffer for `size` threads; 0 if it is inside a stretch."""
    if b.scope in MATRICES:
        return size // WARP
    return 1 if b.scope == "shared" else size if b in kept else 0
