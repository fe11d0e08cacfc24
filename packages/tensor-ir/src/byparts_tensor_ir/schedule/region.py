"""Boxes of elements: which ones are read below a loop, and loops over one."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.functions import minimum
from byparts_tensor_ir.index import lower_bound, not_negative, terms, upper_bound
from byparts_tensor_ir.schedule.find import ScheduleError, reads_of, shown
from byparts_tensor_ir.statement import Buffer, For, If, Statement, Store, stores
from byparts_tensor_ir.substitute import subexpressions, variables

Box = tuple[tuple[Expr, Expr], ...]  # of each dimension: first index, extent


def box_of(
    statements: Sequence[Statement], buffer: Buffer, fixed: set[Expr], writes: bool = False
) -> Box:
    """The smallest box around all elements that the statements touch.

    Args:
        statements: those below a loop.
        buffer: whose elements.
        fixed: variables of the loops around; the others are taken over their whole range.
        writes: whether elements that are stored count too.

    Raises:
        ScheduleError: no element is touched, or an index has no bounds.
    """
    indices = []
    for s in stores(statements):
        indices += [load.args for load in reads_of(s) if load.attr is buffer]
        if writes and buffer in s.targets:
            indices.append(s.index)
    if not indices:
        raise ScheduleError(f"nothing below the loop reads {buffer.name}\n{shown(*statements)}")
    boxes = [_box_of_index(i, buffer, fixed) for i in indices]
    box = boxes[0]
    for other in boxes[1:]:
        box = tuple([_joined(a, b, buffer) for a, b in zip(box, other, strict=True)])
    return tuple([_clipped(b, d) for b, d in zip(box, buffer.shape, strict=True)])


def _box_of_index(index: Sequence[Expr], buffer: Buffer, fixed: set[Expr]) -> Box:
    sides = []
    for e, whole in zip(index, buffer.shape, strict=True):
        coefficients, constant = terms(e)
        begin, rest = const(constant), const(0)
        for atom, c in coefficients.items():
            free = {v for v in variables(atom) if v.attr.extent is not None}
            if free <= fixed and not _reads(atom):
                begin = begin + atom * c
            else:
                rest = rest + atom * c
        if rest.op == "const":
            sides.append((begin + rest, const(1)))
            continue
        low, high = lower_bound(rest), upper_bound(rest)
        if _reads(rest) and (low is None or high is None or _exceeds(high - low + 1, whole)):
            # A number that memory holds may be any of its dtype; those that are read are inside.
            sides.append((const(0), whole))
        elif low is not None and high is not None:
            sides.append((begin + low, const(high - low + 1)))
        elif (extent := _whole_range(rest)) is not None:
            sides.append((begin, extent))
        else:
            sides.append((const(0), whole))
    return tuple(sides)


def _reads(e: Expr) -> bool:
    return any(x.op == "load" for x in subexpressions(e))


def _exceeds(count: int, whole: Expr) -> bool:
    """Whether a box may have more elements than the buffer."""
    return not not_negative(whole - count)


def _whole_range(rest: Expr) -> Expr | None:
    """The symbolic extent of an index that is one loop variable beginning at 0."""
    if rest.op == "var" and rest.attr.low == 0:
        extent: Expr = rest.attr.extent
        return extent
    return None


def _joined(a: tuple[Expr, Expr], b: tuple[Expr, Expr], buffer: Buffer) -> tuple[Expr, Expr]:
    away = b[0] - a[0]
    if away.op != "const":
        raise ScheduleError(f"the elements of {buffer.name} that are read lie at {a[0]} and {b[0]}")
    first, ends = min(0, away.attr), (a[1], away + b[1])
    for end, other in (ends, ends[::-1]):
        if not_negative(end - other):
            return a[0] + first, end - first
    raise ScheduleError(f"the elements of {buffer.name} that are read have extents {a[1]}, {b[1]}")


def _clipped(side: tuple[Expr, Expr], whole: Expr) -> tuple[Expr, Expr]:
    """A box is not larger than the buffer."""
    begin, extent = side
    if begin is const(0) and not not_negative(whole - extent):
        return begin, whole if not_negative(extent - whole) else minimum(extent, whole)
    return side


def within(index: Sequence[Expr], buffer: Buffer) -> Expr:
    """The condition that an index is inside of the buffer, where that is not certain."""
    condition = const(True, "bool")
    for i, extent in zip(index, buffer.shape, strict=True):
        if not not_negative(extent - 1 - i):
            condition = condition & (i < extent)
        if not not_negative(i):
            condition = condition & (const(0) <= i)
    return condition


def nest_of(axes: Sequence[Expr], s: Store, guard: Expr | None = None) -> tuple[Statement, ...]:
    """The store in a loop for each variable, and below them in the guard if it is no constant."""
    body: tuple[Statement, ...] = (s,)
    if guard is not None and guard.op != "const":
        body = (If(guard, body),)
    for a in reversed(axes):
        body = (For(a, body),)
    return body
