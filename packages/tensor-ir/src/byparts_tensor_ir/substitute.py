"""Replacing expressions in expressions and statements, simplifying on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from byparts_tensor_ir import (
    functions as f,  # normal forms
)
from byparts_tensor_ir.expression import (
    INDEX,
    Expr,
    arithmetic,
    comparison,
    const,
    logical_not,
    make,
)
from byparts_tensor_ir.statement import Buffer, For, If, Instruction, Statement, Store


def substituted(e: Expr, by: dict[Expr, Expr], known: dict[Expr, Expr] | None = None) -> Expr:
    """The expression with expressions replaced, and simplified again.  O(nodes).

    Args:
        e: any expression, however deep.
        by: old -> new; new ones are not looked into.
        known: results of earlier calls with the same `by`, which this call adds to.
    """
    known = {} if known is None else known
    for x in subexpressions(e):
        if x not in known:
            new = by.get(x)
            if new is None:
                args = tuple([known[a] for a in x.args])
                new = x if args == x.args else remade(x, args)
            known[x] = new
    return known[e]


def remade(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """The operation of e on other operands."""
    if e.op == "linear":
        total = const(e.attr[1])
        for a, c in zip(args, e.attr[0], strict=True):
            total = total + a * c
        return total
    if e.op == "mul" and e.dtype == INDEX:
        total = const(1)
        for a in args:
            total = total * a
        return total
    if e.op in ("floordiv", "mod", "and", "or", "xor") and len(args) == 2:
        return arithmetic(e.op, *args)
    if e.op in ("lt", "le", "eq", "ne"):
        return comparison(e.op, *args)
    if e.op == "not":
        return logical_not(args[0])
    if e.op == "select":
        return f.select(*args)
    if e.op in ("min", "max"):
        return (f.minimum if e.op == "min" else f.maximum)(*args)
    if e.op == "cast":
        return f.cast(args[0], e.dtype)
    return make(e.op, args, e.dtype, e.attr)


def in_statements(statements: Sequence[Statement], by: dict[Expr, Expr]) -> tuple[Statement, ...]:
    """Statements with expressions replaced in all indices, values, conditions and extents.

    A loop whose extent changes gets a new variable of the same name.
    """
    if not by:
        return tuple(statements)
    known: dict[Expr, Expr] = {}
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, Store):
            index = tuple([substituted(i, by, known) for i in s.index])
            values = tuple([substituted(v, by, known) for v in s.values])
            over = tuple([substituted(v, by, known) for v in s.over])
            out.append(replace(s, index=index, values=values, over=over))
        elif isinstance(s, If):
            condition = substituted(s.condition, by, known)
            if condition is not const(False, "bool"):
                body = in_statements(s.body, by)
                out += body if condition.op == "const" else [If(condition, body)]
        elif isinstance(s, For):
            extent = substituted(s.extent, by, known)
            var, inner = s.var, by
            if extent is not s.extent:
                var = renewed(s.var, extent)
                inner = {**by, s.var: var}
            out.append(For(var, in_statements(s.body, inner), s.kind))
        elif isinstance(s, Instruction):
            out.append(s.changed(lambda e: substituted(e, by, known), lambda b: b))
        else:
            out.append(s)
    return tuple(out)


def renewed(var: Expr, extent: Expr | None = None, name: str = "") -> Expr:
    """A new variable like this one."""
    old = var.attr
    extent = old.extent if extent is None else extent
    return make("var", (), var.dtype, type(old)(name or old.name, extent, old.low))


def buffers_replaced(
    statements: Sequence[Statement],
    by: dict[Buffer, Buffer],
    index: Callable[[Buffer, tuple[Expr, ...]], tuple[Expr, ...]] = lambda buffer, index: index,
) -> tuple[Statement, ...]:
    """Statements that store to and load from other buffers, at `index(old buffer, old index)`."""
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, Store):
            values = tuple([loads_replaced(v, by, index) for v in s.values])
            at = tuple([loads_replaced(i, by, index) for i in s.index])
            at = index(s.targets[0], at) if s.targets[0] in by else at
            targets = tuple([by.get(t, t) for t in s.targets])
            out.append(replace(s, targets=targets, index=at, values=values))
        elif isinstance(s, If):
            condition = loads_replaced(s.condition, by, index)
            out.append(If(condition, buffers_replaced(s.body, by, index)))
        elif isinstance(s, For):
            extent, body = loads_replaced(s.extent, by, index), buffers_replaced(s.body, by, index)
            if extent is s.extent:
                out.append(replace(s, body=body))
            else:
                var = renewed(s.var, extent)
                out.append(For(var, in_statements(body, {s.var: var}), s.kind))
        elif isinstance(s, Instruction):
            out.append(s.changed(lambda e: loads_replaced(e, by, index), lambda b: by.get(b, b)))
        else:
            out.append(s)
    return tuple(out)


def loads_replaced(
    e: Expr,
    by: dict[Buffer, Buffer],
    index: Callable[[Buffer, tuple[Expr, ...]], tuple[Expr, ...]],
) -> Expr:
    """The expression with loads from other buffers."""
    changes: dict[Expr, Expr] = {}
    for load in loads(e):
        if load.attr in by:
            at = tuple([loads_replaced(i, by, index) for i in load.args])
            changes[load] = by[load.attr][index(load.attr, at)]
    return substituted(e, changes) if changes else e


def subexpressions(e: Expr) -> Iterator[Expr]:
    """Each distinct subexpression once, operands first."""
    seen: set[Expr] = set()
    todo = [(e, False)]
    while todo:
        x, ready = todo.pop()
        if ready:
            yield x
        elif x not in seen:
            seen.add(x)
            todo.append((x, True))
            todo += [(a, False) for a in reversed(x.args)]


def containing(roots: Iterable[Expr], wanted: Callable[[Expr], bool]) -> set[Expr]:
    """Select the expressions and subexpressions that are wanted or contain a wanted one.

    O(nodes of all together).
    """
    known: dict[Expr, bool] = {}
    for e in roots:
        todo = [e]
        while todo:
            x = todo[-1]
            waits = [a for a in x.args if a not in known] if x not in known else []
            if waits:
                todo += waits
                continue
            todo.pop()
            known[x] = known.get(x, False) or wanted(x) or any(known[a] for a in x.args)
    return {x for x, contains in known.items() if contains}


def loads(e: Expr) -> list[Expr]:
    """The loads in an expression, those in indices of others included."""
    return [x for x in subexpressions(e) if x.op == "load"]


def variables(e: Expr) -> set[Expr]:
    """The variables in an expression."""
    return {x for x in subexpressions(e) if x.op == "var"}


def expressions(s: Statement) -> tuple[Expr, ...]:
    """The expressions that stand directly in a statement."""
    if isinstance(s, Store):
        return (*s.index, *s.values)
    if isinstance(s, If):
        return (s.condition,)
    if isinstance(s, Instruction):
        return s.expressions()
    return (s.extent,) if isinstance(s, For) else ()
