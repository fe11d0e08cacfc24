"""Divides the work of a team of threads for a row into phases.

A team goes through the body of a row together.  A loop whose rounds are independent, or add to the
same elements, is *shared*: each member takes some rounds.  A loop whose rounds follow from each
other is *repeated* by all members in step, and its body is phases again.  What is left is done by
*one* member, or by each for itself where only its own copy is written.

    for j: m max= x[j]                         Shared(j), m is a sum of partial results
    for j: e[j] = exp(x[j] - m); s += e[j]     Shared(j)
    for j: y[j] = e[j] / s                     Shared(j)

Which loops of a nest are shared: those over elements rather than those of a reduction where there
are enough of them, or where they are the neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Union

from byparts_gpu_ir.mapping.independence import (
    Surroundings,
    chain,
    has_loops,
    rounds,
)
from byparts_gpu_ir.mapping.traffic import neighbours
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.lower import identity_nest
from byparts_tensor_ir.statement import For, If, Statement, Store, rebuilt, stores, walk
from byparts_tensor_ir.substitute import variables

_FEW = 8  # rounds that every member does for itself sooner than that they are shared


@dataclass(frozen=True, eq=False)
class Alone:
    """A statement that one member does, or each for itself."""

    statement: Statement


@dataclass(frozen=True, eq=False)
class Shared:
    """Loops whose rounds the members share.

    Attributes:
        loops: they count as one loop; their bodies do not matter.
        body: what one round does.
        sums: the stores in the body to which all rounds add.
    """

    loops: tuple[For, ...]
    body: tuple[Statement, ...]
    sums: tuple[Store, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents of the loops that the members share."""
        return tuple([int(x.extent.attr) for x in self.loops])


@dataclass(frozen=True, eq=False)
class Repeated:
    """A loop that all members go through in step."""

    loop: For
    phases: tuple[Phase, ...]


@dataclass(frozen=True, eq=False)
class Chosen:
    """Phases that happen where a condition holds, which is the same for all members."""

    condition: Expr
    phases: tuple[Phase, ...]


Phase = Union[Alone, Shared, Repeated, Chosen]


def phases_of(body: Sequence[Statement], around: Surroundings) -> tuple[Phase, ...]:
    """The phases of a row."""
    out: list[Phase] = []
    for k, s in enumerate(body):
        rest = around.of([*body[:k], *body[k + 1 :]])
        if isinstance(s, If) and has_loops(s.body):
            out.append(Chosen(s.condition, phases_of(s.body, rest)))
        elif isinstance(s, For):
            out += _phases_of_loop(s, rest)
        else:
            out.append(Alone(s))
    return tuple(out)


def all_phases(phases: Iterable[Phase]) -> Iterator[Phase]:
    """All phases, outer ones before inner ones, in order."""
    for p in phases:
        yield p
        if isinstance(p, (Repeated, Chosen)):
            yield from all_phases(p.phases)


def statements_of(p: Phase) -> tuple[Statement, ...]:
    """The statements of a phase itself, without its inner phases."""
    if isinstance(p, Alone):
        return (p.statement,)
    if isinstance(p, Shared):
        return p.body
    return (If(p.condition, ()),) if isinstance(p, Chosen) else (replace(p.loop, body=()),)


def _phases_of_loop(s: For, around: Surroundings) -> list[Phase]:
    nest = chain(s)
    static = all(x.extent.op == "const" for x in nest)
    for loops in _choices(nest, around) if static else ():
        rest = [x for x in nest if x not in loops]
        inner = nest[-1].body
        if all(_adds(x, inner) for x in loops):
            return _sum_phases(loops, rest, inner)
        return [Shared(tuple(loops), _nested(rest, inner), ())]
    if not has_loops(s.body):
        return [Alone(s)]
    return _repeated(s, around)


def _choices(nest: Sequence[For], around: Surroundings) -> Iterator[list[For]]:
    """The loops of a nest that may be shared, the best first."""
    over_elements = [x for x in nest if _moved_out(x, nest, around)]
    added = [x for x in nest if x not in over_elements and _adds(x, nest[-1].body)]
    sums = added if _only_sums(nest, added, around) else []
    inner = nest[-1].body
    if has_loops(inner) and rounds(over_elements + sums) < _FEW:
        return
    if sums and over_elements:
        better = neighbours(sums[-1].var, inner) > neighbours(over_elements[-1].var, inner)
        few = rounds(over_elements) < 32 <= rounds(sums)
        yield sums if better or few else over_elements
    elif over_elements:
        yield over_elements
    elif sums and (rounds(sums) > _FEW or has_loops(inner)):
        yield sums


def _moved_out(loop: For, nest: Sequence[For], around: Surroundings) -> bool:
    """Whether the rounds of a loop are independent, moved to the outside of its nest."""
    rest = [x for x in nest if x is not loop]
    return around.independent(For(loop.var, _nested(rest, nest[-1].body)))


def _only_sums(nest: Sequence[For], added: Sequence[For], around: Surroundings) -> bool:
    """Whether all rounds of these loops add to one element each, in any order.

    One store may add over two loops what another, indexed by the second, adds over the first: a sum
    of all beside sums of columns.  That one has many elements.
    """
    body = nest[-1].body
    within = {x.var for x in (*added, *walk(body)) if isinstance(x, For)}
    to_many = any(
        variables(i) & within
        for s in stores(body)
        if any(_over(s, x) for x in added)
        for i in s.index
    )
    return not to_many and all(around.independent(x, reductions=True) for x in nest)


def _adds(loop: For, body: Sequence[Statement]) -> bool:
    """Whether a store in the body adds to the same elements in all rounds of the loop."""
    return any(_over(s, loop) for s in stores(body))


def _over(s: Store, loop: For) -> bool:
    return s.reducer is not None and any(loop.var in variables(e) for e in s.over)


def _nested(loops: Sequence[For], body: Sequence[Statement]) -> tuple[Statement, ...]:
    for x in reversed(loops):
        body = (replace(x, body=tuple(body)),)
    return tuple(body)


def _sum_phases(
    loops: Sequence[For], rest: Sequence[For], body: Sequence[Statement]
) -> list[Phase]:
    """Loops of a reduction are shared; the other loops of the nest are around them."""
    inner = [x for x in rest if _adds(x, body)]
    outer = [x for x in rest if x not in inner]
    sums = tuple([s for s in stores(body) if any(_over(s, x) for x in loops)])
    phase: Phase = Shared(tuple(loops), _nested(inner, body), sums)
    for x in reversed(outer):
        phase = Repeated(x, (phase,))
    return [phase]


def _repeated(s: For, around: Surroundings) -> list[Phase]:
    """A loop in step; what its rounds add to begins with the identity before it."""
    begun = [x for x in stores(s.body) if x.begins and _over(x, s)]
    begin = [p for x in begun for p in phases_of(identity_nest(s, x), around)]

    def started(x: Statement) -> Sequence[Statement] | None:
        return [replace(x, begins=False)] if isinstance(x, Store) and x in begun else None

    return [*begin, Repeated(s, phases_of(rebuilt(s.body, started), around))]
