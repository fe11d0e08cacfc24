"""Steps that put a whole copy between a buffer and its readers or its writer.

The copy is a nest of its own, which `compute_at` moves and shrinks afterwards.  `cache.py` has the
steps that copy below a loop at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import variable
from byparts_tensor_ir.schedule.find import (
    ScheduleError,
    block_of,
    buffer_of,
    fresh_name,
    path_to,
    readers,
    reads_of,
    shown,
    writers,
)
from byparts_tensor_ir.schedule.region import nest_of
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, rebuilt, stores
from byparts_tensor_ir.substitute import buffers_replaced, in_statements, renewed


def read_through(func: Func, buffer: str, scope: str = "local", blocks: Sequence[str] = ()) -> Func:
    """Blocks read a buffer through a copy of all of it, made before the first of them.

    Args:
        func: any function.
        buffer: a parameter or local buffer.
        scope: memory of the copy; the copy and its block are named `BUFFER_SCOPE`.
        blocks: those that read the copy; all readers if none are given.

    Raises:
        ScheduleError: none of the blocks reads the buffer, or one also writes it.
    """
    b = buffer_of(func, buffer)
    wanted = [block_of(func, name) for name in blocks] or readers(func, b)
    strangers = [s for s in wanted if s not in readers(func, b)]
    if strangers or not wanted:
        raise ScheduleError(f"read_through {buffer}: it is not read by\n{shown(*strangers)}")
    nests = [x for x in func.body if any(s in stores([x]) for s in wanted)]
    late = [w for w in writers(func, b) if w in stores(func.body[func.body.index(nests[0]) :])]
    if late:
        raise ScheduleError(
            f"read_through {buffer}: it is written after its first reader begins\n{shown(late[0])}"
        )
    copy = Buffer(fresh_name(func, f"{buffer}_{scope}"), b.shape, b.dtype, scope)
    axes = [variable(f"{copy.name}_i{d}", e) for d, e in enumerate(b.shape)]
    nest = nest_of(axes, Store(copy.name, (copy,), tuple(axes), (b[tuple(axes)],)))

    def rule(x: Statement) -> Sequence[Statement] | None:
        return buffers_replaced([x], {b: copy}) if x in wanted else None

    body: list[Statement] = []
    for s in func.body:
        body += nest if s is nests[0] else ()
        body += rebuilt([s], rule)
    return replace(func, body=tuple(body), locals=(*func.locals, copy))


def write_through(func: Func, block: str, scope: str = "local") -> Func:
    """A block computes into a buffer of its own, and a nest after it copies all of it.

    The block and its loops get the name of the new buffer, `BUFFER_SCOPE`; the copy and its loops
    get the old names.

    Raises:
        ScheduleError: the loops of the block were changed before, it computes several buffers, or
            other statements stand in its nest or write its buffer.
    """
    s = block_of(func, block)
    path = path_to(func, s)
    nest: Statement = path[0] if path else s
    target = s.targets[0]
    if len(s.targets) > 1 or any(i.op != "var" for i in s.index) or len(stores([nest])) > 1:
        raise ScheduleError(
            f"write_through {block}: it computes several buffers, or its loops were changed before"
            f"\n{shown(nest)}"
        )
    if any(isinstance(x, If) for x in path) or any(r.attr is target for r in reads_of(s)):
        raise ScheduleError(
            f"write_through {block}: it stands below a condition, or reads what it writes"
            f"\n{shown(nest)}"
        )
    others = [w for w in writers(func, target) if w is not s]
    if others:
        raise ScheduleError(
            f"write_through {block}: other statements write {target.name}; do it before partition\n"
            f"{shown(*others)}"
        )
    own = Buffer(fresh_name(func, f"{target.name}_{scope}"), target.shape, target.dtype, scope)
    loops = [x for x in path if isinstance(x, For)]
    fresh = {x.var: renewed(x.var, name=own.name + x.name.removeprefix(block)) for x in loops}
    moved: tuple[Statement, ...] = in_statements(
        [replace(s, block=own.name, targets=(own,))], fresh
    )
    for x in reversed(loops):
        moved = (For(fresh[x.var], moved, x.kind),)
    axes = [renewed(i) for i in s.index]
    back = nest_of(axes, Store(block, (target,), tuple(axes), (own[tuple(axes)],)))
    body = [y for x in func.body for y in ((*moved, *back) if x is nest else (x,))]
    return replace(func, body=tuple(body), locals=(*func.locals, own))
