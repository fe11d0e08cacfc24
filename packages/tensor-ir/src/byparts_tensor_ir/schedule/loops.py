"""Steps on loops: split, fuse, tile, reorder, and how a loop runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.schedule.find import (
    ScheduleError,
    fresh_name,
    loop_of,
    loops_around,
    shown,
)
from byparts_tensor_ir.schedule.legal import check_order_free
from byparts_tensor_ir.statement import KINDS, THREADS, For, Func, If, Statement, rebuilt
from byparts_tensor_ir.substitute import in_statements, variables


def split(
    func: Func, loop: str, factor: int, outer: str = "", inner: str = "", parts: int = 0
) -> Func:
    """Split a loop in two: `v = outer * factor + inner`.

    Always legal.  Where factor does not divide the extent, a condition guards the last round of
    the outer loop (`guards.py` takes it out of the others before code is emitted).

    Args:
        func: any function.
        loop: its name.
        factor: extent of the inner loop.
        outer: name of the outer loop, `LOOP_o` if not given.
        inner: name of the inner loop, `LOOP_i` if not given.
        parts: instead of factor, the extent of the outer loop (only of a loop of known extent).

    Raises:
        ScheduleError: the factor is less than 1, or there is no such loop.
    """
    old = loop_of(func, loop)
    if parts:
        if old.extent.op != "const":
            raise ScheduleError(
                f"split {loop} into {parts} parts: its extent {old.extent} is no number"
            )
        factor = -(-old.extent.attr // parts)
    if factor < 1:
        raise ScheduleError(f"split {loop} by {factor}: the factor is at least 1")
    low = old.var.attr.low
    rounds = (old.extent + (factor - 1)) // factor
    o = variable(fresh_name(func, outer or f"{loop}_o"), rounds)
    i = variable(fresh_name(func, inner or f"{loop}_i"), factor)
    body = in_statements(old.body, {old.var: o * factor + i + low})
    guard = o * factor + i < old.extent
    exact = (old.extent - rounds * factor) is const(0)
    if not exact:
        body = (If(guard, body),)
    return _with(func, old, (For(o, (For(i, body),), old.kind),))


def fuse(func: Func, outer: str, inner: str, name: str = "") -> Func:
    """Two nested loops become one of the product of their extents.

    Raises:
        ScheduleError: the inner loop is not the whole body of the outer, or its extent depends on
            the outer variable.
    """
    first, second = loop_of(func, outer), loop_of(func, inner)
    if first.body != (second,):
        raise ScheduleError(f"fuse {outer}, {inner}: {inner} is not the whole body\n{shown(first)}")
    if first.var in variables(second.extent):
        raise ScheduleError(f"fuse {outer}, {inner}: the extent {second.extent} depends on {outer}")
    v = variable(fresh_name(func, name or f"{outer}_{inner}"), first.extent * second.extent)
    by = {
        first.var: v // second.extent + first.var.attr.low,
        second.var: v % second.extent + second.var.attr.low,
    }
    return _with(func, first, (For(v, in_statements(second.body, by), first.kind),))


def reorder(func: Func, *loops: str) -> Func:
    """Put loops of a perfect nest in this order, outermost first; other loops stay in place.

    Reductions may be combined in another order.

    Raises:
        ScheduleError: they are not perfectly nested, an extent depends on a loop that would come
            to be inside, or a round depends on another.
    """
    wanted = [loop_of(func, name) for name in loops]
    if len(set(loops)) < len(loops):
        raise ScheduleError(f"reorder {', '.join(loops)}: a loop stands twice")
    deepest = max(wanted, key=lambda s: len(loops_around(func, s)))
    around = [*loops_around(func, deepest), deepest]
    missing = [s.name for s in wanted if s not in around]
    if missing:
        raise ScheduleError(f"reorder: {', '.join(missing)} is not around {deepest.name}")
    chain = around[min(around.index(s) for s in wanted) :]
    guards = _perfect(chain)
    for s in wanted:
        check_order_free(s, "reorder", reductions=True)
    queue = iter(wanted)
    order = [next(queue) if s in wanted else s for s in chain]
    for k, s in enumerate(order):
        later = {x.var for x in order[k + 1 :]}
        if variables(s.extent) & later:
            raise ScheduleError(
                f"reorder: the extent {s.extent} of {s.name} depends on a later loop"
            )
    body: tuple[Statement, ...] = chain[-1].body
    for condition in reversed(guards):
        body = (If(condition, body),)
    for s in reversed(order):
        body = (replace(s, body=body),)
    return _with(func, chain[0], body)


def _perfect(chain: Sequence[For]) -> list[Expr]:
    """The conditions between loops of which each is all that the one around it does."""
    guards: list[Expr] = []
    for outer, inner in pairwise(chain):
        body = outer.body
        while len(body) == 1 and isinstance(body[0], If):
            guards.append(body[0].condition)
            body = body[0].body
        if body != (inner,):
            raise ScheduleError(
                f"reorder: {inner.name} is not all that {outer.name} does\n{shown(outer)}"
            )
    return guards


def tile(func: Func, x: str, y: str, x_factor: int, y_factor: int) -> Func:
    """Split both loops and put the two inner ones inside: x_o, y_o, x_i, y_i."""
    func = split(split(func, x, x_factor), y, y_factor)
    return reorder(func, f"{x}_o", f"{y}_o", f"{x}_i", f"{y}_i")


def vectorize(func: Func, loop: str) -> Func:
    """All rounds at once, in vectors; a rest of fewer lanes is masked.

    Raises:
        ScheduleError: a round depends on another otherwise than by a reduction.
    """
    return _run_as(func, loop, "vectorize", reductions=True)


def parallel(func: Func, loop: str) -> Func:
    """The rounds are shared among threads of the CPU.

    Raises:
        ScheduleError: a round depends on another, or several add to one element.
    """
    return _run_as(func, loop, "parallel", reductions=False)


def unroll(func: Func, loop: str) -> Func:
    """The body is written once for each round; always legal.

    Raises:
        ScheduleError: the extent is not a number, or more than 256.
    """
    old = loop_of(func, loop)
    if old.extent.op != "const" or old.extent.attr > 256:
        raise ScheduleError(f"unroll {loop}: the extent {old.extent} is not a number up to 256")
    return _with(func, old, (replace(old, kind="unroll"),))


def bind(func: Func, loop: str, thread: str) -> Func:
    """Each round is a thread of a GPU: blockIdx.x to .z, threadIdx.x to .z.

    Raises:
        ScheduleError: no such thread axis, a round depends on another, or the axis is used by a
            loop around this one.
    """
    if thread not in THREADS:
        raise ScheduleError(f"bind {loop} to {thread!r}: one of {', '.join(THREADS)}")
    old = loop_of(func, loop)
    if any(s.kind == thread for s in loops_around(func, old)):
        raise ScheduleError(f"bind {loop}: {thread} is bound already around it")
    return _run_as(func, loop, thread, reductions=False)


def partition(func: Func) -> Func:
    """Cut loops where conditions inside begin to fail; what code generation does by itself."""
    return without_guards(placed_identities(func))


def _run_as(func: Func, name: str, kind: str, reductions: bool) -> Func:
    assert kind in (*KINDS, *THREADS)
    loop = loop_of(func, name)
    check_order_free(loop, kind, reductions)
    return _with(func, loop, (replace(loop, kind=kind),))


def _with(func: Func, old: Statement, new: Sequence[Statement]) -> Func:
    return func.with_body(rebuilt(func.body, lambda s: new if s is old else None))
