"""Writes a GPU function statement by statement: loops and conditions are `with` blocks.

    b = Builder()
    with b.grid(blocks=8, threads=32) as (block, thread):
        b.store(y, (block, thread), x[block, thread] * 2.0)
    func = b.function("twice", (x, y), (y,))

Loops get names of their own (`k`, `k1`, ...), so that a name says which loop is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from byparts_tensor_ir.expression import Expr, Operand, as_expr, const, variable
from byparts_tensor_ir.guards import room
from byparts_tensor_ir.index import not_negative
from byparts_tensor_ir.statement import (
    Barrier,
    Buffer,
    Exchange,
    For,
    Func,
    If,
    Statement,
    Store,
)


class Builder:
    """Statements of one function, in the order in which they are added."""

    def __init__(self) -> None:
        self._open: list[list[Statement]] = [[]]
        self._used: dict[str, int] = {}
        self._locals: list[Buffer] = []

    def buffer(self, scope: str, name: str, shape: Sequence[int], dtype: str) -> Buffer:
        """Memory of the function: `shared`, `local` or `register`; undefined at first."""
        memory = array(self._unique(name), shape, dtype, scope)
        self._locals.append(memory)
        return memory

    @contextmanager
    def loop(self, name: str, extent: Operand, kind: str = "serial") -> Iterator[Expr]:
        """A loop around what is added inside; gives its variable.  Of one round: its statements."""
        if as_expr(extent) is as_expr(1) and "Idx" not in kind:
            yield as_expr(0)
            return
        var = variable(self._unique(name), extent)
        self._open.append([])
        yield var
        body = tuple(self._open.pop())
        if body:
            self._add(For(var, body, kind))

    @contextmanager
    def grid(self, blocks: Operand, threads: int) -> Iterator[tuple[Expr, Expr]]:
        """The loops of blocks and threads; gives the numbers of both."""
        block = self.loop("block", blocks, "blockIdx.x")
        with block as x, self.loop("thread", threads, "threadIdx.x") as t:
            yield x, t

    @contextmanager
    def unrolled(self, **extents: int) -> Iterator[tuple[Expr, ...]]:
        """Unrolled loops, each in the one before; gives their variables."""
        with ExitStack() as stack:
            loops = [self.loop(name, extent, "unroll") for name, extent in extents.items()]
            yield tuple([stack.enter_context(loop) for loop in loops])

    def lanes(self, count: int) -> AbstractContextManager[Expr]:
        """A loop over neighbours in memory, for one access."""
        return self.loop("lane", count, "vectorize")

    @contextmanager
    def when(self, *conditions: Expr) -> Iterator[None]:
        """Wrap the statements added inside: they run where all conditions hold."""
        self._open.append([])
        yield
        body = self._open.pop()
        wanted = needed(conditions)
        for condition in reversed(wanted):
            body = [If(condition, tuple(body))] if body else []
        self._open[-1] += body

    def store(self, target: Buffer, index: Sequence[Operand], value: Operand) -> None:
        """target[index] = value."""
        at = tuple([as_expr(i) for i in index])
        self._add(Store(target.name, (target,), at, (as_expr(value, target.dtype),)))

    def store_all(
        self, targets: Sequence[Buffer], index: Sequence[Operand], values: Sequence[Expr]
    ) -> None:
        """Each target[index] = its value, after all values are computed."""
        at = tuple([as_expr(i) for i in index])
        self._add(Store(targets[0].name, tuple(targets), at, tuple(values)))

    def barrier(self) -> None:
        """All threads of the block arrive before one goes on."""
        self._add(Barrier())

    def add(self, s: Statement) -> None:
        """Any other statement: what the threads of a warp do together, or copies under way."""
        self._add(s)

    def add_over_warp(self, sums: Buffer, index: Sequence[Operand]) -> None:
        """Each thread of a warp gets the sum of this element of all of them, in the same order."""
        at = tuple([as_expr(i) for i in index])
        other = self.buffer("register", "other", (), sums.dtype)
        for mask in (16, 8, 4, 2, 1):
            self.add(Exchange(other, sums[at], mask))
            self.store(sums, at, sums[at] + other[()])

    def function(self, name: str, params: Sequence[Buffer], outputs: Sequence[Buffer]) -> Func:
        """The function of all that was added."""
        (body,) = self._open
        return Func(name, tuple(params), tuple(outputs), (), tuple(body), tuple(self._locals))

    def _add(self, s: Statement) -> None:
        self._open[-1].append(s)

    def _unique(self, name: str) -> str:
        count = self._used.get(name, 0)
        self._used[name] = count + 1
        return f"{name}{count}" if count else name


def array(name: str, shape: Sequence[Operand], dtype: str, scope: str = "global") -> Buffer:
    """A buffer."""
    return Buffer(name, tuple([as_expr(n) for n in shape]), dtype, scope)


def all_of(conditions: Sequence[Expr]) -> Expr:
    """Whether all of them hold."""
    whole = const(True, "bool")
    for c in conditions:
        whole = whole & c
    return whole


def needed(conditions: Sequence[Expr]) -> list[Expr]:
    """The conditions that do not follow from the extents of their variables."""
    kept = []
    for condition in conditions:
        left = room(condition)
        if (left is None or not not_negative(left)) and not _is_true(condition):
            kept.append(condition)
    return kept


def _is_true(condition: Expr) -> bool:
    return condition.op == "const" and bool(condition.attr)
