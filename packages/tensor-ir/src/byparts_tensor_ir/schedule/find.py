"""Finding loops, blocks and buffers by name, and the errors of steps."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import (
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    statement_lines,
    stores,
    walk,
)
from byparts_tensor_ir.substitute import loads


class ScheduleError(GraphError):
    """A step that would change what is computed, or has nothing to act on.

    The message shows the statements that forbid it.
    """


def loop_of(func: Func, name: str) -> For:
    """The loop of this name.

    Raises:
        ScheduleError: there is none; lists those there are.
    """
    known = [s for s in walk(func.body) if isinstance(s, For)]
    for loop in known:
        if loop.name == name:
            return loop
    raise ScheduleError(
        f"{func.name} has no loop {name!r}; loops: {', '.join(x.name for x in known)}"
    )


def block_of(func: Func, name: str) -> Store:
    """The store of this block.

    Raises:
        ScheduleError: there is none, or several.
    """
    known = stores(func.body)
    these = [s for s in known if s.block == name]
    if len(these) != 1:
        blocks = ", ".join(dict.fromkeys(s.block for s in known))
        raise ScheduleError(f"{func.name} has {len(these)} blocks {name!r}; blocks: {blocks}")
    return these[0]


def buffer_of(func: Func, name: str) -> Buffer:
    """The parameter or local buffer of this name.

    Raises:
        ScheduleError: there is none.
    """
    known = (*func.params, *func.locals)
    for b in known:
        if b.name == name:
            return b
    raise ScheduleError(f"{func.name} has no buffer {name!r}: {', '.join(b.name for b in known)}")


def path_to(func: Func, target: Statement) -> list[Statement]:
    """The loops and conditions around a statement, outermost first."""

    def search(body: Sequence[Statement], path: list[Statement]) -> list[Statement] | None:
        for s in body:
            if s is target:
                return path
            if isinstance(s, (For, If)):
                inner = search(s.body, [*path, s])
                if inner is not None:
                    return inner
        return None

    around = search(func.body, [])
    assert around is not None, "a statement of another function"
    return around


def loops_around(func: Func, target: Statement) -> list[For]:
    """The loops around a statement, outermost first."""
    return [s for s in path_to(func, target) if isinstance(s, For)]


def shown(*statements: Statement) -> str:
    """Pieces of code for a message."""
    return "\n".join(line for s in statements for line in statement_lines([s], 1)[:12])


def fresh_name(func: Func, name: str) -> str:
    """The name, with a number if some loop, block, size or buffer has it."""
    used = {
        s.name if isinstance(s, For) else s.block
        for s in walk(func.body)
        if isinstance(s, (For, Store))
    }
    used |= {b.name for b in (*func.params, *func.locals)} | {str(s) for s in func.sizes}
    fresh, k = name, 1
    while fresh in used:
        fresh, k = f"{name}{k}", k + 1
    return fresh


def reads_of(store: Store) -> list[Expr]:
    """The loads of a store, without those of what it adds to."""
    return [load for e in (*store.index, *store.values) for load in loads(e)]


def readers(func: Func, buffer: Buffer) -> list[Store]:
    """The stores that read a buffer."""
    return [s for s in stores(func.body) if any(load.attr is buffer for load in reads_of(s))]


def writers(func: Func, buffer: Buffer) -> list[Store]:
    """The stores into a buffer."""
    return [s for s in stores(func.body) if buffer in s.targets]
