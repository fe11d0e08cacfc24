"""Steps that put copies between buffers and their readers or writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.functions import select
from byparts_tensor_ir.guards import conjuncts, room
from byparts_tensor_ir.index import not_negative
from byparts_tensor_ir.schedule.find import (
    ScheduleError,
    block_of,
    buffer_of,
    fresh_name,
    loop_of,
    loops_around,
    path_to,
    reads_of,
    shown,
)
from byparts_tensor_ir.schedule.region import Box, box_of, nest_of, within
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, rebuilt, stores
from byparts_tensor_ir.substitute import buffers_replaced, substituted, variables
from byparts_tensor_ir.tensor import identity_values


def cache_write(func: Func, block: str, loop: str, scope: str = "register") -> Func:
    """Below the loop, the block computes into a buffer of its own, which is then written back.

    For a reduction the buffer holds the partial results of one round of the loop; if loops around
    belong to the reduction too, they are added to what the target holds.

    Args:
        func: any function.
        block: the block.
        loop: a loop around the block; the copy back stands at its end.
        scope: memory of the new buffer, named `BLOCK_SCOPE`.

    Raises:
        ScheduleError: the loop is not around the block, or the size of the copy is not a number.
    """
    s, at = block_of(func, block), loop_of(func, loop)
    around = loops_around(func, s)
    if at not in around:
        raise ScheduleError(f"cache_write {block}, {loop}: the loop is not around it\n{shown(at)}")
    _check_alone(s, at)
    outer = {x.var for x in around[: around.index(at) + 1]}
    box = box_of([s], s.targets[0], outer, writes=True)
    _check_numbers(box, f"cache_write {block}, {loop}")
    if s.reducer is None:
        _check_filled(func, s, at, box)
    else:
        _check_begins(func, s, at, outer)
    name = fresh_name(func, f"{block}_{scope}")
    fresh = _parts(func, s, name, [e for _, e in box], scope)
    inner_over = tuple([substituted(e, {v: const(v.attr.low) for v in outer}) for e in s.over])

    def into_cache(x: Statement) -> Sequence[Statement] | None:
        if x is not s:
            return None
        index = tuple([i - b for i, (b, _) in zip(s.index, box, strict=True)])
        kept = replace(s, targets=fresh, index=index, over=inner_over)
        return [replace(kept, begins=s.reducer is not None)]

    body = (*rebuilt(at.body, into_cache), *_copy_back(func, s, box, fresh, outer))
    new = rebuilt(func.body, lambda x: [replace(at, body=body)] if x is at else None)
    return replace(func, body=new, locals=(*func.locals, *fresh))


def _check_alone(s: Store, at: For) -> None:
    """No other statement below the loop reads or writes what the store writes."""
    others = [x for x in stores(at.body) if x is not s and {*x.targets} & {*s.targets}]
    others += [x for x in stores(at.body) for r in reads_of(x) if r.attr in s.targets]
    if others:
        raise ScheduleError(
            f"cache_write {s.block}, {at.name}: {s.targets[0].name} is also read or written by\n"
            f"{shown(others[0])}"
        )


def _copy_back(
    func: Func, s: Store, box: Box, parts: Sequence[Buffer], outer: set[Expr]
) -> tuple[Statement, ...]:
    """Loops that store the elements of the box, or add them where a loop around reduces too."""
    names = [fresh_name(func, f"{s.block}_w{d}") for d in range(len(box))]
    axes = tuple([variable(n, e) for n, (_, e) in zip(names, box, strict=True)])
    index = tuple([b + a for a, (b, _) in zip(axes, box, strict=True)])
    values = tuple([b[axes] for b in parts])
    over = tuple([v for e in s.over for v in variables(e) if v in outer])
    adds = bool(over) or (s.reducer is not None and not s.begins)
    more, begins = s.reducer if adds else None, adds and s.begins
    back = Store(f"{s.block}_write", s.targets, index, values, more, over, begins)
    return nest_of(axes, back, within(index, s.targets[0]))


def cache_read(func: Func, buffer: str, loop: str, scope: str = "local") -> Func:
    """At the start of each round of the loop, what it reads of the buffer is copied.

    Args:
        func: any function.
        buffer: a parameter or local buffer that nothing below the loop writes.
        loop: whose body reads from the copy, named `BUFFER_SCOPE`.
        scope: memory of the copy.

    Raises:
        ScheduleError: the loop writes the buffer, or the size of the copy is not a number.
    """
    b, at = buffer_of(func, buffer), loop_of(func, loop)
    if any(b in s.targets for s in stores(at.body)):
        raise ScheduleError(f"cache_read {buffer}, {loop}: the loop writes it\n{shown(at)}")
    box = box_of(at.body, b, {x.var for x in [*loops_around(func, at), at]})
    _check_numbers(box, f"cache_read {buffer}, {loop}")
    fresh = Buffer(fresh_name(func, f"{buffer}_{scope}"), tuple(e for _, e in box), b.dtype, scope)
    axes = tuple(
        [variable(fresh_name(func, f"{fresh.name}_{d}"), e) for d, (_, e) in enumerate(box)]
    )
    index = tuple([begin + a for a, (begin, _) in zip(axes, box, strict=True)])
    inside = within(index, b)
    value = b[index] if inside.op == "const" else select(inside, b[index], const(0, b.dtype))
    copy = nest_of(axes, Store(fresh.name, (fresh,), axes, (value,)))

    def moved(_: Buffer, i: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple([x - begin for x, (begin, _) in zip(i, box, strict=True)])

    body = (*copy, *buffers_replaced(at.body, {b: fresh}, moved))
    new = rebuilt(func.body, lambda x: [replace(at, body=body)] if x is at else None)
    return replace(func, body=new, locals=(*func.locals, fresh))


def transform_layout(
    func: Func, buffer: str, shape: Sequence[int | Expr], index: Callable[..., Sequence[Expr]]
) -> Func:
    """A local buffer stores its element (i, j, ...) at `index(i, j, ...)` of another shape.

    Args:
        func: any function.
        buffer: a local buffer.
        shape: the new shape; may have room that nothing uses.
        index: old indices -> new ones; distinct elements must stay distinct.

    Raises:
        ScheduleError: the buffer is a parameter, or a new index may lie outside of the shape.
    """
    b = buffer_of(func, buffer)
    if b not in func.locals:
        raise ScheduleError(f"transform_layout {buffer}: a parameter; its caller knows its layout")
    trial = tuple([variable(f"i{d}", e) for d, e in enumerate(b.shape)])
    new = replace(b, shape=tuple([const(d) if isinstance(d, int) else d for d in shape]))
    for i, extent in zip(index(*trial), new.shape, strict=True):
        if not not_negative(i) or not not_negative(extent - 1 - i):
            raise ScheduleError(
                f"transform_layout {buffer}: index {i} may be outside of 0 to {extent}"
            )
    body = buffers_replaced(func.body, {b: new}, lambda _, i: tuple(index(*i)))
    return replace(func, body=body, locals=tuple([new if x is b else x for x in func.locals]))


def rfactor(func: Func, block: str, loop: str) -> Func:
    """Partial results for each round of a reduction loop, combined by a second reduction.

    The new block `BLOCK_rf` has the loop as its first axis, which is then an ordinary one that may
    be vectorized, run in parallel or bound; the block then reduces over that axis.

    Raises:
        ScheduleError: the block is no reduction, or the loop does not belong to it, or loops around
            the nest hold other statements.
    """
    s, split_loop = block_of(func, block), loop_of(func, loop)
    nest = _reduction_nest(func, s, split_loop)
    low = split_loop.var.attr.low
    over = tuple([substituted(e, {split_loop.var: const(low)}) for e in s.over])
    name = fresh_name(func, f"{block}_rf")
    parts = _parts(func, s, name, (split_loop.extent, *s.targets[0].shape))
    index = (split_loop.var - low, *s.index)
    partial = replace(s, block=name, targets=parts, index=index, over=over)
    first: tuple[Statement, ...] = ()
    guarded = any(isinstance(x, If) for x in path_to(func, s))
    if guarded and not any(variables(e) for e in over):
        # No loop is left before which the identity would stand, outside of the condition.
        first = _identities(func, partial)
        partial = replace(partial, begins=False)
    first += rebuilt([nest], lambda x: [partial] if x is s else None)
    axes = tuple(
        [variable(fresh_name(func, f"{block}_c{d}"), e) for d, e in enumerate(s.targets[0].shape)]
    )
    k = variable(fresh_name(func, f"{block}_c"), split_loop.extent)
    whole = (k, *axes)
    values = tuple([p[whole] for p in parts])
    final = Store(block, s.targets, axes, values, s.reducer, (k,), True)
    second = nest_of((*axes, k), final)
    body = [y for x in func.body for y in ((*first, *second) if x is nest else (x,))]
    return replace(func, body=tuple(body), locals=(*func.locals, *parts))


def _reduction_nest(func: Func, s: Store, loop: For) -> Statement:
    """The outermost statement around a reduction over the loop, which holds nothing else."""
    step = f"rfactor {s.block}, {loop.name}"
    if s.reducer is None or loop not in loops_around(func, s):
        raise ScheduleError(f"{step}: the loop is not around a reduction\n{shown(s)}")
    belongs = any(loop.var in variables(e) for e in s.over)
    if not belongs or not s.begins or any(loop.var in variables(i) for i in s.index):
        raise ScheduleError(f"{step}: the reduction is not over it\n{shown(s)}")
    nest = next(x for x in func.body if s in stores([x]))
    if len(stores([nest])) > 1:
        raise ScheduleError(f"rfactor {s.block}: other blocks stand in its nest\n{shown(nest)}")
    return nest


def _identities(func: Func, s: Store) -> tuple[Statement, ...]:
    """Loops that store the identity of a reduction in all elements of its targets."""
    assert s.reducer is not None
    block = fresh_name(func, f"{s.block}_init")
    axes = [variable(f"{block}{d}", e) for d, e in enumerate(s.targets[0].shape)]
    values = identity_values(s.reducer, s.targets)
    return nest_of(axes, Store(block, s.targets, tuple(axes), values))


def _parts(
    func: Func, s: Store, name: str, shape: Sequence[Expr], scope: str = "global"
) -> tuple[Buffer, ...]:
    """A new buffer for each target of a store."""
    names = [name] if len(s.targets) == 1 else [f"{name}{k}" for k in range(len(s.targets))]
    return tuple(
        [
            Buffer(fresh_name(func, n), tuple(shape), t.dtype, scope)
            for n, t in zip(names, s.targets, strict=True)
        ]
    )


def _check_filled(func: Func, s: Store, at: For, box: Box) -> None:
    """All elements of the box that are inside of the buffer are written in each round."""
    path = path_to(func, s)
    inside = path[path.index(at) + 1 :]
    rounds, elements = 1, 1
    for x in inside:
        if isinstance(x, For) and any(x.var in variables(i) for i in s.index):
            rounds *= x.extent.attr if x.extent.op == "const" else 0
    for _, extent in box:
        elements *= extent.attr
    ends = [d - 1 - i for i, d in zip(s.index, s.targets[0].shape, strict=True)]
    conditions = [c for x in inside if isinstance(x, If) for c in conjuncts(x.condition)]
    if rounds != elements or any(room(c) not in ends for c in conditions):
        raise ScheduleError(
            f"cache_write {s.block}, {at.name}: not all of the {elements} elements that the copy "
            f"writes back are computed\n{shown(at)}"
        )


def _check_begins(func: Func, s: Store, at: For, outer: set[Expr]) -> None:
    """The copy gets the identity in each round, whatever condition keeps the round from adding."""
    path = path_to(func, s)
    own = {v for e in s.over for v in variables(e)}
    for x in path[path.index(at) + 1 :]:
        if isinstance(x, For) and x.var in own:
            return
        if isinstance(x, If) and variables(x.condition) & own & outer:
            raise ScheduleError(
                f"cache_write {s.block}, {at.name}: the condition {x.condition} on the reduction "
                f"stands between the loop and what it reduces; use a loop further out\n{shown(at)}"
            )


def _check_numbers(box: Box, step: str) -> None:
    if any(extent.op != "const" for _, extent in box):
        sizes = ", ".join(str(e) for _, e in box)
        raise ScheduleError(f"{step}: the size of the copy, {sizes}, is not a number; split first")
