"""Steps on blocks: inline them into their readers, or compute them where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.schedule.find import (
    ScheduleError,
    block_of,
    loop_of,
    loops_around,
    path_to,
    readers,
    reads_of,
    shown,
    writers,
)
from byparts_tensor_ir.schedule.region import Box, box_of, within
from byparts_tensor_ir.statement import (
    SCOPES,
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    rebuilt,
    stores,
)
from byparts_tensor_ir.substitute import (
    buffers_replaced,
    in_statements,
    loads,
    substituted,
    variables,
)


def inline(func: Func, block: str) -> Func:
    """Readers compute the block's element themselves, and its buffer vanishes.

    Raises:
        ScheduleError: the block is a reduction, a parameter, has conditions around it, or its
            index is not one loop variable a dimension.
    """
    s = block_of(func, block)
    buffer = s.targets[0]
    if s.reducer is not None or len(s.targets) > 1 or len(writers(func, buffer)) > 1:
        raise ScheduleError(f"inline {block}: a reduction or several stores\n{shown(s)}")
    if buffer not in func.locals:
        raise ScheduleError(f"inline {block}: {buffer.name} is a parameter\n{shown(s)}")
    path = path_to(func, s)
    if any(isinstance(x, If) for x in path) or any(i.op != "var" for i in s.index):
        raise ScheduleError(f"inline {block}: inline it before its loops are changed\n{shown(s)}")
    inner = {v for v in variables(s.values[0]) if v.attr.extent is not None} - {*s.index}
    for read in reads_of(s):  # a buffer that is filled again in each round of a loop around
        for w in writers(func, read.attr):
            both = {y.var for y in loops_around(func, w)} & {y.var for y in loops_around(func, s)}
            inner |= both
    for x in readers(func, buffer):
        if not inner <= {y.var for y in loops_around(func, x)}:
            raise ScheduleError(
                f"inline {block}: its value depends on a loop that is not around its reader\n"
                f"{shown(s, x)}"
            )

    def value(load: Expr) -> Expr:
        return substituted(s.values[0], dict(zip(s.index, load.args, strict=True)))

    def changed(e: Expr) -> Expr:
        by = {x: value(x) for x in loads(e) if x.attr is buffer}
        done = substituted(e, by) if by else e
        return changed(done) if any(x.attr is buffer for x in loads(done)) else done

    def rule(x: Statement) -> Sequence[Statement] | None:
        if isinstance(x, Store) and any(r.attr is buffer for r in reads_of(x)):
            index, values = tuple(map(changed, x.index)), tuple(map(changed, x.values))
            return [replace(x, index=index, values=values)]
        return None

    body = rebuilt(_without(func.body, _nest(func, s)), rule)
    kept = tuple([b for b in func.locals if b is not buffer])
    return replace(func, body=body, locals=kept)


def compute_at(func: Func, block: str, loop: str, scope: str = "") -> Func:
    """The block computes, below this loop, what is read there, into a buffer of that size.

    The buffer shrinks to the box of elements that one round reads.  The loops of the block keep
    their names; those of which one round reads one element vanish.

    Args:
        func: any function.
        block: a block whose nest stands before the loop.
        loop: of the readers.
        scope: memory of the buffer, `SCOPES`; "local" if not given.

    Raises:
        ScheduleError: something outside the loop reads the block, it is a parameter, the loops of
            the block were changed before, or elements would be left out.
    """
    s, at = block_of(func, block), loop_of(func, loop)
    buffer = s.targets[0]
    nest = _movable_nest(func, s, at)
    above = loops_around(func, nest)
    around = {x.var for x in [*loops_around(func, at), at]}
    box = box_of(at.body, buffer, around)
    by, kept = _loops_of_box(s, loops_around(func, s)[len(above) :], box)
    guard = within([by.get(i, i) for i in s.index], buffer)
    for x in path_to(func, s)[len(path_to(func, nest)) :]:
        if isinstance(x, If):
            guard = guard & substituted(x.condition, by)
    body: tuple[Statement, ...] = in_statements([s], by)
    if guard.op != "const":
        body = (If(guard, body),)
    for own in reversed(kept):
        body = (replace(own, body=body),)
    small = {
        t: replace(t, shape=tuple([extent for _, extent in box]), scope=scope or "local")
        for t in s.targets
    }
    begins = [begin for begin, _ in box]

    def moved(_: Buffer, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple([i - b for i, b in zip(index, begins, strict=True)])

    new = replace(at, body=buffers_replaced((*body, *at.body), small, moved))
    rest = rebuilt(_without(func.body, nest), lambda x: [new] if x is at else None)
    return replace(func, body=rest, locals=tuple([small.get(b, b) for b in func.locals]))


def _loops_of_box(s: Store, loops: Sequence[For], box: Box) -> tuple[dict[Expr, Expr], list[For]]:
    """Restrict a block's loops to a box: the new values of their variables, and the loops left."""
    by: dict[Expr, Expr] = {}
    kept = []
    for own in loops:
        if own.var not in s.index:
            kept.append(own)
            continue
        begin, extent = box[s.index.index(own.var)]
        if extent is const(1):
            by[own.var] = begin
        else:
            var = variable(own.name, extent)
            by[own.var] = begin + var
            kept.append(For(var, (), own.kind))
    return by, kept


def _movable_nest(func: Func, s: Store, at: For) -> Statement:
    """The loops of a block, where all that reads it is below the loop `at`."""
    step, buffer = f"compute_at {s.block}, {at.name}", s.targets[0]
    outside = [x for b in s.targets for x in readers(func, b) if at not in loops_around(func, x)]
    if outside or buffer not in func.locals:
        culprit = outside[0] if outside else s
        raise ScheduleError(
            f"{step}: {buffer.name} is read outside of {at.name}, or is a parameter\n"
            f"{shown(culprit)}"
        )
    if len(writers(func, buffer)) > 1 or any(i.op != "var" for i in s.index):
        raise ScheduleError(
            f"compute_at {s.block}: move the block before its own loops are changed\n{shown(s)}"
        )
    nest = _nest(func, s)
    elsewhere = [x for x in loops_around(func, nest) if x not in loops_around(func, at)]
    if elsewhere:
        raise ScheduleError(f"{step}: {at.name} is elsewhere\n{shown(elsewhere[-1])}")
    return nest


def _nest(func: Func, s: Store) -> Statement:
    """The outermost statement that holds only this store."""
    nest: Statement = s
    for x in reversed(path_to(func, s)):
        if len(stores([x])) > 1:
            break
        nest = x
    return nest


def _without(body: Sequence[Statement], nest: Statement) -> tuple[Statement, ...]:
    """The statements without this one."""
    return rebuilt(body, lambda x: [] if x is nest else None)


def set_scope(func: Func, buffer: str, scope: str) -> Func:
    """The local buffer lives in another kind of memory (`statement.SCOPES`).

    Raises:
        ScheduleError: it is a parameter, or there is no such scope.
    """
    old = next((b for b in func.locals if b.name == buffer), None)
    if old is None or scope not in SCOPES:
        raise ScheduleError(f"set_scope {buffer}, {scope!r}: no local buffer or none of {SCOPES}")
    by = {old: replace(old, scope=scope)}
    kept = tuple([by.get(b, b) for b in func.locals])
    return replace(func, body=buffers_replaced(func.body, by), locals=kept)
