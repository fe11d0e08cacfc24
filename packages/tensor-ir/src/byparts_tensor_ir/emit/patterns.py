"""Indices that are no sums of multiples of the lane, and still have a vector form.

    x[i // s]   s lanes side by side read one element: load fewer, and repeat each
    i % s       0, 1, ..., s - 1, 0, 1, ...: a constant

Both need a first lane that is a multiple of s, which is so if all else in the index is.
"""

from __future__ import annotations

from byparts_tensor_ir.emit.strategy import EmitError, step_of
from byparts_tensor_ir.expression import Expr, variable
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.substitute import subexpressions, substituted, variables
from byparts_tensor_ir.vector import Lanes


def repeated(flat: Expr, lanes: Lanes) -> tuple[int, Expr] | None:
    """(s, index of the first element) where lane l reads element `l // s` from there on.

    `None`: the index is not of that kind.
    """
    varying = [x for x in subexpressions(flat) if lanes.var in variables(x)]
    quotients = [x for x in varying if x.op == "floordiv"]
    if len(quotients) != 1 or not _begins_whole(quotients[0], lanes):
        return None
    (quotient,) = quotients
    s = int(quotient.args[1].attr)
    at = variable("element")
    other = substituted(flat, {quotient: at})
    if lanes.var in variables(other) or lanes.lanes <= s:
        return None
    try:
        step = step_of(other, Lanes(at, at, lanes.lanes))
    except EmitError:
        return None
    first = substituted(quotient, {lanes.var: lanes.base})
    return (s, substituted(other, {at: first})) if step == 1 else None


def remainders(e: Expr, lanes: Lanes) -> list[int] | None:
    """The values of `i % s` in all lanes; `None` where they are not the same in each vector."""
    if e.op != "mod" or not _begins_whole(e, lanes):
        return None
    s = int(e.args[1].attr)
    return [lane % s for lane in range(lanes.lanes)]


def _begins_whole(e: Expr, lanes: Lanes) -> bool:
    """Whether e, a quotient or remainder by s, is of a multiple of s in lane 0 of each vector."""
    inside, divisor = e.args
    if divisor.op != "const" or divisor.attr < 2 or lanes.lanes % divisor.attr:
        return False
    coefficients, constant = terms(inside)
    low = lanes.var.attr.low if lanes.var.op == "var" else 1
    rest = [c for a, c in coefficients.items() if a is not lanes.var]
    of_lane = coefficients.get(lanes.var) == 1
    return of_lane and not any(c % divisor.attr for c in (*rest, constant + low))
