"""May the rounds of a loop run in any order?

Sound and simple: rounds are free if different rounds write different elements, and read of what the
loop writes only the elements that the same round writes.  A store that belongs to a reduction over
the loop is safe where nothing else touches what it adds to.  Memory that begins anew in each round
is each round's own.  Everything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import gcd

from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.index import lower_bound, terms, upper_bound
from byparts_tensor_ir.schedule.find import ScheduleError, shown
from byparts_tensor_ir.statement import (
    Barrier,
    Buffer,
    For,
    If,
    Instruction,
    Reducer,
    Statement,
    Store,
    stores,
    walk,
)
from byparts_tensor_ir.substitute import expressions, loads, variables

Memory = Callable[[Buffer], Buffer]  # stands for all buffers that are the same bytes


def check_order_free(
    loop: For,
    step: str,
    reductions: bool,
    live: Collection[Buffer] = (),
    memory: Memory = lambda b: b,
) -> None:
    """Refuse where a round depends on another.

    Args:
        loop: whose rounds are to run in another order, or at once.
        step: its name, for the message.
        reductions: whether partial results may be combined in another order.
        live: local buffers that are read after the loop, so that no round has its own.
        memory: which buffers are the same bytes.

    Raises:
        ScheduleError: shows the store, and the statement that clashes with it.
    """
    if any(isinstance(s, (Barrier, Instruction)) for s in walk(loop.body)):
        raise ScheduleError(f"{step} {loop.name}: its rounds keep their order\n{shown(loop)}")
    own = {b for b in buffers_of(loop) if b not in live and _private(b, loop)}
    writes: dict[tuple[Buffer, Index, Reducer | None], Store] = {}
    for s in stores(loop.body):
        added = s.reducer is not None and any(loop.var in variables(e) for e in s.over)
        for target in s.targets:
            if target not in own:
                _check_alone(loop, s, target, added, reductions, step)
                writes.setdefault((memory(target), s.index, s.reducer if added else None), s)
    reads: dict[tuple[Buffer, Index], Statement] = {}
    for x in walk(loop.body):
        for load in [load for e in expressions(x) for load in loads(e)]:
            reads.setdefault((memory(load.attr), load.args), x)
    for (target, index, reducer), s in writes.items():
        others = [o for (t, _, _), o in writes.items() if t is target]
        _check_writes(loop, s, target, others, reducer is not None, step)
        for (read, at), x in reads.items():
            if read is target and not _apart_or_one(at, index, loop, reducer is not None):
                raise ScheduleError(
                    f"{step} {loop.name}: a round reads elements of {_name(s, target, memory)} "
                    f"that another round writes\n{shown(s)}\n{shown(x)}"
                )


def _check_alone(
    loop: For, s: Store, target: Buffer, added: bool, reductions: bool, step: str
) -> None:
    """Rounds write different elements, or add to the same where they may."""
    if added and not reductions:
        raise ScheduleError(
            f"{step} {loop.name}: its rounds add to the same elements; use rfactor first\n"
            f"{shown(s)}"
        )
    if not added and not distinct(s.index, loop):
        raise ScheduleError(
            f"{step} {loop.name}: several rounds may write one element of {target.name}\n{shown(s)}"
        )


def _check_writes(
    loop: For, s: Store, target: Buffer, others: Sequence[Store], added: bool, step: str
) -> None:
    """Other stores write other elements, or the same in the same round, or add alike."""
    for other in others:
        alike = other.reducer is s.reducer and other.targets == s.targets and other.over == s.over
        free = alike if added else _apart_or_one(other.index, s.index, loop, False)
        if other is not s and not free:
            raise ScheduleError(
                f"{step} {loop.name}: a round writes elements of {s.targets[0].name} that another "
                f"round writes\n{shown(s)}\n{shown(other)}"
            )


def _apart_or_one(a: Index, b: Index, loop: For, added: bool) -> bool:
    """Whether rounds meet in no element, but a round with itself."""
    return (not added and same_round(a, b, loop)) or apart(a, b)


def _name(s: Store, target: Buffer, memory: Memory) -> str:
    """The name of the buffer that s writes and whose memory is `target`."""
    return next(t.name for t in s.targets if memory(t) is target)


Index = tuple[Expr, ...]


def apart(a: Index, b: Index) -> bool:
    """Whether two indices are never equal, in whatever rounds."""
    for x, y in zip(a, b, strict=False):
        for low, high in ((x, y), (y, x)):
            end, begin = upper_bound(low), lower_bound(high)
            if end is not None and begin is not None and end < begin:
                return True
    return False


def same_round(a: Index, b: Index, loop: For) -> bool:
    """Whether two indices can only be equal in one round.

    In some dimension both contain the loop's variable alike, and their rests span less.
    """
    inner = _inner(loop)
    return any(_meets_in_one_round(x, y, loop, inner) for x, y in zip(a, b, strict=False))


def _meets_in_one_round(a: Expr, b: Expr, loop: For, inner: set[Expr]) -> bool:
    c = terms(a)[0].get(loop.var, 0)
    if c == 0 or terms(b)[0].get(loop.var, 0) != c:
        return False
    rest_a, rest_b = a - loop.var * c, b - loop.var * c
    if _changes(rest_a, loop) or _changes(rest_b, loop):
        return False
    if rest_a is rest_b and not variables(rest_a) & inner:
        return True
    ends = [lower_bound(rest_a), upper_bound(rest_a), lower_bound(rest_b), upper_bound(rest_b)]
    outer = (variables(rest_a) | variables(rest_b)) - inner
    if not outer and None not in ends:
        low_a, high_a, low_b, high_b = [e for e in ends if e is not None]
        if max(high_a - low_b, high_b - low_a) < abs(c):
            return True
    if _fixed_part(rest_a, inner) is _fixed_part(rest_b, inner):
        spans = [_span(rest_a, inner), _span(rest_b, inner)]
        return None not in spans and max(s for s in spans if s is not None) < abs(c)
    return False


def distinct(index: Index, loop: For) -> bool:
    """Whether rounds never share an element: some index steps further than its rest spans."""
    inner = _inner(loop)
    for i in index:
        c = terms(i)[0].get(loop.var, 0)
        rest = i - loop.var * c
        if c == 0 or _changes(rest, loop):
            continue
        span = _span(rest, inner)
        if span is not None and span < abs(c):
            return True
        extent, stride = upper_bound(loop.extent), _stride(rest, inner)
        if extent is not None and abs(c) * (extent - 1) < stride:
            return True  # all rounds of the loop lie between two steps of the inner loops
    return False


def _inner(loop: For) -> set[Expr]:
    return {x.var for x in walk(loop.body) if isinstance(x, For)}


def _changes(e: Expr, loop: For) -> bool:
    """Whether an expression may change between rounds otherwise than by inner loops."""
    if loop.var in variables(e):
        return True
    read = {x.attr for x in loads(e)}
    return bool(read) and any(t in read for s in stores(loop.body) for t in s.targets)


def _stride(e: Expr, inner: set[Expr]) -> int:
    """The greatest number that divides each change of e while only inner variables change."""
    coefficients, _ = terms(e)
    return gcd(*[c for atom, c in coefficients.items() if variables(atom) & inner])


def _fixed_part(e: Expr, inner: set[Expr]) -> Expr:
    """The terms without inner loop variables."""
    coefficients, constant = terms(e)
    total = const(constant)
    for atom, c in coefficients.items():
        if not variables(atom) & inner:
            total = total + atom * c
    return total


def _span(e: Expr, inner: set[Expr]) -> int | None:
    """The greatest minus the least value while only inner loop variables change."""
    changing = e - _fixed_part(e, inner)
    low, high = lower_bound(changing), upper_bound(changing)
    return None if low is None or high is None else high - low


def buffers_of(loop: For) -> set[Buffer]:
    """The buffers that a loop reads or writes."""
    held = {load.attr for s in walk(loop.body) for e in expressions(s) for load in loads(e)}
    return held | {t for s in stores(loop.body) for t in s.targets}


def _private(buffer: Buffer, loop: For) -> bool:
    """Whether the buffer is local and begins anew in each round: written before it is read.

    All rounds use the same elements then, so that none finds what another has left.  A reduction
    begins anew where all its loops are inside of this one.
    """
    if buffer.scope == "global" or _of_round(buffer, loop):
        return False
    for s in walk(loop.body):
        if any(x.attr is buffer for e in expressions(s) for x in loads(e)):
            return False
        if isinstance(s, If) and any(buffer in t.targets for t in stores(s.body)):
            return False  # it may keep what an earlier round wrote
        if isinstance(s, Store) and buffer in s.targets:
            own = {v for e in s.over for v in variables(e)} <= _inner(loop)
            return s.reducer is None or (s.begins and own)
    return False


def _of_round(buffer: Buffer, loop: For) -> bool:
    """Whether rounds use different elements of a buffer."""
    for s in walk(loop.body):
        used = [x.args for e in expressions(s) for x in loads(e) if x.attr is buffer]
        used += [s.index] if isinstance(s, Store) and buffer in s.targets else []
        if any(loop.var in variables(i) for index in used for i in index):
            return True
    return False
