"""Loops that threads share: outermost ones with much to do, whose rounds are independent.

Whether a loop is shared depends on that loop and a variable (`sharing.py`) alone, and a round is
computed alike on any thread, so results do not depend on the number of threads.
"""

from __future__ import annotations

from byparts_kernels_native.sharing import least_us, usual
from byparts_tensor_ir.access import elements_of
from byparts_tensor_ir.expression import BYTES, INDEX, Expr
from byparts_tensor_ir.functions import FUNCTIONS
from byparts_tensor_ir.placement import MOST_ON_STACK_BYTES
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.loops import parallel, split, vectorize
from byparts_tensor_ir.statement import For, Func, If, Statement, Store, stores
from byparts_tensor_ir.substitute import subexpressions

_ELEMENTS = 4096  # of a piece of a loop over neighbours in memory: a multiple of all vectors
_FEW = 128  # of a piece where short loops are shared too


def shared(func: Func) -> Func:
    """The function with its large loops shared among threads."""
    least_s, piece = least_us() * 1e-6, _ELEMENTS if usual() else _FEW
    for loop in func.body:
        if not isinstance(loop, For) or seconds(loop) < least_s or _has_large_locals(func, loop):
            continue
        if loop.kind == "vectorize" and loop.extent.op == "const" and loop.extent.attr <= piece:
            continue  # one piece
        try:
            if loop.kind == "vectorize":
                pieces = vectorize(split(func, loop.name, piece), f"{loop.name}_i")
                func = parallel(pieces, f"{loop.name}_o")
            else:
                func = parallel(func, loop.name)
        except ScheduleError:  # its rounds add to one element
            continue
    return func


def _has_large_locals(func: Func, loop: For) -> bool:
    """Whether a round needs more memory of its own than the stack of a thread has."""
    stored = {t for s in stores(loop.body) for t in s.targets} & {*func.locals}
    return any(elements_of(b) * BYTES[b.dtype] > MOST_ON_STACK_BYTES for b in stored)


def seconds(s: Statement) -> float:
    """About how long a statement takes on one thread, in vectors: 0.1 ns for each operation."""
    if isinstance(s, Store):
        return 1e-10 * sum(_cost(v) for v in s.values)
    if not isinstance(s, (For, If)):
        return 0.0
    rounds = int(s.extent.attr) if isinstance(s, For) and s.extent.op == "const" else 1
    return rounds * sum(seconds(inner) for inner in s.body)


def _cost(value: Expr) -> int:
    """Operations, a function of mathematics as 15, a load or the store as one for 2 bytes."""
    total = 2
    for e in subexpressions(value):
        if e.op == "load":
            total += BYTES[e.dtype] // 2 or 1
        elif e.op in FUNCTIONS:
            total += 15
        elif e.dtype != INDEX:
            total += 1
    return total
