"""Narrow dtypes: f16 and bf16 are computed in f32 and rounded once an op, i4 in i8 and wrapped.

That is what each op of byparts-opset means, so what a region computes does not depend on what is in
it with it: a value that is never stored is rounded as one that is.  An i4 in memory is the lower
half of a byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import BYTES, HALVES, Expr, const, half_bits, variable, widened
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.statement import Buffer, For, Func, Statement, Store, rebuilt, stores, walk
from byparts_tensor_ir.substitute import buffers_replaced, expressions, in_statements, loads

_WIDE = {"f16": "f32", "bf16": "f32", "i4": "i8"}


def takes(dtype: str) -> bool:
    """Whether expressions can compute what has this dtype."""
    return dtype in BYTES or dtype in _WIDE


def wide(dtype: str) -> str:
    """The dtype in which this one is computed."""
    return _WIDE.get(dtype, dtype)


def held(dtype: str) -> str:
    """The dtype of a buffer of it."""
    return "i8" if dtype == "i4" else dtype


def bits(dtype: str) -> str:
    """The dtype of a buffer whose elements are only moved: halves need no conversions then."""
    return "i16" if dtype in HALVES else held(dtype)


def number(value: float, dtype: str) -> Expr:
    """A number as a buffer of `bits(dtype)` holds it."""
    if dtype in HALVES:
        return const(half_bits(value, dtype), "i16")
    return const(int(value) & 15, "i8") if dtype == "i4" else const(value, dtype)


def narrowed(e: Expr, dtype: str) -> Expr:
    """Wrap or round an expression in the `wide` dtype to the values that `dtype` can hold."""
    return (e << 4) >> 4 if dtype == "i4" else cast(e, dtype) if dtype in HALVES else e


def loaded(e: Expr, dtype: str) -> Expr:
    """Widen a load from a buffer of this dtype to the dtype that is `wide`."""
    return (e << 4) >> 4 if dtype == "i4" else widened(e)


def stored(e: Expr, dtype: str) -> Expr:
    """Convert an expression in the `wide` dtype to the form in which a buffer stores it."""
    return e & 15 if dtype == "i4" else narrowed(e, dtype)


def of_narrow(func: Func, dtypes: Sequence[str]) -> Func:
    """A function of parameters of wide dtypes, for parameters of these ones.

    Elements are widened where they are read, and narrowed where they are stored.  An output that is
    read or added to has a wide buffer, and is stored at the end.
    """
    to = {p: d for p, d in zip(func.params, dtypes, strict=False) if p.dtype == wide(d) != d}
    read = {x.attr for s in walk(func.body) for e in expressions(s) for x in loads(e)}
    added = {t for s in stores(func.body) if s.reducer for t in s.targets}
    new = {p: replace(p, dtype=held(d)) for p, d in to.items()}
    kept = {
        p: replace(p, name=f"{p.name}_wide", scope="local")
        for p in to
        if p in func.outputs and (p in read or p in added)
    }
    body = in_statements(buffers_replaced(func.body, kept), _loads(func, to, new))
    body = _stores(body, to, new)
    for p, b in kept.items():
        body = (*body, *_all(b, new[p], to[p]))
    return replace(
        func,
        params=tuple([new.get(p, p) for p in func.params]),
        outputs=tuple([new.get(p, p) for p in func.outputs]),
        body=body,
        locals=(*func.locals, *kept.values()),
    )


def _loads(func: Func, to: Mapping[Buffer, str], new: Mapping[Buffer, Buffer]) -> dict[Expr, Expr]:
    """Each load from an input, and what stands for it."""
    reads = {x for s in walk(func.body) for e in expressions(s) for x in loads(e)}
    inputs = set(func.params) - set(func.outputs)
    some = [x for x in reads if x.attr in new and x.attr in inputs]
    return {x: loaded(new[x.attr][x.args], to[x.attr]) for x in some}


def _stores(
    body: Sequence[Statement], to: Mapping[Buffer, str], new: Mapping[Buffer, Buffer]
) -> tuple[Statement, ...]:
    def change(s: Statement) -> Sequence[Statement] | None:
        if not isinstance(s, Store) or not any(t in to for t in s.targets):
            return None
        pairs = list(zip(s.targets, s.values, strict=True))
        values = tuple([stored(v, to[t]) if t in to else v for t, v in pairs])
        return [replace(s, targets=tuple([new.get(t, t) for t in s.targets]), values=values)]

    return rebuilt(body, change)


def _all(source: Buffer, target: Buffer, dtype: str) -> tuple[Statement, ...]:
    """Loops that narrow a whole buffer into another one."""
    axes = [variable(f"{source.name}_i{d}", n) for d, n in enumerate(source.shape)]
    value = stored(source[tuple(axes)], dtype)
    body: tuple[Statement, ...] = (Store(source.name, (target,), tuple(axes), (value,)),)
    for axis in reversed(axes):
        body = (For(axis, body, "vectorize" if axis is axes[-1] else "serial"),)
    return body
