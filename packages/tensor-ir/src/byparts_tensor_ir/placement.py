"""Memory of local buffers: in the workspace, or on the stack in the innermost loop around all uses.

Small buffers are declared where they are used, so that the compiler may keep them in registers;
large ones stand one after the other in a workspace that the caller gives, for a stack is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from byparts_tensor_ir.access import EmitError, elements_of
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, walk, written
from byparts_tensor_ir.substitute import expressions, loads

_STACK_BYTES = 1 << 16  # larger local buffers stand in the workspace
MOST_ON_STACK_BYTES = 1 << 18  # of a local buffer in a parallel loop: each thread has its own


@dataclass(frozen=True)
class Placement:
    """The places of the local buffers of one function.

    Attributes:
        offsets: those that stand in the workspace -> where, in bytes.
        within: variable of a loop, `None` for the function -> the others that are declared in it.
        workspace_bytes: of the whole workspace.
    """

    offsets: dict[Buffer, int]
    within: dict[Expr | None, list[Buffer]]
    workspace_bytes: int


def placement(func: Func) -> Placement:
    """Decide where each local buffer stands.  O(buffers * statements).

    Raises:
        EmitError: one is of unknown size, or large and inside of a parallel loop.
    """
    offsets: dict[Buffer, int] = {}
    within: dict[Expr | None, list[Buffer]] = {}
    end = 0
    for b in func.locals:
        around = _around(func, b)
        if _is_large(b, around):
            offsets[b] = end
            end += -(-elements_of(b) * BYTES[b.dtype] // 64) * 64
        else:
            inside = around and b.scope != "global"
            within.setdefault(around[-1].var if inside else None, []).append(b)
    return Placement(offsets, within, end)


def _is_large(b: Buffer, around: Sequence[For]) -> bool:
    """Whether a buffer stands in the workspace."""
    size = elements_of(b) * BYTES[b.dtype]
    if size <= _STACK_BYTES and (b.scope != "global" or size <= 1024):
        return False
    if not any(s.kind == "parallel" for s in around):
        return True
    if size > MOST_ON_STACK_BYTES:
        raise EmitError(f"{b} of {size:,} bytes is inside of a parallel loop")
    return False


def _around(func: Func, buffer: Buffer) -> list[For]:
    """The loops around all uses of a buffer, outermost first; none that becomes vectors."""

    def uses(s: Statement) -> bool:
        held = {load.attr for e in expressions(s) for load in loads(e)}
        return buffer in held or buffer in written(s)

    common: list[For] = []
    body: Sequence[Statement] = func.body
    while True:
        users = [s for s in body if any(uses(x) for x in walk([s]))]
        if len(users) != 1 or not isinstance(users[0], (For, If)):
            return common
        if isinstance(users[0], For):
            if users[0].kind == "vectorize":
                return common
            common.append(users[0])
        body = users[0].body
