"""Counts of what the loops around a sum do: lanes, vectors of sums, loads.  Nothing is run."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Any

from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.statement import For, Func, Statement, Store


@dataclass(frozen=True)
class LoopCounts:
    """One round of the loops outside of the tile: unrolled and vectorized loops are the tile.

    Attributes:
        loops: names of all loops around the sum, the outermost first.
        vectorized: the name of the vectorized loop; "" if there is none.
        steps: for each load, as text, by how many elements what two lanes read lies apart; `None`
            where that is not the same from lane to lane.
        sums: vectors that are added to, each by one multiply-add.
        loads: of vectors, or of a number for all lanes.
        width: vectors in a row of the tile.
        target: the buffer that holds the sums, and its scope.
    """

    loops: tuple[str, ...]
    vectorized: str
    steps: dict[str, int | None]
    sums: int
    loads: int
    width: int
    target: tuple[str, str]


def loop_counts(func: Func, lanes: int) -> LoopCounts:
    """The counts of the only sum of a function, for vectors of so many lanes.

    Raises:
        AssertionError: there is no sum in plain loops.
    """
    store, loops = _the_sum(func)
    tile = [loop for loop in loops if loop.kind in ("unroll", "vectorize")]
    vectors = [loop for loop in tile if loop.kind == "vectorize"]
    count = {
        v.var: ceil(v.extent.attr / lanes) if v in vectors else int(v.extent.attr) for v in tile
    }
    loads = _loads(store.values[0])
    return LoopCounts(
        tuple(loop.name for loop in loops),
        vectors[-1].name if vectors else "",
        {str(e): _step(e, vectors[-1].var) for e in loads} if vectors else {},
        prod(count.values()),
        sum(prod(count.get(v, 1) for v in _variables(e)) for e in loads),
        prod(count[v.var] for v in vectors),
        (store.targets[0].name, store.targets[0].scope),
    )


def _the_sum(func: Func) -> tuple[Store, tuple[For, ...]]:
    """The statement that adds up, and the loops around it, the outermost first."""
    todo: list[tuple[Statement, tuple[For, ...]]] = [(s, ()) for s in func.body]
    while todo:
        s, loops = todo.pop()
        if isinstance(s, Store) and s.reducer is not None:
            return s, loops
        if isinstance(s, For):
            todo += [(inner, (*loops, s)) for inner in s.body]
    raise AssertionError(f"the sum is not in plain loops any more: {func}")


def _loads(e: Expr) -> list[Expr]:
    return [e] if e.op == "load" else [load for x in e.args for load in _loads(x)]


def _variables(e: Expr) -> set[Expr]:
    return {e} if e.op == "var" else {v for x in e.args for v in _variables(x)}


def _step(load: Expr, v: Expr) -> int | None:
    """By how many elements of memory the load moves from one value of `v` to the next."""
    step, shape = 0, [extent.attr for extent in load.attr.shape]
    for i, e in enumerate(load.args):
        atoms: dict[Expr, Any] = terms(e)[0]
        if any(v in _variables(atom) for atom in atoms if atom is not v):
            return None  # a quotient or a remainder
        step += atoms.get(v, 0) * prod(shape[i + 1 :])
    return step
