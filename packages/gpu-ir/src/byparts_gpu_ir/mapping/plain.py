"""Loops without what is only for a CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from byparts_gpu_ir.mapping.independence import Pairs, surroundings, used
from byparts_tensor_ir.expression import const
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, walk
from byparts_tensor_ir.substitute import buffers_replaced, in_statements, loads

Memory = Callable[[Buffer], Buffer]


def plain(func: Func, inplace: Pairs = ()) -> Func:
    """The same function: no vectors, no loops of one round, and a store for each target.

    Args:
        func: of serial loops.
        inplace: pairs (input, output) that may be the same bytes.
    """
    memory = surroundings(func, inplace).memory
    if func.sizes or any(isinstance(s, For) and s.extent is const(0) for s in walk(func.body)):
        func = placed_identities(func)  # a sum of nothing is stored too
    own = {b: replace(b, scope="local") for b in func.locals if b.scope != "local"}
    body = buffers_replaced(_plain(func.body, memory), own)
    kept = used(body)
    locals = [own.get(b, b) for b in func.locals]
    return replace(func, body=body, locals=tuple([b for b in locals if b in kept]))


def _plain(statements: Sequence[Statement], memory: Memory) -> tuple[Statement, ...]:
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, For):
            if s.extent is const(0):
                continue
            if s.extent is const(1):
                out += _plain(in_statements(s.body, {s.var: const(s.var.attr.low)}), memory)
                continue
            body = _plain(s.body, memory)
            kind = "parallel" if s.kind == "parallel" else "serial"
            out += [For(s.var, body, kind)] if body else []
        elif isinstance(s, If):
            body = _plain(s.body, memory)
            out += [If(s.condition, body)] if body else []
        elif isinstance(s, Store):
            out += _separate(s, memory)
        else:
            out.append(s)
    return tuple(out)


def _separate(s: Store, memory: Memory) -> list[Store]:
    """A store for each target, where no value reads what another target changes."""
    if len(s.targets) == 1 or s.reducer is not None:
        return [s]
    changed = {memory(t) for t in s.targets}
    read = {memory(x.attr) for v in s.values for x in loads(v)}
    if changed & read:
        return [s]
    return [replace(s, targets=(t,), values=(v,)) for t, v in zip(s.targets, s.values, strict=True)]
