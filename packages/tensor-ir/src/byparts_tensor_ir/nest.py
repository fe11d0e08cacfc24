"""The loops of a GPU function that are bound to blocks and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Union

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import (
    THREADS,
    WARP,
    Barrier,
    Collective,
    For,
    Func,
    Statement,
    statement_lines,
    walk,
)
from byparts_tensor_ir.substitute import variables

AXES = "xyz"
MOST_THREADS = 1024  # of a block
MOST_ALONG_Z = 64


class NestError(GraphError):
    """A function that no GPU runs as it stands; the message says why, and shows the statement."""


@dataclass(frozen=True)
class Nest:
    """A GPU function taken apart.

    Attributes:
        blocks: the loops of blocks, by their axes "x", "y", "z", those there are.
        threads: the loops of threads, likewise.
        body: what one thread does.
        grid: how many blocks there are along x, y, z; an expression where sizes decide.
        block: how many threads a block has along x, y, z.
    """

    blocks: dict[str, For]
    threads: dict[str, For]
    body: tuple[Statement, ...]

    @property
    def grid(self) -> tuple[Union[int, Expr], ...]:
        extents = [self.blocks[a].extent if a in self.blocks else 1 for a in AXES]
        return tuple([_number(n) for n in extents])

    @property
    def block(self) -> tuple[int, int, int]:
        x, y, z = [int(self.threads[a].extent.attr) if a in self.threads else 1 for a in AXES]
        return x, y, z

    @property
    def size(self) -> int:
        """The number of threads of a block."""
        return prod(self.block)


def _number(n: Union[int, Expr]) -> Union[int, Expr]:
    return int(n.attr) if isinstance(n, Expr) and n.op == "const" else n


def nest_of(func: Func) -> Nest:
    """The nest of a GPU function.

    Raises:
        NestError: the extent of a loop of threads is no number, or that of a loop of blocks neither
            a number nor one of sizes; too many threads in a block, loops that are bound further
            inside, or collectives of a warp that is not whole.
    """
    nest = Nest({}, {}, func.body)
    while len(nest.body) == 1 and isinstance(s := nest.body[0], For) and s.kind in THREADS:
        loops, axis = (nest.blocks if s.kind[0] == "b" else nest.threads), s.kind[-1]
        free = variables(s.extent) - {*(func.sizes if loops is nest.blocks else ())}
        if axis in loops or (loops is nest.blocks and nest.threads) or free:
            raise NestError(
                f"{func.name}: loop {s.name} is bound to {s.kind} a second time, inside of loops "
                f"of threads, or for {s.extent} rounds, which is no number"
            )
        loops[axis] = s
        nest = Nest(nest.blocks, nest.threads, s.body)
    if nest.size > MOST_THREADS or nest.block[2] > MOST_ALONG_Z:
        raise NestError(
            f"{func.name}: {nest.size} threads in a block, {nest.block[2]} along z; at most "
            f"{MOST_THREADS}, {MOST_ALONG_Z} along z"
        )
    for s in walk(nest.body):
        if isinstance(s, For) and s.kind in THREADS:
            raise NestError(f"{func.name}: loop {s.name} ({s.kind}) is not in one nest with others")
        if isinstance(s, Collective) and nest.size % WARP:
            raise NestError(
                f"{func.name}: {statement_lines([s])[0]} in a block of {nest.size} threads: "
                f"its last warp has fewer than {WARP}"
            )
    return nest


def thread_nest(loop: For) -> tuple[list[For], tuple[Statement, ...]]:
    """(the loops of threads right within each other, x before y before z, what is inside)."""
    axes, body = [loop], loop.body
    while len(body) == 1 and isinstance(s := body[0], For) and s.kind.startswith("threadIdx"):
        axes.append(s)
        body = s.body
    return sorted(axes, key=lambda s: s.kind), body


def has_meeting(statements: Sequence[Statement]) -> bool:
    """Whether threads wait for each other somewhere in these statements."""
    return any(isinstance(s, (Barrier, Collective)) for s in walk(statements))
