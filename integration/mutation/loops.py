"""Wrong loops: what a lowering would give that is wrong at one place of a region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import byparts_kernels_native.generated as generated
from byparts_tensor_ir import functions as f
from byparts_tensor_ir.expression import FLOATS, INDEX, Expr, const, make
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, rebuilt, walk
from byparts_tensor_ir.substitute import (
    expressions,
    in_statements,
    remade,
    renewed,
    subexpressions,
    substituted,
)
from mutation.place import Change, Rule, Stage

_OTHER = {
    **{"add": "sub", "sub": "add", "mul": "add", "div": "mul", "min": "max", "max": "min"},
    **{"lt": "le", "le": "lt", "eq": "ne", "ne": "eq", "and": "or", "or": "and", "xor": "or"},
    **{"floordiv": "mod", "mod": "floordiv", "floor": "ceil", "ceil": "floor", "rint": "trunc"},
    **{"trunc": "rint", "shl": "shr", "shr": "shl", "neg": "abs", "abs": "neg"},
    **{"exp": "expm1", "tanh": "sin", "sin": "cos", "cos": "sin"},
}


def _with(func: Func, old: Statement, new: tuple[Statement, ...]) -> Func:
    return func.with_body(rebuilt(func.body, lambda s: new if s is old else None))


def _in_expressions(wanted: Callable[[Expr], Expr | None]) -> Rule:
    """The rule that replaces a subexpression of one statement."""

    def places(func: Func) -> Iterator[tuple[str, Change]]:
        for s in walk(func.body):
            if not isinstance(s, (Store, If)):
                continue
            seen = {x for e in expressions(s) for x in subexpressions(e)}
            for x in sorted(seen, key=lambda x: x.serial):
                new = wanted(x)
                if new is not None and new is not x:
                    yield f"{new} for {x}"[:150], partial(_replaced, func, s, x, new)

    return places


def _replaced(func: Func, s: Store | If, old: Expr, new: Expr) -> Func:
    by = {old: new}
    if isinstance(s, If):
        return _with(func, s, (If(substituted(s.condition, by), s.body),))
    index = tuple([substituted(i, by) for i in s.index])
    values = tuple([substituted(v, by) for v in s.values])
    return _with(func, s, (replace(s, index=index, values=values),))


def _other_op(x: Expr) -> Expr | None:
    other = _OTHER.get(x.op)
    if other is None or (x.dtype == INDEX and x.op not in ("floordiv", "mod", "min", "max")):
        return None
    if x.op == "div" or (x.op in ("and", "or") and x.dtype != "bool"):
        return make(other, x.args, x.dtype)
    if x.dtype in ("f16", "bf16") and other not in ("min", "max", "neg", "abs", "floor", "ceil"):
        return None
    made = make(other, x.args, x.dtype, x.attr)
    return remade(made, x.args) if len(x.args) == 2 else made


def _arms(x: Expr) -> Expr | None:
    return make("select", (x.args[0], x.args[2], x.args[1]), x.dtype) if x.op == "select" else None


def _exchanged(x: Expr) -> Expr | None:
    commutes = x.op not in ("sub", "div", "floordiv", "mod", "lt", "le", "shl", "shr")
    return None if commutes or x.dtype == INDEX else make(x.op, x.args[::-1], x.dtype)


def _number(x: Expr) -> Expr | None:
    if x.op != "const":
        return None
    return const(not x.attr if x.dtype == "bool" else x.attr + 1, x.dtype)


def _product(x: Expr) -> Expr | None:
    if x.op != "fma":
        return None
    return make("fma", (*x.args[:2], -x.args[2]), x.dtype)


def _next(x: Expr, buffer: Buffer, axis: int) -> Expr | None:
    """The index one further, which stays within the buffer."""
    extent = buffer.shape[axis]
    if extent.op == "const" and extent.attr < 2:
        return None
    return f.minimum(x + 1, extent - 1)


def _loads(axis: int) -> Callable[[Expr], Expr | None]:
    def wanted(x: Expr) -> Expr | None:
        if x.op != "load" or len(x.args) < abs(axis):
            return None
        args, at = list(x.args), axis % len(x.args)
        new = _next(args[at], x.attr, at)
        if new is None:
            return None
        args[at] = new
        return make("load", tuple(args), x.dtype, x.attr)

    return wanted


def _stores(func: Func) -> Iterator[tuple[str, Change]]:
    for s in walk(func.body):
        if isinstance(s, Store) and s.index:
            new = _next(s.index[-1], s.targets[0], len(s.index) - 1)
            if new is not None:
                changed = (replace(s, index=(*s.index[:-1], new)),)
                yield f"{s.targets[0].name} one further", partial(_with, func, s, changed)


def _shorter(func: Func) -> Iterator[tuple[str, Change]]:
    for s in walk(func.body):
        if isinstance(s, For) and s.extent.op == "const" and s.extent.attr > 1:
            var = renewed(s.var, const(s.extent.attr - 1))
            loop = For(var, in_statements(s.body, {s.var: var}), s.kind)
            yield f"{s.name} to {s.extent.attr - 1}", partial(_with, func, s, (loop,))


def _reducers(func: Func) -> Iterator[tuple[str, Change]]:
    for s in walk(func.body):
        if isinstance(s, Store) and s.reducer is not None and s.targets[0].dtype != "bool":
            old = s.reducer.identity
            other = replace(s.reducer, identity=partial(_moved, old))
            yield f"{s.reducer.name} of {s.block}", partial(_with_reducer, func, s.reducer, other)


def _with_reducer(func: Func, old: Any, new: Any) -> Func:
    def change(s: Statement) -> tuple[Statement, ...] | None:
        same = isinstance(s, Store) and s.reducer is old
        return (replace(s, reducer=new),) if isinstance(s, Store) and same else None

    return func.with_body(rebuilt(func.body, change))


def _moved(identity: Callable[[str], tuple[float, ...]], dtype: str) -> tuple[float, ...]:
    return tuple([x + 1 if abs(x) < 1e6 else 0 for x in identity(dtype)])


def _combined(func: Func) -> Iterator[tuple[str, Change]]:
    for s in walk(func.body):
        if isinstance(s, Store) and s.reducer is not None and len(s.targets) == 1:
            kind = s.targets[0].dtype
            if kind not in ("bool", *FLOATS[2:]):
                name = "max" if s.reducer.name != "max" else "min"
                new = replace(s.reducer, combine=partial(_combination, name))
                words = f"{name} for {s.reducer.name} of {kind}"
                yield words, partial(_with_reducer, func, s.reducer, new)


def _combination(op: str, a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...]:
    return (make(op, (a[0], b[0]), a[0].dtype),)


def _unguarded(func: Func) -> Iterator[tuple[str, Change]]:
    for s in walk(func.body):
        if isinstance(s, If):
            yield f"without if {s.condition}"[:100], partial(_with, func, s, s.body)


def _dropped(func: Func) -> Iterator[tuple[str, Change]]:
    for s in walk(func.body):
        if isinstance(s, Store):
            yield f"no store of {s.block}", partial(_with, func, s, ())


RULES: dict[str, Rule] = {
    "another operation": _in_expressions(_other_op),
    "operands exchanged": _in_expressions(_exchanged),
    "arms exchanged": _in_expressions(_arms),
    "a number": _in_expressions(_number),
    "a product's addend": _in_expressions(_product),
    "loaded one further, last axis": _in_expressions(_loads(-1)),
    "loaded one further, first axis": _in_expressions(_loads(-2)),
    "stored one further": _stores,
    "a loop is one shorter": _shorter,
    "a reduction begins elsewhere": _reducers,
    "another reduction": _combined,
    "a guard less": _unguarded,
    "a store less": _dropped,
}


def hook(change: Callable[[Any], Any]) -> None:
    """Have the loops of each region go through the change before code is emitted."""
    emitted = generated.emitted
    generated.emitted = lambda func, inplace=(): emitted(change(func), inplace)


STAGE = Stage("lowering", RULES, hook, recompiles=True)
