"""The rows of some statements: loops that all of them go through alike, moved outermost.

    for j: s[j] = 0                            for j:
    for i: for j: s[j] += x[i, j]      is          s = 0;  for i: s += x[i, j];  y[j] = s
    for j: y[j] = s[j]

A loop of each statement becomes one loop around them all where the rounds of that loop turn out
independent: then no order among its rounds mattered, and the order within a round is kept.  What is
indexed by that loop alone loses the dimension.  A row is what threads of a GPU take on; the loops
that are left in its body may be shared among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from byparts_gpu_ir.launches import is_size
from byparts_gpu_ir.mapping.independence import (
    Surroundings,
    chain,
    rounds,
    used,
)
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import Buffer, For, Statement, Store, stores, walk
from byparts_tensor_ir.substitute import (
    buffers_replaced,
    expressions,
    in_statements,
    loads,
    renewed,
    variables,
)

Index = tuple[Expr, ...]


@dataclass(frozen=True)
class Rows:
    """Statements that are done for each row; no row depends on another.

    Attributes:
        loops: variables, outermost first; a row is a value of each.
        body: what is done for a row.
        around: what else there is.
    """

    loops: tuple[Expr, ...]
    body: tuple[Statement, ...]
    around: Surroundings

    @property
    def count(self) -> int:
        """The number of rows, or a likely one."""
        return rounds([For(v, ()) for v in self.loops])

    @property
    def exact_count(self) -> Expr:
        """The number of rows, an expression where sizes decide."""
        n = const(1)
        for v in self.loops:
            n = n * v.attr.extent
        return n

    def with_locals(self, buffers: Sequence[Buffer]) -> Rows:
        """The same with more local buffers."""
        locals = self.around.locals | {*buffers}
        return replace(self, around=replace(self.around, locals=locals))

    def own(self) -> list[Buffer]:
        """The local buffers of which each row has one of its own."""
        return [b for b in used(self.body) if b in self.around.locals - self.around.live]

    def scattered(self) -> list[Buffer]:
        """The own buffers of which a row has elements here and there."""
        gone, rows = self._row_dimensions(), set(self.loops)

        def here_and_there(b: Buffer) -> bool:
            kept = [d for d in range(len(b.shape)) if d not in gone[b]]
            return any(variables(i[d]) & rows for i in indices_of(b, self.body) for d in kept)

        return [b for b in self.own() if here_and_there(b)]

    def without_dimensions(self) -> Rows:
        """The same, where own buffers lose the dimensions that are indexed by a row alone."""
        gone, by = self._row_dimensions(), {}
        for b, dimensions in gone.items():
            shape = tuple([n for d, n in enumerate(b.shape) if d not in dimensions])
            by[b] = replace(b, shape=shape)

        def kept(b: Buffer, index: Index) -> Index:
            return tuple([i for d, i in enumerate(index) if d not in gone[b]])

        body = buffers_replaced(self.body, by, kept)
        locals = frozenset([by.get(b, b) for b in self.around.locals])
        return Rows(self.loops, body, replace(self.around, locals=locals))

    def _row_dimensions(self) -> dict[Buffer, list[int]]:
        """The dimensions of own buffers that are indexed by the same variable of a row always."""
        gone: dict[Buffer, list[int]] = {}
        for b in self.own():
            seen = indices_of(b, self.body)
            gone[b] = [d for d in range(len(b.shape)) if _one_row(seen, d, self.loops)]
        for s in stores(self.body):  # targets of one store have one index
            same = [d for d in range(len(s.index)) if all(d in gone.get(t, ()) for t in s.targets)]
            gone |= {t: same for t in s.targets if t in gone}
        return gone


def rows_of(statements: Sequence[Statement], around: Surroundings) -> Rows:
    """The statements with as many loops as can be around all of them.  O(loops^2) at worst."""
    loops: list[Expr] = []
    body = tuple(statements)
    while (moved := _common_loop(body, around)) is not None:
        loops.append(moved.var)
        body = moved.body
    return Rows(tuple(loops), body, around)


def _common_loop(body: Sequence[Statement], around: Surroundings) -> For | None:
    """Replace a loop of each statement by one loop around them all; `None` if none fits."""
    for loop in chain(body[0]) if body else ():
        if is_size(loop.extent):
            var = renewed(loop.var)
            merged = _merged(body, var, around)
            if merged is not None:
                return merged
    return None


def _merged(body: Sequence[Statement], var: Expr, around: Surroundings) -> For | None:
    """The statements inside of a loop over `var`, in place of a loop of each."""
    merged = For(var, ())
    for s in body:
        for loop in chain(s):
            if loop.extent is var.attr.extent and loop.var.attr.low == var.attr.low:
                kind = loop.kind if len(body) == 1 else "serial"
                longer = For(var, (*merged.body, *_without(s, loop, var)), kind)
                if around.independent(longer):
                    merged = longer
                    break
        else:
            return None
    return merged


def _without(s: Statement, loop: For, var: Expr) -> tuple[Statement, ...]:
    """Take one of the loops around a statement away and put `var` for its variable."""
    if s is loop:
        return in_statements(loop.body, {loop.var: var})
    assert isinstance(s, For), "a loop of a chain"
    return (replace(s, body=_without(s.body[0], loop, var)),)


def indices_of(buffer: Buffer, statements: Sequence[Statement]) -> list[Index]:
    """Indices at which the statements read and write a buffer."""
    indices: list[Index] = []
    for s in walk(statements):
        indices += [x.args for e in expressions(s) for x in loads(e) if x.attr is buffer]
        if isinstance(s, Store) and buffer in s.targets:
            indices.append(s.index)
    return indices


def _one_row(indices: Sequence[Index], dimension: int, rows: Sequence[Expr]) -> bool:
    """Whether the index of a dimension is the same variable of a row everywhere."""
    here = {index[dimension] for index in indices}
    return len(here) == 1 and next(iter(here)) in rows
