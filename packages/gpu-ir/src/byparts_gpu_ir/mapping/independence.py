"""Finds loops whose rounds may run at the same time.

`schedule.legal` knows the rules; this adds what they are asked about: which local buffers are read
elsewhere, and which parameters may be the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from byparts_gpu_ir.launches import is_size, likely
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.legal import check_order_free
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, walk
from byparts_tensor_ir.substitute import expressions, loads

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Surroundings:
    """The function around some statements, as far as it says whether loops are independent.

    Attributes:
        locals: buffers of the function's own.
        live: local buffers that other statements use.
        memory: stands for all buffers that may be the same bytes.
    """

    locals: frozenset[Buffer]
    live: frozenset[Buffer]
    memory: Callable[[Buffer], Buffer]

    def of(self, others: Iterable[Statement]) -> Surroundings:
        """The same, where these statements are elsewhere too."""
        more = {b for b in used(others) if b in self.locals}
        return Surroundings(self.locals, self.live | more, self.memory)

    def independent(self, loop: For, reductions: bool = False) -> bool:
        """Whether the rounds of a loop may run at the same time.

        A loop that is parallel says so itself: indices that are read may be known to differ.

        Args:
            loop: any loop of the function.
            reductions: whether they may add to the same elements.
        """
        if loop.kind == "parallel":
            return True
        try:
            check_order_free(loop, "share", reductions, self.live, self.memory)
        except ScheduleError:
            return False
        return True


def surroundings(func: Func, inplace: Pairs) -> Surroundings:
    """The surroundings of all statements of a function that may write outputs over inputs."""
    first = len(func.params) - len(func.outputs)
    over: dict[Buffer, Buffer] = {}  # union-find

    def memory(b: Buffer) -> Buffer:
        while b in over:
            b = over[b]
        return b

    for i, o in inplace:
        x, y = memory(func.params[i]), memory(func.params[first + o])
        if x is not y:
            over[y] = x
    same = {b: memory(b) for b in func.params}
    return Surroundings(frozenset(func.locals), frozenset(), lambda b: same.get(b, b))


def used(statements: Iterable[Statement]) -> dict[Buffer, None]:
    """The buffers that statements read or write, in the order of first mention."""
    buffers: dict[Buffer, None] = {}
    for s in walk(list(statements)):
        buffers.update(dict.fromkeys(x.attr for e in expressions(s) for x in loads(e)))
        buffers.update(dict.fromkeys(s.targets if isinstance(s, Store) else ()))
    return buffers


def written(statements: Iterable[Statement]) -> dict[Buffer, None]:
    """The buffers that statements store to, in the order of first mention."""
    inside = [s for s in walk(list(statements)) if isinstance(s, Store)]
    return dict.fromkeys(t for s in inside for t in s.targets)


def chain(s: Statement) -> list[For]:
    """The loops of which each is all that the one around it does, outermost first."""
    loops: list[For] = []
    while isinstance(s, For):
        loops.append(s)
        if len(s.body) != 1:
            break
        s = s.body[0]
    return loops


def has_loops(statements: Iterable[Statement]) -> bool:
    """Whether there is a loop among these statements or inside of them."""
    return any(isinstance(s, For) for s in walk(list(statements)))


def rounds(loops: Iterable[For]) -> int:
    """Count the rounds of the innermost of nested loops.

    An extent of sizes counts as `LIKELY`, one that another loop decides as 1.
    """
    n = 1
    for loop in loops:
        n *= likely(loop.extent) if is_size(loop.extent) else 1
    return n


def stores_with_paths(
    statements: Iterable[Statement], path: tuple[For, ...] = ()
) -> Iterable[tuple[Store, tuple[For, ...]]]:
    """Each store, and the loops around it, outermost first."""
    for s in statements:
        if isinstance(s, Store):
            yield s, path
        elif isinstance(s, For):
            yield from stores_with_paths(s.body, (*path, s))
        elif isinstance(s, If):
            yield from stores_with_paths(s.body, path)
