"""Reads once what several phases read of a row, and keeps it in registers.

    for j: m max= x[j]                   for j: k[j] = x[j]; m max= k[j]
    for j: s += exp(x[j] - m)            for j: s += exp(k[j] - m)

A member takes the same rounds in all loops that are divided alike, so it finds its elements again.
Only what nobody writes before the last of these reads is kept, and no more than registers hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from byparts_gpu_ir.mapping.independence import Surroundings, written
from byparts_gpu_ir.mapping.phases import (
    Chosen,
    Phase,
    Repeated,
    Shared,
    all_phases,
    statements_of,
)
from byparts_gpu_ir.mapping.shares import Share, shares_of
from byparts_tensor_ir.access import is_safe
from byparts_tensor_ir.expression import BYTES, Expr, variable
from byparts_tensor_ir.statement import Buffer, For, Store, stores, walk
from byparts_tensor_ir.substitute import (
    expressions,
    in_statements,
    loads,
    substituted,
    variables,
)

_MOST_BYTES = 160  # of a thread
_ELEMENTS = 32  # of one buffer

Key = tuple[Share, Expr]  # a load, in variables that all loops of the share have


@dataclass
class Keeper:
    """Finds what to keep.

    Args:
        around: what the phases are part of.
        size: of the team.

    Attributes:
        buffers: that hold what is kept.
    """

    around: Surroundings
    size: int

    def __post_init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.left_bytes = _MOST_BYTES
        self.variables: dict[Share, tuple[Expr, ...]] = {}

    def kept(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        """The same phases, which keep what they read several times."""
        shares = shares_of([p for p in all_phases(phases) if isinstance(p, Shared)], self.size)
        return self._kept(phases, shares)

    def _kept(self, phases: Sequence[Phase], shares: dict[Shared, Share]) -> tuple[Phase, ...]:
        inner = [
            replace(p, phases=self._kept(p.phases, shares))
            if isinstance(p, (Repeated, Chosen))
            else p
            for p in phases
        ]
        uses: dict[Key, list[int]] = {}
        for k, p in enumerate(inner):
            for key in self._reads(p, shares[p]) if isinstance(p, Shared) else ():
                uses.setdefault(key, []).append(k)
        for (share, load), places in uses.items():
            if len(places) > 1 and self._fits(share, load) and self._stays(load, inner, places):
                buffer = self._buffer(share, load)
                for k in places:
                    p = inner[k]
                    assert isinstance(p, Shared), "a reader"
                    inner[k] = self._with(p, share, load, buffer, k == places[0])
                    shares[inner[k]] = share  # type: ignore[index]  # a shared phase
        return tuple(inner)

    def _reads(self, p: Shared, share: Share) -> list[Key]:
        """List the loads of global memory in a phase that have one element for each round."""
        own = self.variables.setdefault(
            share, tuple([variable(f"r{k}", n) for k, n in enumerate(share.extents)])
        )
        loops = {x.var for x in p.loops}
        inner = {x.var for x in walk(p.body) if isinstance(x, For)}
        by = {x.var: v + x.var.attr.low for x, v in zip(p.loops, own, strict=True)}
        keys: dict[Key, None] = {}
        for load in [x for s in walk(p.body) for e in expressions(s) for x in loads(e)]:
            here = variables(load)
            own_round = loops <= here and not here & inner
            plain = load.attr.scope == "global" and loads(load) == [load] and is_safe(load)
            if own_round and plain:
                keys[share, substituted(load, by)] = None
        return list(keys)

    def _fits(self, share: Share, load: Expr) -> bool:
        size = share.elements * max(4, BYTES[load.dtype])
        return share.elements <= _ELEMENTS and size <= self.left_bytes

    def _stays(self, load: Expr, phases: Sequence[Phase], places: Sequence[int]) -> bool:
        """Whether nobody writes what is read before it is read for the last time."""
        memory = self.around.memory
        for p in all_phases(phases[places[0] : places[-1]]):
            targets = written(statements_of(p))
            if any(memory(t) is memory(load.attr) for t in targets):
                return False
        return True

    def _buffer(self, share: Share, load: Expr) -> Buffer:
        name = f"{load.attr.name}_row"
        number = sum(b.name.startswith(name) for b in self.buffers)
        shape = tuple([v.attr.extent for v in self.variables[share]])
        row = Buffer(f"{name}{number or ''}", shape, load.dtype, "local")
        self.buffers.append(row)
        self.left_bytes -= share.elements * max(4, BYTES[load.dtype])
        return row

    def _with(self, p: Shared, share: Share, load: Expr, buffer: Buffer, first: bool) -> Shared:
        """The phase with what is kept in place of what it reads; the first one keeps it."""
        loops = tuple([x.var for x in p.loops])
        own = zip(self.variables[share], p.loops, strict=True)
        there = substituted(load, {v: x.var - x.var.attr.low for v, x in own})
        body = in_statements(p.body, {there: buffer[loops]})
        begin = (Store(buffer.name, (buffer,), loops, (there,)),) if first else ()
        pairs = zip(stores(p.body), stores(body), strict=True)
        sums = tuple([new for old, new in pairs if old in p.sums])
        return replace(p, body=(*begin, *body), sums=sums)
