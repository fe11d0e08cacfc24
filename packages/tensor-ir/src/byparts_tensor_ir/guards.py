"""Conditions that always hold go away, and loops are cut where a condition begins to fail.

A step that splits n by 8 leaves `if o * 8 + i < n`.  Before code is emitted, the loop over o is cut
into the part for which the condition holds whatever i is, and the rest; and a loop around a
condition on its own variable gets a smaller extent instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import INDEX, Expr, const, variable
from byparts_tensor_ir.functions import maximum, minimum
from byparts_tensor_ir.index import lower_bound, not_negative, terms, upper_bound
from byparts_tensor_ir.statement import For, Func, If, Statement
from byparts_tensor_ir.substitute import in_statements, variables


def without_guards(func: Func, cuts: bool = True) -> Func:
    """The same function with as few conditions as can be, and no loops of one round.

    Args:
        func: any function.
        cuts: whether a loop may become two, of which one has no condition inside.
    """
    return func.with_body(_simple(func.body, cuts))


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts of an `and`."""
    if condition.op == "and":
        return [*conjuncts(condition.args[0]), *conjuncts(condition.args[1])]
    return [condition]


def room(condition: Expr) -> Expr | None:
    """For `a < b` of indices the expression b - a - 1, which is not negative where it holds."""
    if condition.op not in ("lt", "le") or condition.args[0].dtype != INDEX:
        return None
    a, b = condition.args
    return b - a - 1 if condition.op == "lt" else b - a


def _simple(statements: Sequence[Statement], cuts: bool) -> tuple[Statement, ...]:
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, For):
            out += _simple_loop(s, cuts)
        elif isinstance(s, If):
            kept = [c for c in conjuncts(s.condition) if not _holds(c)]
            if any(_fails(c) for c in kept):
                continue
            body = _simple(s.body, cuts)
            condition = const(True, "bool")
            for c in kept:
                condition = condition & c
            out += [If(condition, body)] if kept and body else body
        else:
            out.append(s)
    return tuple(out)


def _holds(condition: Expr) -> bool:
    left = room(condition)
    return left is not None and not_negative(left)


def _fails(condition: Expr) -> bool:
    left = room(condition)
    most = None if left is None else upper_bound(left)
    return most is not None and most < 0


def _simple_loop(loop: For, cuts: bool) -> tuple[Statement, ...]:
    loop = _shrunk(loop)
    if loop.extent is const(0):
        return ()
    if loop.extent is const(1) and "Idx" not in loop.kind:
        only = {loop.var: const(loop.var.attr.low)}
        return _simple(in_statements(loop.body, only), cuts)
    if cuts and loop.kind in ("serial", "parallel") and (cut := _cut(loop)) is not None:
        return tuple([s for part in cut for s in _simple_loop(part, cuts)])
    return (replace(loop, body=_simple(loop.body, cuts)),)


def _shrunk(loop: For) -> For:
    """The loop with its extent limited by conditions on its variable that wrap all of its body."""
    while "Idx" not in loop.kind:
        conditions, inner = _wrapping(loop.body)
        for c in conditions:
            limit = _limit(c, loop.var)
            if limit is not None and not _keeps_its_rounds(loop, limit):
                break
        else:
            return loop
        extent = loop.extent
        if not not_negative(limit - extent):
            extent = limit if not_negative(extent - limit) else minimum(extent, limit)
            extent = extent if not_negative(extent) else maximum(extent, const(0))
        var = variable(loop.name, extent, loop.var.attr.low)
        rest = const(True, "bool")
        for other in conditions:
            rest = rest if other is c else rest & other
        body = inner if rest.op == "const" else (If(rest, inner),)
        loop = For(var, in_statements(body, {loop.var: var}), loop.kind)
    return loop


def _keeps_its_rounds(loop: For, limit: Expr) -> bool:
    """Whether a loop that is written out would become one that is not, of registers by number."""
    written_out = loop.kind == "unroll" and loop.extent.op == "const"
    return written_out and limit.op != "const" and not not_negative(limit - loop.extent)


def _wrapping(body: tuple[Statement, ...]) -> tuple[list[Expr], tuple[Statement, ...]]:
    """The conditions around all of a body, and what is inside."""
    conditions: list[Expr] = []
    while len(body) == 1 and isinstance(body[0], If):
        conditions += conjuncts(body[0].condition)
        body = body[0].body
    return conditions, body


def _limit(condition: Expr, var: Expr) -> Expr | None:
    """The extent to which `var + r < s` limits a loop."""
    left = room(condition)
    if left is None:
        return None
    coefficients, _ = terms(left)
    if coefficients.get(var) != -1 or any(
        var in variables(a) for a in coefficients if a is not var
    ):
        return None
    limit: Expr = left + var + 1 - var.attr.low
    return limit


def _cut(loop: For) -> tuple[For, For] | None:
    """The part in which a condition inside holds throughout, and the rest; or `None`."""
    if loop.extent.op != "const":
        return None
    low, high = loop.var.attr.low, loop.var.attr.low + loop.extent.attr
    for condition in _conditions(loop.body):
        left = room(condition)
        slope = terms(left)[0].get(loop.var, 0) if left is not None else 0
        if left is None or slope >= 0:
            continue
        worst = lower_bound(left - loop.var * slope)
        if worst is None:
            continue
        cut = min(high, worst // -slope + 1)
        if low < cut < high:
            return _part(loop, low, cut), _part(loop, cut, high)
    return None


def _conditions(statements: Sequence[Statement]) -> list[Expr]:
    out: list[Expr] = []
    for s in statements:
        if isinstance(s, If):
            out += conjuncts(s.condition)
        if isinstance(s, (If, For)):
            out += _conditions(s.body)
    return out


def _part(loop: For, low: int, high: int) -> For:
    var = variable(loop.name, const(high - low), low)
    return For(var, in_statements(loop.body, {loop.var: var}), loop.kind)
