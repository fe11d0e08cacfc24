"""May the rounds of a loop run in any order?

Sound and simple: a store is safe if different rounds write different elements, or if the loop
belongs to the reduction that the store makes; a read of what the loop writes is safe if it is of
the element that the same round writes.  Everything else is refused.
"""

from __future__ import annotations

from math import gcd

from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.index import lower_bound, terms, upper_bound
from byparts_tensor_ir.schedule.find import ScheduleError, reads_of, shown
from byparts_tensor_ir.statement import Barrier, Buffer, Collective, For, Store, stores, walk
from byparts_tensor_ir.substitute import expressions, loads, variables


def check_order_free(loop: For, step: str, reductions: bool) -> None:
    """Refuse where a round depends on another.

    Args:
        loop: whose rounds are to run in another order, or at once.
        step: its name, for the message.
        reductions: whether partial results may be combined in another order.

    Raises:
        ScheduleError: shows the store, and the read that clashes with it.
    """
    if any(isinstance(s, (Barrier, Collective)) for s in walk(loop.body)):
        raise ScheduleError(f"{step} {loop.name}: threads meet in its rounds\n{shown(loop)}")
    inside = stores(loop.body)
    own = {b for b in _buffers_of(loop) if _private(b, loop)}
    for s in inside:
        for target in s.targets:
            if target in own:
                continue
            if s.reducer is not None and any(loop.var in variables(e) for e in s.over):
                if not reductions:
                    raise ScheduleError(
                        f"{step} {loop.name}: its rounds add to the same elements; use rfactor "
                        f"first\n{shown(s)}"
                    )
                continue
            if not _distinct(s, loop):
                raise ScheduleError(
                    f"{step} {loop.name}: several rounds may write one element of {target.name}"
                    f"\n{shown(s)}"
                )
            _check_reads(loop, s, target, inside, step)


def _check_reads(loop: For, s: Store, target: Buffer, inside: list[Store], step: str) -> None:
    """Each read of the target is of the element that the same round writes."""
    for other in inside:
        for load in reads_of(other):
            if load.attr is target and not _same_round(load, s, loop):
                raise ScheduleError(
                    f"{step} {loop.name}: a round reads elements of {target.name} that another "
                    f"round writes\n{shown(s)}\n{shown(other)}"
                )


def _same_round(load: Expr, s: Store, loop: For) -> bool:
    """Whether load and store can only meet in one element in one round.

    In some dimension both indices contain the loop's variable alike, and their rests span less.
    """
    for a, b in zip(load.args, s.index, strict=True):
        (left, _), (right, _) = terms(a), terms(b)
        c = left.get(loop.var, 0)
        if c == 0 or right.get(loop.var, 0) != c:
            continue
        rest_a, rest_b = a - loop.var * c, b - loop.var * c
        if loop.var in variables(rest_a) | variables(rest_b):
            continue
        inner = {x.var for x in walk(loop.body) if isinstance(x, For)}
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
            if None not in spans and max(s for s in spans if s is not None) < abs(c):
                return True
    return False


def _distinct(s: Store, loop: For) -> bool:
    """Whether rounds never share an element: some index steps further than its rest spans."""
    inner = {x.var for x in walk(loop.body) if isinstance(x, For)}
    for i in s.index:
        c = terms(i)[0].get(loop.var, 0)
        rest = i - loop.var * c
        if c == 0 or loop.var in variables(rest):
            continue
        span = _span(rest, inner)
        if span is not None and span < abs(c):
            return True
        extent, stride = upper_bound(loop.extent), _stride(rest, inner)
        if extent is not None and abs(c) * (extent - 1) < stride:
            return True  # all rounds of the loop lie between two steps of the inner loops
    return False


def _stride(e: Expr, inner: set[Expr]) -> int:
    """What divides all changes of the expression while only inner loop variables change."""
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


def _buffers_of(loop: For) -> set[Buffer]:
    held = {load.attr for s in walk(loop.body) for e in expressions(s) for load in loads(e)}
    return held | {t for s in stores(loop.body) for t in s.targets}


def _private(buffer: Buffer, loop: For) -> bool:
    """Whether the buffer is local and begins anew in each round: written before it is read.

    A reduction begins anew where all its loops are inside of this one.
    """
    inner = {x.var for x in walk(loop.body) if isinstance(x, For)}
    if buffer.scope not in ("local", "register", "shared"):
        return False
    for s in walk(loop.body):
        if isinstance(s, Store):
            if any(load.attr is buffer for load in reads_of(s)):
                return False
            if buffer in s.targets:
                own = {v for e in s.over for v in variables(e)} <= inner
                return s.reducer is None or (s.begins and own)
    return False
