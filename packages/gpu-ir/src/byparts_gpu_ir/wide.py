"""Loops over neighbours become wide loads and stores, float4 in CUDA: a pass, and its analyses.

    for i in range(4):  # vectorize         in wide accesses:
      y[4 * t + i] = x[4 * t + i] * 2.0       for i in range(4):  # vectorize
                                                y[4 * t + i] = x[4 * t + i] * 2.0

Each store of such a loop is done in all rounds before the next one: its loads are one instruction
or some, and so are its stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from byparts_tensor_ir.access import flat_index
from byparts_tensor_ir.expression import BYTES, Expr, const
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.statement import (
    Buffer,
    For,
    Func,
    Group,
    If,
    Statement,
    Store,
    rebuilt,
    walk,
)
from byparts_tensor_ir.substitute import subexpressions, substituted, variables

WIDEST_BYTES = 16  # of one access


@dataclass(frozen=True)
class Wide:
    """Elements that are next to each other, in pieces of one access each.

    Attributes:
        width: elements of a piece: 2 or 4.
        pieces: how many there are.
    """

    width: int
    pieces: int


@dataclass(frozen=True, eq=False)
class WideLoop(Group):
    """A loop whose statements are done one by one, each for all rounds."""

    loop: For

    @property
    def body(self) -> tuple[Statement, ...]:  # type: ignore[override]
        """The loop."""
        return (self.loop,)

    def heads(self) -> list[str]:
        """The line above the loop."""
        return ["in wide accesses:"]


def with_wide_loops(func: Func) -> Func:
    """The function with wide loops where neighbours are accessed.  O(statements)."""

    def change(s: Statement) -> Sequence[Statement] | None:
        wide = isinstance(s, For) and s.kind == "vectorize" and lanes_of_loop(s)
        return [WideLoop(s)] if wide and isinstance(s, For) else None

    return func.with_body(rebuilt(func.body, change))


def lanes_of_loop(loop: For) -> int:
    """The number of lanes of a vectorized loop; 0 if it is to run like any other.

    It has lanes if it has 2, 4, 8 or 16 rounds of stores, in conditions and loops that are the same
    for all rounds, and something in it is accessed widely.
    """
    n = loop.extent.attr if loop.extent.op == "const" else 0
    if n not in (2, 4, 8, 16):
        return 0
    accesses = 0
    for s in walk(loop.body):
        if not _alike(s, loop.var):
            return 0
        if isinstance(s, Store):
            read = [(x.attr, x.args) for v in s.stored() for x in always_read(v, lambda e: False)]
            for buffer, index in [*read, *[(t, s.index) for t in s.targets]]:
                accesses += wide_access(buffer, index, loop.var, n) is not None
    return n if accesses else 0


def _alike(s: Statement, var: Expr) -> bool:
    """Whether a statement is a store, or the same for all lanes."""
    if isinstance(s, If):
        return var not in variables(s.condition)
    if isinstance(s, For):
        return s.kind in ("serial", "unroll") and var not in variables(s.extent)
    return isinstance(s, Store)


def wide_access(buffer: Buffer, index: Sequence[Expr], var: Expr, lanes: int) -> Wide | None:
    """The wide access that covers the elements of all lanes; `None` if there is none.

    They must be neighbours, in memory that threads share, and the first one must be at a multiple
    of the width whatever the other variables are: buffers begin at multiples of 16 bytes.
    """
    width = min(lanes, WIDEST_BYTES // BYTES[buffer.dtype], 4)
    if buffer.scope not in ("global", "shared") or not buffer.shape or width < 2:
        return None
    coefficients, _ = terms(flat_index(buffer, index))
    if coefficients.get(var) != 1 or any(var in variables(a) for a in coefficients if a is not var):
        return None
    first = substituted(flat_index(buffer, index), {var: const(var.attr.low)})
    coefficients, constant = terms(first)
    if constant % width or any(c % width for c in coefficients.values()):
        return None
    return Wide(width, lanes // width)


def always_read(e: Expr, safe: Callable[[Expr], bool]) -> list[Expr]:
    """The loads that are made whatever is chosen, and those that may be made (`safe`).

    What both arms of a `select` read is read, whichever is chosen.
    """
    read: dict[Expr, dict[Expr, None]] = {}
    for x in subexpressions(e):
        held = x.args
        if x.op == "select" or (x.dtype == "bool" and x.op in ("and", "or")):
            held = (x.args[0], *[a for a in x.args[1:] if safe(a)])
        own: dict[Expr, None] = {x: None} if x.op == "load" else {}
        for a in held:
            own |= read[a]
        if x.op == "select":
            _, a, b = x.args
            own |= {load: None for load in read[a] if load in read[b]}
        read[x] = own
    return list(read[e])
