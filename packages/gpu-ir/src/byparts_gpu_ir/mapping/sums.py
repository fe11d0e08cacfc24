"""Combines the partial results of a team, so that all members have one result.

Members in one warp exchange what they have with the lane whose number differs in one bit, then in
the next, so that after log2 steps all have the whole, added in the same order.  Members in several
warps leave one number a warp in shared memory, meet, and each reads them all.  There are no
atomics, so a sum is the same in each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from byparts_gpu_ir.mapping.team import Team
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.statement import Buffer, Exchange, For, If, Reducer, Statement, Store
from byparts_tensor_ir.tensor import identity_values


@dataclass(frozen=True, eq=False)
class Partial:
    """The partial result of a member, in registers.

    Attributes:
        store: the store to whose targets all members add.
        parts: a number for each target.
        others: registers for the parts of another thread.
        posts: shared memory with a number for each warp of a team; none if a team is in one warp.
    """

    store: Store
    parts: tuple[Buffer, ...]
    others: tuple[Buffer, ...]
    posts: tuple[Buffer, ...]

    @property
    def reducer(self) -> Reducer:
        """The reducer that combines two partial results."""
        assert self.store.reducer is not None, "a store that adds"
        return self.store.reducer

    def begin(self) -> Store:
        """Nothing is added yet."""
        values = identity_values(self.reducer, self.parts)
        return Store(f"{self.store.block}_init", self.parts, (), values)

    def add(self, values: tuple[Expr, ...]) -> Store:
        """More is."""
        return Store(self.store.block, self.parts, (), values, self.reducer)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that is declared for it."""
        return (*self.parts, *self.others, *self.posts)


def partial_of(store: Store, number: int, team: Team) -> Partial:
    """Memory for the partial results of a store."""
    names = [f"{t.name}_sum{number}" for t in store.targets]
    kinds = list(zip(names, [t.dtype for t in store.targets], strict=True))
    posts = team.size // team.lanes
    shape = tuple([const(n) for n in _order(team, posts, team.teams) if n > 1])
    return Partial(
        store,
        tuple([Buffer(n, (), d, "local") for n, d in kinds]),
        tuple([Buffer(f"{n}_other", (), d, "local") for n, d in kinds]) if team.lanes > 1 else (),
        tuple([Buffer(f"{n}_warps", shape, d, "shared") for n, d in kinds]) if posts > 1 else (),
    )


def within_warps(partials: Sequence[Partial], team: Team) -> list[Statement]:
    """After this the lanes of a warp that are of one team have the same."""
    out: list[Statement] = []
    mask = team.lanes // 2
    while mask:
        for p in partials:
            out += [Exchange(o, a[()], mask) for o, a in zip(p.others, p.parts, strict=True)]
            out.append(p.add(tuple([o[()] for o in p.others])))
        mask //= 2
    return out


def posted(partials: Sequence[Partial], team: Team, member: Expr, number: Expr) -> list[Statement]:
    """The first lane of each warp writes what the warp has into shared memory."""
    at = _at(team, member // team.lanes, number)
    stores = [
        Store(f"{p.store.block}_post", p.posts, at, tuple([a[()] for a in p.parts]))
        for p in partials
    ]
    if team.lanes == 1:
        return list(stores)
    return [If((member % team.lanes).equal(0), tuple(stores))]


def collected(partials: Sequence[Partial], team: Team, number: Expr) -> list[Statement]:
    """All members read what the warps wrote, in the same order."""
    out: list[Statement] = []
    for p in partials:
        first = tuple([b[_at(team, const(0), number)] for b in p.posts])
        out.append(Store(p.store.block, p.parts, (), first))
        warp = variable("warp", team.size // team.lanes - 1, 1)
        others = tuple([b[_at(team, warp, number)] for b in p.posts])
        out.append(For(warp, (p.add(others),), "unroll"))
    return out


def _order(team: Team, posts: int, teams: int) -> tuple[int, int]:
    """Neighbouring threads have neighbouring places, in different banks."""
    return (posts, teams) if team.across else (teams, posts)


def _at(team: Team, post: Expr, number: Expr) -> tuple[Expr, ...]:
    ends = [(post, team.size // team.lanes), (number, team.teams)]
    return tuple([i for i, n in (ends if team.across else ends[::-1]) if n > 1])
