"""Sums in two steps, where a sum has more to add than its rows have threads for.

    for i in range(n): s += x[i]       for g in range(parts): for k: p[g] += x[g * size + k]
                                       for g in range(parts): s += p[g]

The first step has a row for each part, so that all of the GPU reads; the second is short.  Whatever
else the loop does for a round stays in the first step: the gradient of a layer norm reads a row
once, for its own sums and for those over all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from byparts_gpu_ir.mapping.independence import (
    Surroundings,
    chain,
    rounds,
    stores_with_paths,
)
from byparts_gpu_ir.mapping.machine import Machine
from byparts_gpu_ir.mapping.rows import Rows
from byparts_gpu_ir.mapping.traffic import neighbours
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.statement import WARP, Buffer, For, If, Statement, Store, rebuilt, walk
from byparts_tensor_ir.substitute import in_statements, renewed, variables

_LEAST = 16  # rounds of a part
_NEIGHBOURS = 1024  # in a part: a multiple of this, if there are many


@dataclass(frozen=True)
class InParts:
    """A statement in two steps.

    Attributes:
        first: makes the parts.
        second: adds them.
        buffers: that hold them, and one of them while it is made.
    """

    first: tuple[Statement, ...]
    second: tuple[Statement, ...]
    buffers: tuple[Buffer, ...]


def in_parts(s: Statement, rows: Rows, machine: Machine) -> InParts | None:
    """The statement in two steps, or `None` where it has no sum that is worth it.

    Args:
        s: one statement.
        rows: the same as rows.
        machine: for which it is to have enough rows.
    """
    nest = chain(s)
    added = [x for x in nest if _to_split(x, nest, rows.around)]
    if not added or any(isinstance(x, If) for x in walk([s])):
        return None
    inner = nest[-1].body
    across = bool(rows.loops) and neighbours(rows.loops[-1], rows.body) > neighbours(
        added[-1].var, inner
    )
    blocks = rows.count // WARP if across else rows.count
    wanted = -(-4 * machine.processors // max(1, blocks))
    enough = [x for x in added if rounds([x]) >= wanted]
    loop = enough[0] if enough else max(added, key=lambda x: rounds([x]))
    n = rounds([loop])
    size = max(-(-n // wanted), 1 if len(nest) > 1 or inner_loops(loop) else _LEAST)
    if 2 * size > n:
        return None
    contiguous = neighbours(loop.var, loop.body) > 0
    if contiguous:
        step = _NEIGHBOURS if 2 * size > _NEIGHBOURS else 4
        size = -(-size // step) * step
    else:
        size = next((k for k in range(size, 2 * size) if n % k == 0), size)
    return _split(s, loop, size, contiguous)


def inner_loops(loop: For) -> bool:
    """Whether a round of the loop has loops of its own."""
    return any(isinstance(x, For) for x in walk(loop.body))


def _to_split(loop: For, nest: Sequence[For], around: Surroundings) -> bool:
    """Whether the rounds of a loop add to some elements and are independent otherwise."""
    if loop.extent.op != "const" or loop.var.attr.low:
        return False
    moved = For(loop.var, _without(nest, loop))
    sums = [s for s, _ in stores_with_paths([moved]) if _over(s, loop)]
    return bool(sums) and around.independent(moved, reductions=True)


def _without(nest: Sequence[For], loop: For) -> tuple[Statement, ...]:
    body = nest[-1].body
    for x in reversed([x for x in nest if x is not loop]):
        body = (replace(x, body=body),)
    return body


def _over(s: Store, loop: For) -> bool:
    return s.reducer is not None and any(loop.var in variables(e) for e in s.over)


def _split(s: Statement, loop: For, size: int, peel: bool) -> InParts:
    """Parts of `size` rounds; what is left over is another part, or rounds that are skipped."""
    size = min(size, rounds([loop]))
    whole, rest = divmod(rounds([loop]), size)
    count = whole + (rest > 0)
    held = {x: _parts_of(x, path, loop, count) for x, path in stores_with_paths([s])}
    held = {x: parts for x, parts in held.items() if _over(x, loop)}
    last = {x: parts.with_own_sums() for x, parts in held.items()}
    if rest and peel:
        first = _step(s, loop, held, range(whole), size) + _step(s, loop, last, [whole], rest)
    else:
        first = _step(s, loop, held, range(count), size)
    second = [x for store, parts in held.items() for x in parts.added(store)]
    buffers = [b for parts in held.values() for b in parts.buffers]
    sums = [b for parts in (*held.values(), *last.values()) for b in parts.sums]
    return InParts(first, tuple(second), (*buffers, *sums))


@dataclass(frozen=True)
class _Parts:
    """The parts of one store.

    Attributes:
        buffers: [parts, loops around it], one for each target.
        sums: [loops around it], of one part.
        loops: of which each round adds to an element of its own.
    """

    buffers: tuple[Buffer, ...]
    sums: tuple[Buffer, ...]
    loops: tuple[For, ...]

    def with_own_sums(self) -> _Parts:
        """The same, made apart from these."""
        return replace(self, sums=tuple([replace(b, name=f"{b.name}_last") for b in self.sums]))

    def made(self, store: Store, inner: Expr, loop: For) -> Store:
        """The store into a part: it adds over the rounds of the part."""
        over = tuple([e for e in store.over if loop.var not in variables(e)])
        at = tuple([x.var for x in self.loops])
        return replace(store, targets=self.sums, index=at, over=(inner, *over), begins=True)

    def kept(self, part: Expr) -> tuple[Statement, ...]:
        """The loops that store the sums of a part."""
        by = {x.var: renewed(x.var) for x in self.loops}
        at = tuple(by.values())
        body: tuple[Statement, ...] = tuple(
            [
                Store(b.name, (b,), (part, *at), (s[at],))
                for b, s in zip(self.buffers, self.sums, strict=True)
            ]
        )
        for var in reversed(at):
            body = (For(var, body),)
        return body

    def added(self, store: Store) -> tuple[Statement, ...]:
        """The loops that add the parts to what the store adds to."""
        part = variable(f"{store.targets[0].name}_part", self.buffers[0].shape[0])
        by = {x.var: renewed(x.var) for x in self.loops}
        (moved,) = in_statements([replace(store, values=(), over=())], by)
        assert isinstance(moved, Store), "of a store"
        at = (part, *by.values())
        values = tuple([b[at] for b in self.buffers])
        body: tuple[Statement, ...] = (replace(moved, values=values, over=(part,)),)
        for var in (part, *reversed(by.values())):
            body = (For(var, body),)
        return body


def _parts_of(store: Store, path: Sequence[For], loop: For, count: int) -> _Parts:
    summed = {v for e in store.over for v in variables(e)}
    kept = tuple([x for x in path if x.var not in summed and x is not loop])
    shape = tuple([x.extent for x in kept])
    sums = [Buffer(f"{t.name}_part", shape, t.dtype, "local") for t in store.targets]
    buffers = [replace(b, name=f"{b.name}s", shape=(const(count), *shape)) for b in sums]
    return _Parts(tuple(buffers), tuple(sums), kept)


def _step(
    s: Statement, loop: For, held: dict[Store, _Parts], parts: Sequence[int], size: int
) -> tuple[Statement, ...]:
    """Do parts of a loop, of `size` rounds each; the last may go past the loop's end.

    `parts` are the first ones, from 0 on, or the last one alone, which ends with the loop.
    """
    many, n = len(parts) > 1, rounds([loop])
    part = variable(f"{loop.name}_part", len(parts)) if many else const(parts[0])
    inner = variable(loop.name, size) if size > 1 else const(0)
    first = part * size if many else const(n - size if parts[0] else 0)
    there = first + inner < n

    def changed(x: Statement) -> Sequence[Statement] | None:
        if isinstance(x, Store) and x in held:
            return [held[x].made(x, inner, loop)]
        if x is loop:
            body = in_statements(rebuilt(loop.body, changed), {loop.var: first + inner})
            body = (If(there, body),) if len(parts) * size > n and many else body
            return [For(inner, body)] if size > 1 else body
        return None

    body = rebuilt([s], changed)
    body += tuple([x for parts in held.values() for x in parts.kept(part)])
    return (For(part, body),) if many else tuple(body)
