"""Expressions for which there is a function on vectors."""

from __future__ import annotations

from byparts_tensor_ir.expression import FLOATS, Expr

_HALF = (1 << 32) - 1


def limit_function(e: Expr) -> str:
    """The function that `a if a < b else b`, or with `>`, of floats is; else ""."""
    condition, a, b = e.args
    if condition.op != "lt" or e.dtype not in FLOATS:
        return ""
    if condition.args == (a, b):
        return "lesser"
    return "greater" if condition.args == (b, a) else ""


def halves_of(e: Expr) -> tuple[Expr, ...]:
    """The factors of a product of u64 whose upper halves are not to count; else none."""
    factors = []
    for x in e.args if e.dtype == "u64" else ():
        if x.op == "const" and x.attr <= _HALF:
            factors.append(x)
        elif x.op == "and" and x.args[1].op == "const" and x.args[1].attr == _HALF:
            factors.append(x.args[0])
    return tuple(factors) if len(factors) == 2 else ()
