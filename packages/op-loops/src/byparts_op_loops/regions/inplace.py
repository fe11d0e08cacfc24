"""Finds the pairs of an input and an output of a function that may be the same bytes.

An element of the input may be overwritten when it has been read for the last time.  Of a read and a
write that is so where they never meet, or where the read comes first and, in each loop around both,
both go through one dimension at the same index: then they meet in the same round only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from byparts_graph_ir import Graph
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.schedule.legal import apart
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store
from byparts_tensor_ir.substitute import subexpressions

Pairs = tuple[tuple[int, int], ...]


def pairs_of(func: Func, graph: Graph) -> Pairs:
    """The pairs (input, output) of a region that may be the same bytes in its function."""
    accesses, pairs = Accesses(func), []
    count = len(graph.inputs)
    for i, x in enumerate(graph.inputs):
        for o, y in enumerate(graph.outputs):
            if x.type != y.type or graph.outputs.count(y) > 1 or y in graph.inputs:
                continue
            read, written = func.params[i], func.params[count + o]
            if read in accesses.reads and accesses.may_be_one(read, written):
                pairs.append((i, o))
    return tuple(pairs)


class _Access(NamedTuple):
    """A read or write of an element: the number of its store, the loops around, where it is."""

    place: int
    path: tuple[For, ...]
    at: tuple[Expr, ...]


class Accesses:
    """All reads and writes of the parameters of a function without conditions."""

    def __init__(self, func: Func) -> None:
        self.reads: dict[Buffer, list[_Access]] = {}
        self.writes: dict[Buffer, list[_Access]] = {}
        for place, (store, path) in enumerate(_stores(func.body, ())):
            loads = {x for v in store.values for x in subexpressions(v) if x.op == "load"}
            for load in loads:
                self.reads.setdefault(load.attr, []).append(_Access(place, path, load.args))
            for target in store.targets:
                self.writes.setdefault(target, []).append(_Access(place, path, store.index))

    def may_be_one(self, x: Buffer, y: Buffer) -> bool:
        """Whether y, which is written, may be the bytes of x, which is read."""
        return x.shape == y.shape and all(
            _before(read, write) for write in self.writes[y] for read in self.reads[x]
        )


def _stores(
    body: Sequence[Statement], path: tuple[For, ...]
) -> Iterator[tuple[Store, tuple[For, ...]]]:
    for s in body:
        if isinstance(s, Store):
            yield s, path
        elif isinstance(s, For):
            yield from _stores(s.body, (*path, s))
        else:
            assert not isinstance(s, If), "regions have no conditions"


def _before(read: _Access, write: _Access) -> bool:
    """Whether no element is written before it is read."""
    pairs = list(zip(read.at, write.at, strict=True))
    if apart(read.at, write.at):
        return True
    if read.place > write.place:
        return False
    shared = [a.var for a, b in zip(read.path, write.path, strict=False) if a is b]
    return all(any(r is w and set(terms(r)[0]) == {var} for r, w in pairs) for var in shared)
