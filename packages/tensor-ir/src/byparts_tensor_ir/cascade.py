"""Long sums of floats are sums of the sums of blocks, so that their error is bounded at any length.

To add n numbers in turn loses up to n * u of the sum of their sizes, u the unit roundoff (2^-24 of
f32): of 20 million ones all after the 16,777,216th.  Here a sum of more than `LONGEST` additions in
turn adds up blocks of `BLOCK` numbers, blocks of as many blocks, and so on (cascaded summation,
halfway from a plain loop to pairwise sums: Higham, "The accuracy of floating point summation",
1993).  The error is at most

    BLOCK * ceil(log_BLOCK(n)) * u * (the sum of sizes)     5e-5 of 2^24 numbers of f32

along one loop, where all roundings go one way, and some u where they do not.  Where loops of a
reduction are nested, each adds such a term, or one of LONGEST where it is shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import FLOATS, Expr, Operand, variable
from byparts_tensor_ir.lower import index_nest
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, rebuilt, stores
from byparts_tensor_ir.substitute import in_statements, variables
from byparts_tensor_ir.tensor import SUM

LONGEST = 4096  # additions in turn; sums of no more keep the loop that they have
BLOCK = 256
LANES = 16  # accumulators of a vectorized loop: four vectors of at least four numbers


def cascaded(func: Func, longest: int = LONGEST, block: int = BLOCK, lanes: int = LANES) -> Func:
    """The function, with its long sums of floats by blocks.

    Args:
        func: a function for a CPU.  A loop whose extent is no number has blocks, however many.
        longest: additions in turn that make no long sum.
        block: additions to one accumulator of a long sum.
        lanes: numbers that a vectorized loop adds at once.
    """
    rule = _Cascade(longest, block, lanes)
    body = rule.statements(func.body, ())
    return replace(func, body=body, locals=(*func.locals, *rule.locals)) if rule.locals else func


class _Cascade:
    """The state of one run of `cascaded`.

    Attributes:
        additions: store -> how often the loops that were looked at add to one accumulator.
        locals: accumulators of blocks.
    """

    def __init__(self, longest: int, block: int, lanes: int) -> None:
        self.longest, self.block, self.lanes = longest, block, lanes
        self.additions: dict[Store, int] = {}
        self.locals: list[Buffer] = []

    def statements(
        self, body: Sequence[Statement], around: tuple[For, ...]
    ) -> tuple[Statement, ...]:
        """The same statements, inside of these loops, with long sums by blocks."""
        out: list[Statement] = []
        for s in body:
            if isinstance(s, For):
                s = self._loop(replace(s, body=self.statements(s.body, (*around, s))), around)
            elif isinstance(s, If):
                s = replace(s, body=self.statements(s.body, around))
            out.append(s)
        return tuple(out)

    def _loop(self, loop: For, around: tuple[For, ...]) -> For:
        sums = [s for s in stores(loop.body) if _adds_floats(s) and loop.var in _over(s)]
        at_once = self.lanes if loop.kind == "vectorize" else 1
        if not sums or loop.extent.op != "const":
            return self._of_unknown_length(loop, sums, around, at_once) if sums else loop
        rounds = -(-int(loop.extent.attr) // at_once)
        long = [s for s in sums if self.additions.get(s, 1) * rounds > self.longest]
        inner = [s for s in long if self.additions.get(s, 1) > 1]
        if inner and at_once == 1:
            return self._loop(replace(loop, body=self._apart(loop.body, inner, around)), around)
        for s in sums:
            self.additions[s] = self.additions.get(s, 1) * rounds
        return self._blocks(loop, long, around, at_once) if long and rounds > self.block else loop

    def _of_unknown_length(
        self, loop: For, sums: list[Store], around: tuple[For, ...], at_once: int
    ) -> For:
        """A loop whose extent depends on sizes: blocks, of which one is not whole."""
        inner = [s for s in sums if self.additions.get(s, 1) > 1]
        if inner and at_once == 1:
            body = self._apart(loop.body, inner, around)
            return self._loop(replace(loop, body=body), around)
        size = self.block * at_once
        blocks, inside = self._block_of(loop, (loop.extent + size - 1) // size, size, sums, around)
        self.additions.update(
            {s: self.block for s in stores(inside) if s.targets in [x.targets for x in sums]}
        )
        return For(blocks, inside, "serial" if loop.kind == "vectorize" else loop.kind)

    def _blocks(self, loop: For, sums: list[Store], around: tuple[For, ...], at_once: int) -> For:
        """A loop over blocks, around one over the numbers of a block."""
        extent, size = int(loop.extent.attr), self.block * at_once
        if extent <= size:
            self.additions.update(dict.fromkeys(sums, extent))
            return loop
        o, inside = self._block_of(loop, -(-extent // size), size, sums, around)
        outer = For(o, inside, "serial" if loop.kind == "vectorize" else loop.kind)
        totals = [s for s in stores(inside) if s.targets in [x.targets for x in sums]]
        return self._blocks(outer, totals, around, 1)

    def _block_of(
        self, loop: For, blocks: Operand, size: int, sums: list[Store], around: tuple[For, ...]
    ) -> tuple[Expr, tuple[Statement, ...]]:
        """The variable of the loop over blocks, and what is done for one block."""
        o = variable(f"{loop.name}_o", blocks)
        i = variable(f"{loop.name}_i", size)
        body = in_statements(loop.body, {loop.var: o * size + i + loop.var.attr.low})
        new = dict(zip(stores(loop.body), stores(body), strict=True))
        self.additions.update({new[s]: n for s, n in self.additions.items() if s in new})
        if loop.extent.op != "const" or loop.extent.attr % size:
            body = (If(o * size + i < loop.extent, body),)
        return o, self._apart((For(i, body, loop.kind),), [new[s] for s in sums], around)

    def _apart(
        self, body: Sequence[Statement], sums: Sequence[Store], around: tuple[For, ...]
    ) -> tuple[Statement, ...]:
        """The body, in which these stores have accumulators of their own, which it adds at its end.

        Lanes of a vector around it have one each.
        """
        by: dict[Statement, Store] = {}
        ends: list[Statement] = []
        for s in sums:
            loops = _loops_to(body, s)
            used = {v for index in s.index for v in variables(index)}
            own = [x for x in around if x.kind == "vectorize"] + loops
            own = [x for x in own if x.var in used]
            parts = tuple([self._accumulator(t, own) for t in s.targets])
            at = tuple([x.var - x.var.attr.low for x in own])
            inside = tuple([x.var for x in loops if x.var in _over(s)])
            by[s] = replace(s, targets=parts, index=at, over=inside, begins=True)
            rest = tuple([v for v in _over(s) if v not in inside])
            end = replace(s, values=tuple([p[at] for p in parts]), over=rest)
            ends += index_nest(body, s, end, f"partial{len(self.locals)}")
        return (*rebuilt(body, lambda s: [by[s]] if s in by else None), *ends)

    def _accumulator(self, target: Buffer, loops: Sequence[For]) -> Buffer:
        scope = "local" if target.scope == "global" else target.scope
        name = f"partial{len(self.locals)}"
        self.locals.append(Buffer(name, tuple([x.extent for x in loops]), target.dtype, scope))
        return self.locals[-1]


def _adds_floats(s: Store) -> bool:
    return s.reducer is SUM and all(t.dtype in FLOATS for t in s.targets)


def _over(s: Store) -> list[Expr]:
    """The loop variables that belong to the reduction, in order."""
    return list(dict.fromkeys(v for e in s.over for v in variables(e)))


def _loops_to(body: Sequence[Statement], store: Store) -> list[For]:
    """The loops in a body around one of its stores, outermost first."""
    for s in body:
        if isinstance(s, (For, If)) and store in stores(s.body):
            return [*([s] if isinstance(s, For) else []), *_loops_to(s.body, store)]
    return []
